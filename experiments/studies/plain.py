"""Are blank frames still stopped where the exemplars are plain surfaces, and do such surfaces pass?

``python -m experiments plain --data DIR``. A window of a photograph is plain if it fails the limits of
`corel.images.photographic`: sky, walls, water. The rule of `corel.images.lack_more` was chosen with windows of
Imagenette's training photographs, training images of CIFAR-100 and Tiny-ImageNet, and the frames `DEVELOPED`. It is
judged on galleries from `PHOTOGRAPHS` and `IMAGES`, test splits where there are any, and on the frames `HELD_OUT`. All
but the last two of `IMAGES` were named before the rule was measured on them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import corel.images
from corel._terminal import track
from corel.gallery import BlankTest
from experiments._lib import command
from experiments._lib.frames import DEVELOPED, HELD_OUT, Pixels, resized_frames
from experiments._lib.record import record

SIZE, REGION = 32, 112  # pixels a side of a window, and of a surface
PHOTOS, TRIES, SURFACES, WINDOWS = 3000, 6, 60, 600  # WINDOWS: of a surface
FRAMES, NEW, DRAWS = 40, 200, 100
EXEMPLARS = (10, 30, 60, 100, 200, 400)
FRAME_GROUPS = {
    "black, white or one color": [DEVELOPED["black or white"], DEVELOPED["one color"]],
    "noise": [DEVELOPED["color noise"], DEVELOPED["gray noise"], DEVELOPED["salt and pepper"]],
    "kinds held out": [*HELD_OUT.values()],
}
PHOTOGRAPHS = {"clothing": "clothing/train", "imagenette": "imagenette/val"}
IMAGES = ("cifar10", "fashion-mnist", "cifar100", "tiny-imagenet")

Floats = NDArray[np.float32]


class Measured(NamedTuple):
    """Lacks ``[n, 4]`` of the same images, as a gallery measures its exemplars and as it measures new images."""

    exemplars: Floats
    new: Floats


Pools = list[Measured]  # a gallery and its new images come from one of these


def run(data: Path) -> None:
    """Measure new images and frames by galleries of every kind and size, and write the shares down."""
    start, rng = time.perf_counter(), np.random.default_rng(0)
    frames = {
        name: measured(np.concatenate([resized_frames(kind, FRAMES, SIZE, seed=2) for kind in kinds])).new
        for name, kinds in track(FRAME_GROUPS.items(), "frames")
    }
    found = dict(_pools(data, rng))
    results = [
        {"gallery of": name, "exemplars": count, **_shares(pools, count, frames, rng)}
        for name, pools in track(found.items(), "galleries")
        for count in EXEMPLARS
    ]
    config = {
        "size": SIZE, "region": REGION, "frames": FRAMES, "new": NEW, "draws": DRAWS,
        "pools": {name: [len(pools), sum(len(each.new) for each in pools)] for name, pools in found.items()},
    }  # fmt: skip
    record("plain", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def _pools(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, Pools]]:
    for name, folder in PHOTOGRAPHS.items():
        photos = list(_photographs(data / folder))
        drawn = [windows_of(photo, TRIES, rng) for photo in photos]
        plain = [windows[~corel.images.photographic(windows)][:1] for windows in drawn]
        surfaces = [windows_of(each, WINDOWS, rng) for each in _surfaces(photos, plain, rng)]
        yield f"one surface, {name}", [measured(each) for each in surfaces]
        yield f"plain windows, {name}", [measured(np.concatenate(plain))]
        yield f"windows, {name}", [measured(np.concatenate([each[:1] for each in drawn]))]
    for name in IMAGES:
        pixels = corel.images.open(name, "test", root=data, size=SIZE, progress=False).pixels
        yield name, [measured(pixels[:: len(pixels) // PHOTOS])]


def _photographs(folder: Path) -> Iterator[Pixels]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for file in track(files[:: max(1, len(files) // PHOTOS)], str(folder.parent.name)):
        with Image.open(file) as opened:
            photo = np.asarray(opened.convert("RGB"))
        if min(photo.shape[:2]) >= REGION:
            yield photo


def _surfaces(photos: Sequence[Pixels], plain: Sequence[Pixels], rng: np.random.Generator) -> list[Pixels]:
    """Give a region of each photograph in which one of `TRIES` is plain all over, and nowhere blank."""
    found: list[Pixels] = []
    for photo, windows in zip(photos, plain, strict=True):
        regions = windows_of(photo, TRIES, rng, REGION) if len(windows) and len(found) < SURFACES else ()
        found += [each for each in regions if _is_plain_all_over(windows_of(each, 30, rng))][:1]
    return found


def _is_plain_all_over(windows: Pixels) -> bool:
    return bool(windows.std(axis=(1, 2, 3)).min() > 0 and not corel.images.photographic(windows).any())


def windows_of(photo: Pixels, count: int, rng: np.random.Generator, size: int = SIZE) -> Pixels:
    """Draw windows at random places."""
    places = rng.integers(0, [photo.shape[0] - size + 1, photo.shape[1] - size + 1], (count, 2))
    return np.stack([photo[top : top + size, left : left + size] for top, left in places])


def measured(pixels: Pixels) -> Measured:
    """Measure images; a new one that is photographic at its full size passes."""
    lacks = BlankTest.of_images(pixels).exemplars
    return Measured(lacks, np.where(corel.images.photographic(pixels)[:, None], np.float32(-1), lacks))


def _shares(pools: Pools, count: int, frames: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, float]:
    """Shares called "not a photograph", mean over galleries of so many exemplars."""
    shares: dict[str, list[float]] = {name: [] for name in ("new images", *frames)}
    for draw in range(DRAWS):
        pool = pools[draw % len(pools)]
        order = rng.permutation(len(pool.new))
        exemplars, new = pool.exemplars[order[:count]], pool.new[order[count : count + NEW]]
        for name, asked in {"new images": new, **frames}.items():
            shares[name].append(float(corel.images.lack_more(asked, exemplars).mean()))
    return {name: float(np.mean(each)) for name, each in shares.items()}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    run(command.folders(__name__, __doc__, argv, ("data",)).data)
