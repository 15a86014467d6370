"""Many classes on one backbone, in one file."""

from corel.gallery._explanation import Explanation as Explanation
from corel.gallery._gallery import Enrolment as Enrolment
from corel.gallery._gallery import Gallery as Gallery
from corel.gallery._scores import Scores as Scores
from corel.gallery._store import Exemplar as Exemplar
from corel.gallery._verdicts import Verdict as Verdict
