"""Sphinx: Markdown pages by MyST, the API from docstrings. `make docs` builds them, warnings are errors."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from corel._version import __version__
from corel.cli import app as corel_app

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
napoleon_attr_annotations = False  # they would name private modules

html_theme = "pydata_sphinx_theme"
html_title = "corel"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_center": [],
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"**": ["globaltoc.html"]}
html_static_path = ["_static"]
html_css_files = ["corel.css"]
html_show_sourcelink = False
html_copy_source = False


def escape_absolute_values(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Keep |η - ε| in a docstring from being read as a substitution; what stands in backticks stays as it is."""
    for i, line in enumerate(lines):
        parts = re.split(r"(`[^`]+`)", line)
        lines[i] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


ARRAY = re.compile(
    r"~?numpy\.ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?numpy\.dtype\[(~?[\w.]+(?:\[[^\]]*\])?)\]\]"
)


def shorten_arrays(
    _app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write NDArray[float32] as the source does, not what it stands for."""
    return tuple(each and ARRAY.sub(r"~numpy.typing.NDArray[\1]", each) for each in (signature, returned))  # type: ignore[return-value]


class Commands(SphinxDirective):
    """``{corel-commands}``: a section for each command, with its help, options and example."""

    def run(self) -> list[nodes.Node]:
        command: Any = typer.main.get_command(corel_app)
        return [_section(name, each) for name, each in sorted(_leaves(command, "corel"))]


def _leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    for word, each in getattr(command, "commands", {}).items():
        yield from _leaves(each, f"{name} {word}")
    if not hasattr(command, "commands"):
        yield name, command


def _section(name: str, command: Any) -> nodes.section:
    usage = " ".join([name, *command.collect_usage_pieces(typer.Context(command))])
    # Curly quotes, and dashes for `--`, would break what readers copy.
    section = nodes.section(ids=[nodes.make_id(name)], support_smartquotes=False)
    section.extend([nodes.title(text=name), _paragraph(" ".join(str(command.help).split()))])
    options = nodes.bullet_list()
    for each in command.params:
        words = each.opts if each.opts[0].startswith("-") else []
        name = " ".join([*words, *([each.metavar] if each.metavar else [])]) or each.name.upper()
        options += nodes.list_item("", _paragraph(f"`{name}` {each.help or ''}"))
    example = command.epilog.replace("Example: ", "Example: `") + "`"
    section.extend([nodes.literal_block(text=usage), options, _paragraph(example)])
    return section


def _paragraph(text: str) -> nodes.paragraph:
    """Text whose backticks mark code; its brackets are escaped for the terminal."""
    parts = text.replace(r"\[", "[").split("`")
    parts = [nodes.literal(text=part) if k % 2 else nodes.Text(part) for k, part in enumerate(parts)]
    return nodes.paragraph("", "", *parts)


def setup(app: Sphinx) -> None:
    app.add_directive("corel-commands", Commands)
    app.connect("autodoc-process-docstring", escape_absolute_values)
    app.connect("autodoc-process-signature", shorten_arrays)
