"""The demo on two photographs that come with scikit-learn: find things in them, then recognize windows of them.

Boxes were drawn by hand before anything was scored. A thing is cut into strips: windows of every other strip are
enrolled, new windows come from the strips between them, so none overlaps. The strips came after a first look: with one
half enrolled and the other half new, 35% of the members were called strangers, since halves differ. It is a demo, not
evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corel.backbone import Backbone
from corel.finding import Found, find, windows_in
from corel.gallery import Gallery, Verdict
from corel.images import ImageSet
from corel.report import Panel

UInt8Array = NDArray[np.uint8]
Box = tuple[int, int, int, int]

CREDITS = {"china.jpg": "danielbuechele", "flower.jpg": "vultilion"}  # CC BY 2.0, both on Flickr
CREDIT = "Photographs: " + ", ".join(f"{photo} by {who}" for photo, who in CREDITS.items()) + " (Flickr, CC BY 2.0)"
MARKED: dict[str, Box] = {"pagoda": (110, 160, 200, 180), "trees": (370, 310, 180, 110), "sky": (360, 20, 220, 140)}


@dataclass(frozen=True)
class Thing:
    """Where a thing is in a photograph."""

    photo: str
    box: Box

    def strips(self, first: int) -> list[Box]:
        """Give every other of five upright strips of the box, from the one numbered `first` on."""
        left, top, width, height = self.box
        return [(left + k * (width // STRIPS), top, width // STRIPS, height) for k in range(first, STRIPS, 2)]


STRIPS = 5
THINGS = {
    "pagoda": Thing("china.jpg", MARKED["pagoda"]),
    "trees": Thing("china.jpg", MARKED["trees"]),
    "sky": Thing("china.jpg", MARKED["sky"]),
    "blossom": Thing("flower.jpg", (215, 130, 190, 190)),
}
STRANGERS = {"water": ("china.jpg", (360, 232, 170, 55)), "leaves": ("flower.jpg", (470, 80, 150, 240))}
ENROLLED, NEW = 60, 5  # windows of each thing
ODD = ("black frame", "noise")  # neither shows anything


@dataclass(frozen=True, eq=False)
class Recognized:
    """Windows with what they truly show and what the gallery says of them.

    Attributes:
        gallery: the file.
        windows: uint8 ``[n, size, size, 3]``.
        truth: for each window its thing, or the name of a stranger.
        verdicts: what the gallery answers.
        nearest: what the nearest enrolled window by pixels would answer, with the same share of members rejected.

    """

    gallery: Path
    windows: UInt8Array
    truth: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    nearest: tuple[str, ...]

    def summary(self) -> str:
        """Sum up in one line what becomes of members and strangers, and what pixels alone would do."""
        cases = zip(self.truth, self.verdicts, self.nearest, strict=True)
        judged = [(name, each.verdict, each.classes == (name,), answer) for name, each, answer in cases]
        members, strangers = ([row for row in judged if (row[0] in THINGS) is wanted] for wanted in (True, False))
        words = [verdict for _, verdict, *_ in strangers]
        named, unsure = words.count("known"), words.count("unsure")
        plain = sum(name == answer for name, *_, answer in members)
        stopped = sum(answer == "stranger" for *_, answer in strangers)
        return (
            f"names {sum(right for *_, right, _ in members)} of {len(members)} members rightly; of {len(strangers)} "
            f"strangers it stops {len(strangers) - named - unsure}, is unsure about {unsure} and gives {named} a name. "
            f"Nearest neighbors on pixels name {plain} of {len(members)} members rightly and stop {stopped} of "
            f"{len(strangers)} strangers"
        )


def load_photo(name: str) -> UInt8Array:
    """Give one of scikit-learn's photographs."""
    from sklearn.datasets import load_sample_image

    return np.asarray(load_sample_image(name), np.uint8)


def find_things(out: Path, *, progress: bool = False) -> dict[str, Found]:
    """Mark three things in the photograph of the pagoda, find the rest of each, and write the pictures."""
    encoder, photo = Backbone.load(), load_photo("china.jpg")
    out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, box in MARKED.items():
        (found[name],) = find(photo, box, backbone=encoder, progress=progress)
        found[name].overlay().save(out / f"found_{name}.png")
    return found


