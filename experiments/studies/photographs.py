"""How often are blank, flat and noise frames stopped, and how often is a real image taken for one?

``python -m experiments photographs --data DIR [--photos DIR]`` measures the test as a gallery makes it, whose exemplars
are no such frames: `corel.images.photographic`, and above 96 pixels the same of the thumbnail. Its limits follow
a rule on the training images of every real set, and were looked at on the kinds `DEVELOPED` of
`experiments._lib.frames`. They are judged on the test images of the same sets and on `HELD_OUT`, kinds that were named
before anything was measured on them. --photos names a folder of further sets of photographs: one folder a set, with
train, and test or val, in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import corel.images
from corel._terminal import track
from corel.gallery import BlankTest
from experiments._lib import command
from experiments._lib.frames import DEVELOPED, HELD_OUT, NOT_CLAIMED, SIDES, Frame, Pixels, clipped, resized_frames
from experiments._lib.record import record

SETS = ("cifar10", "cifar100", "tiny-imagenet", "fashion-mnist", "digits")
SIZES = (32, 224)  # what encoders see
FRAMES, IMAGES, PHOTOS = 200, 10_000, 1500
PASSED = 0.9975  # share of every set that passes each limit
EXPOSED: dict[str, Callable[[Pixels], Pixels]] = {
    "underexposed photographs": lambda pixels: clipped(pixels * 0.04),
    "overexposed photographs": lambda pixels: clipped(pixels * 1.0 + 240),
}

Sets = Mapping[str, Pixels]


def run(data: Path, photos: Path | None) -> None:
    """Measure both kinds of errors and write them down."""
    start = time.perf_counter()
    learned, judged = (dict(_real_sets(data, photos, split)) for split in ("train", "test"))
    results = {
        "real images called not a photograph": {
            name: {"images": len(pixels), "share": _stopped(pixels)} for name, pixels in judged.items()
        },
        "held out": _shares(HELD_OUT, seed=1),
        "not claimed": _shares(NOT_CLAIMED, seed=1),
        "developed on": _shares(DEVELOPED, seed=0)
        | {name: {"32": _stopped(change(learned["cifar10, 32 px"][:1000]))} for name, change in EXPOSED.items()},
        "limits by the rule": _limits(learned),
    }
    config = {"frames": FRAMES, "sizes": SIZES, "sides": SIDES, "passed": PASSED}
    record("photographs", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def _real_sets(data: Path, photos: Path | None, split: str) -> Iterator[tuple[str, Pixels]]:
    for name in track(SETS, f"reading {split}"):
        opened = corel.images.open(name, split, root=data, size=SIZES[0], progress=False)
        yield f"{name}, {SIZES[0]} px", opened.pixels[:: max(1, len(opened) // IMAGES)]
    for folder in track(sorted(photos.iterdir()), "photos") if photos else ():
        place = next(
            folder / each for each in ((split, "val") if split == "test" else (split,)) if (folder / each).is_dir()
        )
        files = sorted(file for file in place.rglob("*") if file.is_file())
        chosen = files[:: max(1, len(files) // PHOTOS)]
        for size in SIZES:
            yield f"{folder.name}, {size} px", corel.images.open(chosen, size=size, progress=False).pixels


def _stopped(pixels: Pixels) -> float:
    return float(1 - BlankTest.of(()).photographic(pixels).mean())


def _shares(kinds: Mapping[str, Frame], seed: int) -> dict[str, dict[str, float]]:
    """Share stopped of each kind at each size of an encoder's input."""
    return {
        name: {str(size): _stopped(resized_frames(frame, FRAMES, size, seed)) for size in SIZES}
        for name, frame in track(kinds.items(), "frames")
    }


def _limits(real: Sets) -> dict[str, list[float]]:
    """The lowest and the highest limit of each trait that `PASSED` of every set pass."""
    traits = [corel.images.measure_traits(pixels)._asdict() for pixels in real.values()]
    return {
        name: [
            float(min(np.quantile(each[name], 1 - PASSED) for each in traits)),
            float(max(np.quantile(each[name], PASSED) for each in traits)),
        ]
        for name in traits[0]
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--photos", type=Path, help="a folder of further sets of photographs")
    arguments = parser.parse_args(argv)
    run(arguments.data, arguments.photos)
