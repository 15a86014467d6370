"""What a training or an evaluation found, as one page that explains itself: `write_report`."""

from corel.report._write import write_report as write_report

__all__ = ["write_report"]
