"""What a training or an evaluation found, as one page that explains itself: `write_report`."""

from corel.report._content import Panel as Panel
from corel.report._content import Picture as Picture
from corel.report._content import Section as Section
from corel.report._content import Strip as Strip
from corel.report._content import Table as Table
from corel.report._recognition import recognition_section as recognition_section
from corel.report._write import write_report as write_report

__all__ = ["Panel", "Picture", "Section", "Strip", "Table", "recognition_section", "write_report"]