def recognize(out: Path, *, rate: float = 0.05, seed: int = 0) -> Recognized:
    """Enroll windows of four things in a gallery and judge new windows, strangers, a black frame and noise."""
    path, folder = out / "demo.gallery", out / "demo_windows"
    out.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with Gallery.open(path, create=True) as gallery:
        size = gallery.backbone.network.input_shape[-1]
        enrolled = {name: _windows(thing, 0, ENROLLED, size, seed) for name, thing in THINGS.items()}
        for name, windows in enrolled.items():
            gallery.enroll(name, windows)
        windows, truth = _new_windows(size, seed)
        verdicts = tuple(gallery.recognize(_write(windows, truth, folder), rate))
    return Recognized(path, windows, truth, verdicts, _by_nearest_pixels(enrolled, windows, rate))


def explain(recognized: Recognized) -> Panel:
    """Draw why the gallery knows a new window of the pagoda: the first that it knows, or the first at all."""
    windows = [i for i, name in enumerate(recognized.truth) if name == "pagoda"]
    shown = next((i for i in windows if recognized.verdicts[i].verdict == "known"), windows[0])
    with Gallery.open(recognized.gallery) as gallery:
        window = ImageSet(recognized.windows[[shown]], None, (), [_file_name(shown, "pagoda")], "a window")
        explanation = gallery.explain(window, "pagoda")
    return Panel("why", explanation.draw(), "A new window of the pagoda and the enrolled windows that speak for it.")


def _new_windows(size: int, seed: int) -> tuple[UInt8Array, tuple[str, ...]]:
    parts = {name: _windows(thing, 1, NEW, size, seed) for name, thing in THINGS.items()}
    parts |= {name: _drawn(photo, box, NEW - 1, size, seed) for name, (photo, box) in STRANGERS.items()}
    noise = np.random.default_rng(seed).integers(0, 256, (1, size, size, 3), np.uint8)
    parts |= dict(zip(ODD, (np.zeros_like(noise), noise), strict=True))
    return np.concatenate([*parts.values()]), tuple(name for name, part in parts.items() for _ in part)


def _windows(thing: Thing, first: int, count: int, size: int, seed: int) -> UInt8Array:
    """Draw windows from every other strip of a thing."""
    strips = thing.strips(first)
    shares = [count // len(strips) + (k < count % len(strips)) for k in range(len(strips))]
    parts = zip(strips, shares, strict=True)
    return np.concatenate([_drawn(thing.photo, strip, share, size, seed) for strip, share in parts])


def _drawn(photo: str, box: Box, count: int, size: int, seed: int) -> UInt8Array:
    return windows_in(load_photo(photo), box, count, size=size, sides=[32], seed=seed)


def _write(windows: UInt8Array, truth: tuple[str, ...], folder: Path) -> list[Path]:
    """Save the windows as files, for the commands that the demo suggests."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / _file_name(number, name) for number, name in enumerate(truth)]
    for path, window in zip(paths, windows, strict=True):
        Image.fromarray(window).save(path)
    return paths


def _file_name(number: int, truth: str) -> str:
    return f"{number:02d} {truth}.png"


def _by_nearest_pixels(enrolled: dict[str, UInt8Array], windows: UInt8Array, rate: float) -> tuple[str, ...]:
    """Answer by the nearest enrolled window; a stranger is farther than all but `rate` of the enrolled ones are."""
    bag = np.concatenate([*enrolled.values()]).reshape(-1, windows[0].size).astype(np.float32)
    names = [name for name, part in enrolled.items() for _ in part]
    apart = np.linalg.norm(bag[:, None] - bag[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    limit = np.quantile(apart.min(axis=1), 1 - rate)
    distances = np.linalg.norm(windows.reshape(len(windows), 1, -1).astype(np.float32) - bag[None], axis=-1)
    nearest = distances.argmin(axis=1)
    return tuple(
        names[i] if distance <= limit else "stranger"
        for i, distance in zip(nearest.tolist(), distances.min(axis=1).tolist(), strict=True)
    )
