"""Image sources: `open` reads one into memory, `stream` reads it batch by batch, both from anything a person holds."""

from corel.images._ahead import in_turn as in_turn
from corel.images._ahead import one_ahead as one_ahead
from corel.images._find import find_files as find_files
from corel.images._find import has_test_split as has_test_split
from corel.images._formats import is_picture as is_picture
from corel.images._hash import content_hash as content_hash
from corel.images._listing import EncodedListing as EncodedListing
from corel.images._listing import FileListing as FileListing
from corel.images._listing import resize_all as resize_all
from corel.images._open import open as open
from corel.images._photo import read_photo as read_photo
from corel.images._photo import shorter_side as shorter_side
from corel.images._photographs import measure_lacks as measure_lacks
from corel.images._photographs import measure_traits as measure_traits
from corel.images._photographs import photographic as photographic
from corel.images._plain_surfaces import lack_more as lack_more
from corel.images._preparation import Interpolation as Interpolation
from corel.images._preparation import Preparation as Preparation
from corel.images._preparation import Rows as Rows
from corel.images._preparation import from_document as from_document
from corel.images._set import EmptySourceError as EmptySourceError
from corel.images._set import ImageSet as ImageSet
from corel.images._set import Skipped as Skipped
from corel.images._stream import BATCH as BATCH
from corel.images._stream import Batch as Batch
from corel.images._stream import Stream as Stream
from corel.images._stream import stream as stream
from corel.images._tiff import check_tiff as check_tiff
from corel.images._user_folders import data_folder as data_folder
from corel.images._views import VIEWS as VIEWS
from corel.images._views import WHOLE as WHOLE
from corel.images._views import check_views as check_views
from corel.images._views import views_of as views_of

__all__ = [
    "BATCH", "VIEWS", "WHOLE", "Batch", "EmptySourceError", "EncodedListing", "FileListing", "ImageSet",
    "Interpolation", "Preparation", "Rows", "Skipped", "Stream", "check_views", "content_hash", "data_folder",
    "find_files", "from_document", "has_test_split", "in_turn", "is_picture", "one_ahead", "open", "read_photo",
    "resize_all", "shorter_side", "stream", "views_of",
]  # fmt: skip
