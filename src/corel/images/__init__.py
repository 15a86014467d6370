"""Image sources: one function opens any of them, as uint8 arrays of one size with labels and class names."""

from corel.images._open import open as open
from corel.images._photo import read_photo as read_photo
from corel.images._places import data_folder as data_folder
from corel.images._set import ImageSet as ImageSet
from corel.images._set import Skipped as Skipped

__all__ = ["ImageSet", "Skipped", "data_folder", "open", "read_photo"]
