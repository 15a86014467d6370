from ._find import find as find
from ._find import find_class as find_class
from ._find import search_for_box as search_for_box
from ._find import search_for_class as search_for_class
from ._found import Box as Box
from ._found import Found as Found
from ._windows import windows_in as windows_in
