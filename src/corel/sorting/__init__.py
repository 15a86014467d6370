"""Put photos into folders by what a gallery says about them, and take it back."""

from corel.sorting._plan import LIST as LIST
from corel.sorting._plan import How as How
from corel.sorting._sort import Sorted as Sorted
from corel.sorting._sort import sort as sort
from corel.sorting._sort import undo as undo
