"""Watch a folder: a verdict on each image that appears, and an alarm when they are not what was enrolled."""

from corel.watching._drift import DriftTest as DriftTest
from corel.watching._journal import Row as Row
from corel.watching._watch import Watch as Watch
from corel.watching._watch import watch as watch
