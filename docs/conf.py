"""Sphinx: Markdown pages by MyST, the API from docstrings. `make docs` builds them, warnings are errors."""

import re
from typing import Any

from sphinx.application import Sphinx

from corel._version import __version__

project = "corel"
author = "The corel developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

default_role = "literal"  # docstrings write `name` as Markdown does
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "corel"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "footer_start": [], "footer_end": []}
html_sidebars = {"**": []}
html_show_sourcelink = False
html_copy_source = False


def escape_absolute_values(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Keep |η - ε| in a docstring from being read as a substitution; what stands in backticks stays as it is."""
    for i, line in enumerate(lines):
        parts = re.split(r"(`[^`]+`)", line)
        lines[i] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", escape_absolute_values)
