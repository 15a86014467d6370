"""What a page is made of, before it is HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from corel.backbone import Backbone
from corel.evaluation import Evaluation
from corel.images import ImageSet


@dataclass(frozen=True, eq=False)
class Material:
    """All that a page may draw from; what is None leaves its sections out.

    Attributes:
        backbones: by name; the first is the one reported on, others are compared with it.
        images: a sample of images, whose latents are looked at.
        evaluation: the AUCs.
        enrolled: the images that exemplars were drawn from.
        test: the images that were scored.

    """

    backbones: dict[str, Backbone]
    images: ImageSet | None = None
    evaluation: Evaluation | None = None
    enrolled: ImageSet | None = None
    test: ImageSet | None = None

    @property
    def backbone(self) -> Backbone:
        """The one reported on."""
        return next(iter(self.backbones.values()))


@dataclass(frozen=True, eq=False)
class Panel:
    """A drawing, the name of its files, and what one sees in it."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True, eq=False)
class Picture:
    """A photograph, uint8 ``[h, w, 3]``, the name of its file, and what one sees in it."""

    name: str
    pixels: NDArray[np.uint8]
    caption: str


@dataclass(frozen=True, eq=False)
class Strip:
    """Images in a row, each with a word below it if there are words."""

    name: str
    label: str
    pixels: NDArray[np.uint8]
    words: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Rows of text; the rows in `strong` stand out."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Section:
    """One question and its answer."""

    title: str
    text: str
    panels: Sequence[Panel] = ()
    strips: Sequence[Strip] = ()
    table: Table | None = None
    remark: str = ""
    pictures: Sequence[Picture] = ()
