"""How figures look, and how one drawing serves light pages, dark pages and files.

Figures are drawn in the paper's colors. A file keeps them; inside the page each becomes a CSS variable, so that
the page's color scheme decides.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from corel._terminal import shown

INK, MUTED = "#1f2733", "#6b7685"
SKY, SUNSET, SUNFLOWER, GRASS = "#375e97", "#fb6542", "#ffbb00", "#3f681c"
VARIABLES = {
    INK: "currentColor", MUTED: "var(--muted)", SKY: "var(--sky)", SUNSET: "var(--sunset)",
    SUNFLOWER: "var(--sunflower)", GRASS: "var(--grass)",
}  # fmt: skip
# Further colors are of middle lightness: they need no second set.
SERIES = (SKY, SUNSET, GRASS, SUNFLOWER, "#8e6bbf", "#2aa5a0", "#c2577f", "#8a6d4b", "#7d8894", "#4aa3df")
WIDTH = 4.2  # inches; 302 units in the SVG, so that nine-point text is readable at the width of a phone

_SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: selectable, in the page's font, a tenth of the size
    "font.size": 9, "axes.titlesize": 9, "legend.fontsize": 8, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False, "lines.linewidth": 1.6, "text.parse_math": False,
}  # fmt: skip


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with the page's settings, without a warning for letters that matplotlib's font lacks."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def panel(height: float = 2.9) -> tuple[Figure, Axes]:
    """Give an empty panel, one column of the page wide."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Give a figure as an element of the page; ids and colors are made to fit beside other figures."""
    text = svg(figure, name).decode()
    text = text[text.index("<svg") :]
    used = set(re.findall(r"#([\w-]+)[\")]", text))
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub("|".join(VARIABLES), lambda found: VARIABLES[found[0]], text)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    size = re.search(r'viewBox="[^"]*"', text)
    assert size is not None
    head = f'<svg {size[0]} role="img" aria-label="{escape(description)}" xmlns="http://www.w3.org/2000/svg" '
    return re.sub(r"<svg [^>]*>", lambda _: f'{head}xmlns:xlink="http://www.w3.org/1999/xlink">', text, count=1)


def svg(figure: Figure, name: str) -> bytes:
    """Give a figure as an SVG file; `name` keeps its ids apart from those of other figures."""
    content = io.BytesIO()
    with drawing(), mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(content, format="svg", metadata={"Date": None}, transparent=True)
    return content.getvalue()


def png(figure: Figure) -> bytes:
    """Give a figure as a PNG file on white."""
    content = io.BytesIO()
    with drawing():
        figure.savefig(content, format="png", dpi=200)
    return content.getvalue()


def picture(pixels: NDArray[np.uint8]) -> bytes:
    """Give an image ``[height, width, 3]`` as a PNG file."""
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="png", optimize=True)
    return content.getvalue()


def data_uri(content: bytes) -> str:
    """Give a PNG file as an address that needs no request."""
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def short(name: str, length: int = 18) -> str:
    """Give a name that fits beside an axis, whatever it is made of."""
    return shown(name, length)
