"""How often are blank, flat and noise frames stopped, and how often is a real image taken for one?

``python -m experiments photographs --data DIR [--photos DIR]`` measures `corel.images.photographic`. Its limits were
chosen on one half of each real set and on the kinds in `BUILT`; it is judged on the other half and on `HELD_OUT`, kinds
that were named before and not used. --photos names a folder of further sets of photographs, one folder a set.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

import corel.images
from experiments._lib import command
from experiments._lib.record import record

SETS = ("cifar10", "cifar100", "tiny-imagenet", "fashion-mnist", "digits")
SIZES = (32, 224)  # what encoders see
SIDES = (32, 64, 200, 640)  # pixels of the frames before they are resized
FRAMES, IMAGES = 200, 4000

Pixels = NDArray[np.uint8]
Frame = Callable[[np.random.Generator, int], Pixels]


def _clipped(values: NDArray[Any]) -> Pixels:
    return np.asarray(np.clip(values, 0, 255).astype(np.uint8))


def _black_or_white(rng: np.random.Generator, side: int) -> Pixels:
    return np.full((side, side, 3), rng.choice([0, 255]), np.uint8)


def _flat(rng: np.random.Generator, side: int) -> Pixels:
    return np.broadcast_to(rng.integers(0, 256, 3).astype(np.uint8), (side, side, 3)).copy()


def _flat_with_noise(rng: np.random.Generator, side: int) -> Pixels:
    return _clipped(_flat(rng, side) + rng.normal(0, rng.uniform(0.5, 6), (side, side, 3)))


def _color_noise(rng: np.random.Generator, side: int) -> Pixels:
    return _clipped(rng.normal(rng.uniform(60, 200), rng.uniform(15, 80), (side, side, 3)))


def _gray_noise(rng: np.random.Generator, side: int) -> Pixels:
    gray = rng.normal(rng.uniform(60, 200), rng.uniform(15, 80), (side, side, 1))
    return _clipped(gray.repeat(3, axis=2))


def _salt_and_pepper(rng: np.random.Generator, side: int) -> Pixels:
    frame, dice, share = _flat(rng, side), rng.random((side, side)), rng.uniform(0.05, 0.5)
    frame[dice < share / 2], frame[dice > 1 - share / 2] = 0, 255
    return frame


def _gradient(rng: np.random.Generator, side: int) -> Pixels:
    x, y = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    angle = rng.uniform(0, 2 * np.pi)
    ramp = np.hypot(x - 0.5, y - 0.5) if rng.random() < 0.3 else x * np.cos(angle) + y * np.sin(angle)
    share = (ramp - ramp.min()) / np.ptp(ramp)
    first, last = rng.uniform(0, 255, (2, 3))
    return _clipped(first + (last - first) * share[..., None])


def _blurred_noise(rng: np.random.Generator, side: int) -> Pixels:
    noise = Image.fromarray((_color_noise, _gray_noise)[rng.integers(2)](rng, side))
    return np.asarray(noise.filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 3) * side / 64)))


def _compressed_noise(rng: np.random.Generator, side: int) -> Pixels:
    file = io.BytesIO()
    noise = Image.fromarray((_color_noise, _gray_noise)[rng.integers(2)](rng, side))
    noise.save(file, "JPEG", quality=int(rng.integers(5, 60)))
    return np.asarray(Image.open(file).convert("RGB"))


def _lens_cap(rng: np.random.Generator, side: int) -> Pixels:
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    center = rng.uniform(-1, 1, 2)
    leak = rng.uniform(0, 10) * np.exp(-((x - center[0]) ** 2) - (y - center[1]) ** 2)
    return _clipped(rng.uniform(0, 12, 3) + leak[..., None] + rng.normal(0, rng.uniform(1, 8), (side, side, 3)))


BUILT: dict[str, Frame] = {
    "black or white": _black_or_white, "one color": _flat, "one color with noise": _flat_with_noise,
    "color noise": _color_noise, "gray noise": _gray_noise, "salt and pepper": _salt_and_pepper,
}  # fmt: skip
HELD_OUT: dict[str, Frame] = {
    "gradient": _gradient, "blurred noise": _blurred_noise, "compressed noise": _compressed_noise,
    "lens cap with sensor noise": _lens_cap,
}  # fmt: skip
EXPOSED: dict[str, Callable[[Pixels], Pixels]] = {
    "underexposed photographs": lambda pixels: _clipped(pixels * 0.04),
    "overexposed photographs": lambda pixels: _clipped(pixels * 1.0 + 240),
}


def run(data: Path, photos: Path | None) -> None:
    """Measure both kinds of errors and write them down."""
    start = time.perf_counter()
    real = {f"{name}, {size} px": pixels for name, size, pixels in _real_sets(data, photos)}
    results = {
        "real images called not a photograph": {
            name: {"images": len(pixels[1::2]), "share": _stopped(pixels[1::2])} for name, pixels in real.items()
        },
        "built on": {name: _stopped_frames(frame) for name, frame in BUILT.items()}
        | {name: {"32": _stopped(change(real["cifar10, 32 px"][:1000]))} for name, change in EXPOSED.items()},
        "held out": {name: _stopped_frames(frame) for name, frame in HELD_OUT.items()},
        "limit of each trait on the other half": _limits(real),
    }
    config = {"frames": FRAMES, "sizes": SIZES, "sides": SIDES}
    record("photographs", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def _real_sets(data: Path, photos: Path | None) -> list[tuple[str, int, Pixels]]:
    found = []
    for name in SETS:
        opened = corel.images.open(name, "test", root=data, size=SIZES[0], progress=False)
        found.append((name, SIZES[0], opened.pixels[:: max(1, len(opened) // IMAGES)]))
    for folder in sorted(photos.iterdir()) if photos else ():
        for size in SIZES:
            opened = corel.images.open(folder, size=size, progress=False)
            found.append((folder.name, size, opened.pixels[:: max(1, len(opened) // 1500)]))
    return found


def _stopped(pixels: Pixels) -> float:
    return float(1 - corel.images.photographic(pixels).mean())


def _stopped_frames(frame: Frame) -> dict[str, float]:
    """Share stopped at each size of an encoder's input, from frames of several sizes."""
    shares = {}
    for size in SIZES:
        rng = np.random.default_rng(0)
        made = [Image.fromarray(frame(rng, int(rng.choice(SIDES)))) for _ in range(FRAMES)]
        resized = [np.asarray(each.resize((size, size), Image.Resampling.BILINEAR)) for each in made]
        shares[str(size)] = _stopped(np.stack(resized))
    return shares


def _limits(real: dict[str, Pixels]) -> dict[str, list[float]]:
    """The lowest 0.25% and the highest 99.75% quantile of each trait over the halves that limits were chosen on."""
    traits = [corel.images.measure_traits(pixels[::2])._asdict() for pixels in real.values()]
    return {
        name: [
            float(min(np.quantile(each[name], 0.0025) for each in traits)),
            float(max(np.quantile(each[name], 0.9975) for each in traits)),
        ]
        for name in traits[0]
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--photos", type=Path, help="a folder of further sets of photographs")
    arguments = parser.parse_args(argv)
    run(arguments.data, arguments.photos)
