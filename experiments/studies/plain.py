"""Are blank frames still stopped where the exemplars are plain surfaces, and do such surfaces pass?

``python -m experiments plain --data DIR [--photos DIR]``. A window of a photograph is plain if it fails the limits of
`corel.images.photographic`: sky, walls, water. A gallery holds windows of one surface, a region of a photograph that is
plain all over; or plain windows of many photographs, some of them blank; or images of CIFAR-100. --photos names a
folder with train and val (default: imagenette in the folder of the data).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import corel.images
from corel._terminal import track
from corel.gallery import BlankTest
from experiments._lib import command
from experiments._lib.frames import DEVELOPED, HELD_OUT, Pixels, resized_frames
from experiments._lib.record import record

SIZE, REGION = 32, 112  # pixels a side of a window, and of a surface
PHOTOS, TRIES, FRAMES, NEW, DRAWS = 3000, 6, 50, 200, 40
EXEMPLARS = (30, 100, 240, 400)
FRAME_GROUPS = {
    "black, white or one color": [DEVELOPED["black or white"], DEVELOPED["one color"]],
    "noise": [DEVELOPED["color noise"], DEVELOPED["gray noise"], DEVELOPED["salt and pepper"]],
    "kinds held out": [*HELD_OUT.values()],
}

Drawn = tuple[Pixels, Pixels]  # exemplars and new images


def run(data: Path, photos: Path) -> None:
    """Measure new images and frames by galleries of every kind and size, and write the shares down."""
    start, rng = time.perf_counter(), np.random.default_rng(0)
    found = list(surfaces(photos / "train", rng))
    many = [np.stack(list(_plain_windows(photos / split, rng))) for split in ("train", "val")]
    ordinary = [
        corel.images.open("cifar100", split, root=data, size=SIZE, progress=False).pixels for split in ("train", "test")
    ]
    frames = {
        name: np.concatenate([resized_frames(kind, FRAMES, SIZE, seed=2) for kind in kinds])
        for name, kinds in FRAME_GROUPS.items()
    }
    results = []
    for count in track(EXEMPLARS, "galleries"):
        galleries = {
            "one surface": [(windows_of(each, count, rng), windows_of(each, NEW, rng)) for each in found[:DRAWS]],
            "many surfaces": [_drawn(many, count, rng) for _ in range(DRAWS)],
            "ordinary images": [_drawn(ordinary, count, rng) for _ in range(DRAWS)],
        }
        results += [{"gallery of": name, "exemplars": count, **_measured(g, frames)} for name, g in galleries.items()]
    config = {"size": SIZE, "region": REGION, "frames": FRAMES, "draws": DRAWS, "surfaces": len(found)}
    record("plain", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def surfaces(folder: Path, rng: np.random.Generator) -> Iterator[Pixels]:
    """Give a region of every photograph in which one of `TRIES` is plain all over, and nowhere blank."""
    for photo in _photographs(folder, REGION):
        for region in windows_of(photo, TRIES, rng, REGION):
            windows = windows_of(region, 30, rng)
            if windows.std(axis=(1, 2, 3)).min() > 0 and not corel.images.photographic(windows).any():
                yield region
                break


def _plain_windows(folder: Path, rng: np.random.Generator) -> Iterator[Pixels]:
    """Give one plain window of every photograph in which one of `TRIES` is plain."""
    for photo in _photographs(folder, SIZE):
        windows = windows_of(photo, TRIES, rng)
        yield from windows[~corel.images.photographic(windows)][:1]


def _photographs(folder: Path, least: int) -> Iterator[Pixels]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for file in track(files[:: max(1, len(files) // PHOTOS)], folder.name):
        with Image.open(file) as opened:
            photo = np.asarray(opened.convert("RGB"))
        if min(photo.shape[:2]) >= least:
            yield photo


def windows_of(photo: Pixels, count: int, rng: np.random.Generator, size: int = SIZE) -> Pixels:
    """Draw windows at random places."""
    places = rng.integers(0, [photo.shape[0] - size + 1, photo.shape[1] - size + 1], (count, 2))
    return np.stack([photo[top : top + size, left : left + size] for top, left in places])


def _drawn(pools: Sequence[Pixels], count: int, rng: np.random.Generator) -> Drawn:
    exemplars, new = (pool[rng.permutation(len(pool))[:size]] for pool, size in zip(pools, (count, NEW), strict=True))
    return exemplars, new


def _measured(galleries: Sequence[Drawn], frames: Mapping[str, Pixels]) -> dict[str, float]:
    """Shares called "not a photograph", mean over galleries."""
    tests = [(BlankTest.of_images(exemplars), new) for exemplars, new in galleries]
    shares = {"new images": [_stopped(test, new) for test, new in tests]}
    shares |= {name: [_stopped(test, each) for test, _ in tests] for name, each in frames.items()}
    return {name: float(np.mean(each)) for name, each in shares.items()}


def _stopped(test: BlankTest, pixels: Pixels) -> float:
    return float(1 - test.photographic(pixels).mean())


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--photos", type=Path, help="photographs in train and val; default: imagenette in the data")
    arguments = parser.parse_args(argv)
    run(arguments.data, arguments.photos or arguments.data / "imagenette")
