"""Things found in two photographs against outlines drawn by hand: ``python -m experiments find``.

The boxes and outlines below were drawn before anything was scored. Windows of 32 pixels from a box are enrolled, every
window of the photograph is scored, and the places above the rate are compared with the outline: the share of their
union that is in both (intersection over union). Two photographs are an illustration, not evidence.

Writes experiments/results/find.json and docs/figures/find.jpg. The photographs come with scikit-learn: china.jpg by
danielbuechele and flower.jpg by vultilion, both on Flickr under CC BY 2.0.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from corel.backbone import Backbone
from corel.demo.photos import load_photo, recognize
from corel.encoders import channels_last
from corel.evaluation._methods import nearest_distances
from corel.finding import find, windows_in
from corel.finding._windows import Windows
from experiments._lib import command
from experiments._lib.paths import FIGURES
from experiments._lib.record import record

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Polygon = list[tuple[int, int]]

RATE, WINDOWS, SIZE, NEIGHBORS = 0.05, 60, 32, 5
SEEDS = range(10)  # of the untrained encoder, whose overlap depends on its random weights
PAGODA: Polygon = [
    (205, 30), (215, 45), (217, 65), (262, 97), (320, 115), (318, 130), (295, 140), (295, 160), (330, 172), (330, 185),
    (320, 190), (320, 235), (327, 240), (350, 250), (350, 265), (342, 275), (345, 308), (350, 322), (372, 335),
    (340, 375), (325, 395), (300, 400), (205, 385), (200, 365), (100, 335), (75, 335), (85, 285), (65, 272), (70, 258),
    (95, 245), (95, 200), (100, 190), (85, 182), (90, 168), (120, 160), (118, 138), (97, 130), (97, 110), (150, 90),
    (190, 62), (196, 45),
]  # fmt: skip
TREES: list[Polygon] = [
    [(600, 138), (625, 145), (640, 180), (640, 427), (340, 427), (330, 395), (370, 345), (440, 315), (510, 300),
     (530, 275), (560, 285), (565, 265), (550, 245), (560, 215), (580, 195), (585, 165)],
    [(0, 330), (75, 345), (140, 330), (200, 360), (215, 385), (290, 395), (300, 427), (0, 427)],
    [(0, 165), (30, 190), (75, 225), (70, 245), (20, 265), (0, 275)],
]  # fmt: skip
SKY: list[Polygon] = [[(0, 0), (640, 0), (640, 140), (600, 135), (580, 190), (560, 205), (0, 205)]]
BLOSSOM: list[Polygon] = [
    [(315, 85), (365, 95), (410, 120), (435, 165), (445, 215), (430, 270), (405, 320), (360, 350), (310, 358),
     (255, 345), (210, 310), (180, 260), (170, 205), (190, 150), (215, 115), (260, 95)],
    [(290, 427), (290, 405), (345, 375), (400, 380), (435, 395), (440, 427)],
]  # fmt: skip


@dataclass(frozen=True)
class Thing:
    """A box to learn from, and the outline of everything that is the same thing."""

    photo: str
    box: tuple[int, int, int, int]
    outline: list[Polygon]
    without: tuple[Polygon, ...] = ()  # what stands in front of it


THINGS = {
    "pagoda": Thing("china.jpg", (110, 160, 200, 180), [PAGODA]),
    "trees": Thing("china.jpg", (370, 310, 180, 110), TREES),
    "sky": Thing("china.jpg", (360, 20, 220, 140), SKY, (PAGODA, *TREES)),
    "blossom": Thing("flower.jpg", (215, 130, 190, 190), BLOSSOM),
}


def outline(thing: Thing, shape: tuple[int, ...]) -> Mask:
    """Give the pixels inside the outline."""
    canvas = Image.new("1", (shape[1], shape[0]))
    draw = ImageDraw.Draw(canvas)
    for polygon in thing.outline:
        draw.polygon(polygon, fill=1)
    for polygon in thing.without:
        draw.polygon(polygon, fill=0)
    return np.asarray(canvas)


def by_corel(name: str | None) -> Callable[[Pixels, Thing], Mask]:
    """Find as ``corel find`` does, with the backbone of this name."""
    backbone = Backbone.load(name)
    return lambda photo, thing: find(photo, thing.box, backbone=backbone, examples=WINDOWS)[0].mask(RATE)


def by_neighbors(rows: Callable[[Pixels], NDArray[np.float32]]) -> Callable[[Pixels, Thing], Mask]:
    """Find by the mean distance to the five nearest examples; the limit is that of all but 5% of the examples."""

    def mask(photo: Pixels, thing: Thing) -> Mask:
        bag = rows(windows_in(photo, thing.box, WINDOWS, size=SIZE, sides=[SIZE]))
        others = np.stack([np.delete(bag, i, axis=0) for i in range(len(bag))])
        limit = np.quantile(np.diagonal(nearest_distances(bag, others, NEIGHBORS)), 1 - RATE)
        windows = Windows(photo, SIZE, SIZE)
        far = np.concatenate(
            [nearest_distances(rows(batch), bag[None], NEIGHBORS)[:, 0] for batch in windows.batches(256)]
        )
        accepted = Image.fromarray((far <= limit).reshape([len(part) for part in windows.corners]))
        return np.asarray(accepted.resize((photo.shape[1], photo.shape[0]), Image.Resampling.NEAREST))

    return mask


def untrained(seed: int) -> Callable[[Pixels], NDArray[np.float32]]:
    """Encode by the default's network as a training with this seed begins."""
    trained = Backbone.load()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = channels_last(type(trained.network)(**trained.network.architecture))
    return replace(trained, network=network).encode


