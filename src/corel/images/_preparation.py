"""How an item becomes an encoder's input; a backbone owns one of these values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corel._errors import NOT_FINITE, ArgumentError, refuse_rows

Resize = Literal["stretch", "crop"]
Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
MOST_SIDE = 4096  # pixels: an image of this size takes 200 MB as the input of an encoder
Channels = tuple[float, float, float]


@dataclass(frozen=True)
class Preparation:
    """How an image becomes an encoder's input.

    The defaults are the rule of every backbone that stores no other: resize to a square, ignore the aspect ratio.

    Attributes:
        size: height and width of the input in pixels.
        resize: ``stretch`` ignores the aspect ratio; ``crop`` resizes the shorter side and cuts out the center.
        interpolation: Pillow's filter.
        shorter: for ``crop``, the length of the shorter side before the cut; None is `size`.
        mean: subtracted from each channel of values in [0, 1]; None leaves them in [0, 1].
        deviation: what each channel is then divided by.
        draft: decode large JPEGs at a fraction of their size. Faster, with slightly different pixels.

    Example:
        >>> Preparation(224, "crop", shorter=256).document()
        {'size': 224, 'resize': 'crop', 'shorter': 256}

    """

    size: int = 32
    resize: Resize = "stretch"
    interpolation: Interpolation = "bilinear"
    shorter: int | None = None
    mean: Channels | None = None
    deviation: Channels | None = None
    draft: bool = False
    items: ClassVar[str] = "images"

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MOST_SIDE or self.size % 1:
            raise ArgumentError("size", f"must be a whole number of pixels from 1 to {MOST_SIDE}, got {self.size!r}")
        for name, choices in (("resize", Resize), ("interpolation", Interpolation)):
            if getattr(self, name) not in get_args(choices):
                raise ArgumentError(name, f"must be one of {', '.join(get_args(choices))}, got {getattr(self, name)!r}")
        if self.shorter is not None and (self.resize != "crop" or self.shorter < self.size):
            raise ArgumentError("shorter", f"is for resize='crop' and at least size={self.size}, got {self.shorter!r}")
        if (self.mean is None) != (self.deviation is None):
            missing = "mean" if self.mean is None else "deviation"
            raise ArgumentError(missing, "is missing: mean and deviation go together; give both, or neither")
        for name in ("mean", "deviation"):
            object.__setattr__(self, name, _channels(name, getattr(self, name)))

    def document(self) -> dict[str, Any]:
        """Give the size and every setting that differs from the default, as JSON's types."""
        default = Preparation(self.size)
        settings = asdict(self)
        changed = {name: value for name, value in settings.items() if value != getattr(default, name)}
        return {"size": self.size, **{name: list(v) if isinstance(v, tuple) else v for name, v in changed.items()}}

    def normalized(self, images: Any) -> Any:
        """Subtract `mean` and divide by `deviation`: images ``[n, 3, s, s]`` in [0, 1], an array or a tensor."""
        if self.mean is None or self.deviation is None:
            return images
        mean, deviation = (np.asarray(each, np.float32).reshape(1, 3, 1, 1) for each in (self.mean, self.deviation))
        if hasattr(images, "new_tensor"):
            return (images - images.new_tensor(mean)) / images.new_tensor(deviation)
        return (images - mean) / deviation


@dataclass(frozen=True)
class Rows:
    """Rows of features as they are, float32 ``[n, features]``: the preparation of a backbone on vectors."""

    features: int
    items: ClassVar[str] = "vectors"

    def document(self) -> dict[str, Any]:
        """Give the number of features, as JSON's types."""
        return {"features": self.features}

    def normalized(self, rows: Any) -> Any:
        """Give the rows as they are: a backbone on vectors brings its own scale."""
        return rows

    def check(self, values: NDArray[np.float32]) -> None:
        """Raise where the rows are not ``[n, features]`` or hold a value that float32 cannot."""
        if values.ndim != 2:
            raise ArgumentError(
                "source",
                f"must be rows [n, {self.features}], got {list(values.shape)}; a single vector needs a leading "
                "dimension, vector[None]",
            )
        if values.shape[1] != self.features:
            raise ArgumentError(
                "source", f"must be rows of {self.features} features, [n, {self.features}], got {list(values.shape)}"
            )
        refuse_rows("source", np.flatnonzero(~np.isfinite(values).all(axis=1)).tolist(), NOT_FINITE)


def from_document(document: dict[str, Any]) -> Preparation | Rows:
    """Read what the `document` of either gave."""
    return Rows(**document) if "features" in document else Preparation(**document)


def _channels(name: str, values: Any) -> Channels | None:
    if values is None:
        return None
    red, green, blue = (float(each) for each in values)
    if not np.isfinite([red, green, blue]).all() or (name == "deviation" and min(red, green, blue) <= 0):
        raise ArgumentError(name, f"must be three finite numbers, a deviation positive, got {values!r}")
    return red, green, blue
