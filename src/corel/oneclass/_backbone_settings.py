"""How the items of a backbone are scored: by which method, comparing what, with which radius and background."""

from __future__ import annotations

from typing import Any, Protocol

from corel._errors import ArgumentError
from corel.oneclass._checks import Method
from corel.oneclass._kernel import Points


class Space(Protocol):
    """What scoring reads of a backbone."""

    @property
    def branches(self) -> int: ...
    @property
    def eta(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def background(self) -> Points: ...
    @property
    def background_features(self) -> Points | None: ...
    @property
    def pooled_background(self) -> Points | None: ...


class Embedded(Protocol):
    """What scoring reads of embedded items."""

    @property
    def latents(self) -> Any: ...
    @property
    def features(self) -> Any: ...


def preferred_method(backbone: Space) -> Method:
    """The method that a new gallery takes: cosine where a network has features of its own, else contrast.

    That cosine is sharper was decided on folds for the encoder that ships (experiments/results/cosine_folds.json). On
    latents alone, as a wrapped encoder gives them, it was not.
    """
    return "contrast" if backbone.pooled_background is None else "cosine"


def compared_rows(method: str, embedding: Embedded) -> Any:
    """What a method compares: features for cosine, latents for the others."""
    return embedding.features if method == "cosine" else embedding.latents


def backbone_settings(backbone: Space, method: str = "auto") -> dict[str, Any]:
    """The settings of a `ClassBank` for what `compared_rows` gives of a backbone's items.

    `"auto"` is contrast, the method for latents.
    """
    if method == "cosine":
        if backbone.background_features is None:
            raise ArgumentError(
                "method",
                'is "cosine", but the backbone has no features of its background; use "contrast", or train anew',
            )
        return {"branches": 1, "radius": 1.0, "background": backbone.background_features, "method": method}
    if backbone.p != 1:
        raise ArgumentError(
            "backbone", f"was trained with p={backbone.p:g}, but scores count in L1 balls; train with p=1"
        )
    settings = {"branches": backbone.branches, "radius": backbone.eta, "background": backbone.background}
    return settings if method == "auto" else {**settings, "method": method}
