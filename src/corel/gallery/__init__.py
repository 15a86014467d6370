"""Many classes on one backbone, in one file."""

from typing import Any as _Any

from corel._errors import warn_renamed
from corel.gallery._audit import Audit as Audit
from corel.gallery._audit import Fit as Fit
from corel.gallery._audit import Ranked as Ranked
from corel.gallery._blanks import BlankTest as BlankTest
from corel.gallery._duplicates import Duplicate as Duplicate
from corel.gallery._enrollment import Enrollment as Enrollment
from corel.gallery._exemplar import Exemplar as Exemplar
from corel.gallery._exemplar_lookup import SHORTEST_HASH as SHORTEST_HASH
from corel.gallery._explanation import Explanation as Explanation
from corel.gallery._gallery import Gallery as Gallery
from corel.gallery._items import LARGEST_THUMBNAIL as LARGEST_THUMBNAIL
from corel.gallery._items import thumbnail as thumbnail
from corel.gallery._later_enrollments import Later as Later
from corel.gallery._packed import Packed as Packed
from corel.gallery._rows import rows_of as rows_of
from corel.gallery._scores import HeldOut as HeldOut
from corel.gallery._scores import Scores as Scores
from corel.gallery._selection import Selection as Selection
from corel.gallery._tuning import Tuning as Tuning
from corel.gallery._verdicts import Verdict as Verdict


def __getattr__(name: str) -> _Any:
    if name == "Enrolment":
        warn_renamed("corel.gallery.Enrolment", "Enrollment")
        return Enrollment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