def overlaps(masks: Sequence[Callable[[Pixels, Thing], Mask]]) -> dict[str, list[float]]:
    """Give for each thing the intersection over union of its outline with each mask."""
    found: dict[str, list[float]] = {}
    for name, thing in THINGS.items():
        photo = load_photo(thing.photo)
        true = outline(thing, photo.shape)
        parts = [mask(photo, thing) for mask in masks]
        found[name] = [round(float((part & true).sum() / (part | true).sum()), 4) for part in parts]
    return found


def draw(photo: Pixels) -> Image.Image:
    """Put the photograph with its three boxes beside what each of them finds."""
    marked = Image.fromarray(photo)
    parts = []
    for name in ("pagoda", "trees", "sky"):
        left, top, width, height = THINGS[name].box
        ImageDraw.Draw(marked).rectangle((left, top, left + width, top + height), None, "white", 3)
        parts.append(find(photo, THINGS[name].box, examples=WINDOWS)[0].overlay(RATE))
    sheet = Image.new("RGB", (2 * marked.width + 8, 2 * marked.height + 8), "white")
    for place, part in enumerate([marked, *parts]):
        sheet.paste(part, ((place % 2) * (marked.width + 8), (place // 2) * (marked.height + 8)))
    return sheet


def printed() -> list[str]:
    """Give the lines that ``corel score`` prints of the first window of each kind in the demo."""
    with tempfile.TemporaryDirectory() as place:
        truth = recognize(Path(place)).truth
        firsts = [truth.index(name) for name in dict.fromkeys(truth)]
        written = sorted(Path(place, "demo_windows").glob("*.png"))
        files = [written[first] for first in firsts]
        asked = [sys.executable, "-m", "corel", "score", "../demo.gallery", *(file.name for file in files), "--quiet"]
        shown = subprocess.run(
            asked, cwd=files[0].parent, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"}
        )
    return [line.rstrip() for line in shown.stdout.splitlines()]


def main(argv: Sequence[str]) -> None:
    """Measure the overlap of every method with every outline, and draw the figure."""
    command.folders(__name__, __doc__, argv, ())
    started = time.perf_counter()
    methods = {
        "corel": [by_corel(None)],
        "corel, the paper's autoencoder": [by_corel("tiny-imagenet-16x10")],
        "5-NN, untrained encoder": [by_neighbors(untrained(seed)) for seed in SEEDS],
        "5-NN, pixels": [by_neighbors(lambda windows: windows.reshape(len(windows), -1).astype(np.float32))],
    }
    results = {method: overlaps(masks) for method, masks in methods.items()}
    draw(load_photo("china.jpg")).save(FIGURES / "find.jpg", quality=88)
    found = {"overlap": results, "printed": printed()}
    record(
        "find", config={"rate": RATE, "windows": WINDOWS, "size": SIZE, "seeds": [*SEEDS]}, results=found, seed=0,
        seconds=time.perf_counter() - started,
    )  # fmt: skip
