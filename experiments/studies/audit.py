"""Does `corel audit` find exemplars that were enrolled by mistake, and copies?

``python -m experiments audit --data DIR`` enrolls 120 images of each of ten classes, six of which belong to other
classes, and asks where these come in the audit. Then copies of 100 images, saved again, scaled, brightened or cropped,
are looked for among 750 images. It writes experiments/results/audit.json.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

import corel.images
from corel._terminal import track
from corel.backbone import Backbone
from corel.gallery import Audit, Fit, Gallery
from corel.images import ImageSet
from experiments._lib import command
from experiments._lib.record import record

SETS = ("cifar10", "cifar100", "fashion-mnist")
CLASSES, SIZE, WRONG = 10, 120, 6
COPIED, KEPT = 100, 75  # images that are copied, and images of each class among which they are looked for

Pixels = NDArray[np.uint8]


def jpeg(picture: Image.Image) -> Image.Image:
    """Saved again as a JPEG of quality 50."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=50)
    return Image.open(file)


def scaled(picture: Image.Image) -> Image.Image:
    """Made smaller by a quarter, and larger again."""
    side = picture.width
    small = picture.resize((3 * side // 4, 3 * side // 4), Image.Resampling.BILINEAR)
    return small.resize((side, side), Image.Resampling.BILINEAR)


def brighter(picture: Image.Image) -> Image.Image:
    """Brightened by 15%."""
    return ImageEnhance.Brightness(picture).enhance(1.15)


def cropped(picture: Image.Image) -> Image.Image:
    """Without a twentieth of its width and height."""
    side, edge = picture.width, max(1, picture.width // 20)
    return picture.crop((edge, edge, side, side)).resize((side, side), Image.Resampling.BILINEAR)


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "JPEG of quality 50": jpeg, "scaled": scaled, "15% brighter": brighter, "5% cropped": cropped,
}  # fmt: skip


def audited(backbone: Backbone, bags: dict[str, Pixels]) -> Audit:
    """Enroll classes and audit them; an image is named by its class and place."""
    with tempfile.TemporaryDirectory() as folder, Gallery.open(Path(folder, "g"), backbone, create=True) as gallery:
        for name, pixels in bags.items():
            names = [f"{name}/{i}" for i in range(len(pixels))]
            gallery.enroll(name, ImageSet(pixels, None, (), names, name))
        return gallery.audit()


def planted(backbone: Backbone, images: ImageSet) -> dict[str, float]:
    """Where exemplars of other classes come, which are the last `WRONG` of each class."""
    rng, labels = np.random.default_rng(0), np.asarray(images.labels)
    right = {c: rng.permutation(np.flatnonzero(labels == c))[: SIZE + WRONG] for c in range(CLASSES)}
    source = {
        c: [(c + 1 + i) % CLASSES if (c + 1 + i) % CLASSES != c else (c + 1) % CLASSES for i in range(WRONG)]
        for c in right
    }
    bags = {}
    for c, rows in right.items():
        wrong = [right[other][SIZE + i] for i, other in enumerate(source[c])]
        bags[str(c)] = images.pixels[np.concatenate([rows[: SIZE - WRONG], wrong])]
    fits = audited(backbone, bags).fits
    guilty = [each for each in fits if _is_planted(each)]
    innocent = [each for each in fits if not _is_planted(each)]
    named = [each.likelier == str(source[int(each.exemplar.name)][_place(each) - SIZE + WRONG]) for each in guilty]
    return {
        "among the worst 6": float(np.mean([each.position <= WRONG for each in guilty])),
        "among the worst 12": float(np.mean([each.position <= 2 * WRONG for each in guilty])),
        "median position": float(np.median([each.position for each in guilty])),
        "another class or the background likelier": float(
            np.mean([bool(each.likelier) or each.background for each in guilty])
        ),
        "true class named": float(np.mean(named)),
        "called odd": float(np.mean([each.odd for each in guilty])),
        "right ones called odd": float(np.mean([each.odd for each in innocent])),
        "right ones likelier elsewhere": float(np.mean([_elsewhere(each) for each in innocent])),
    }


def _elsewhere(fit: Fit) -> bool:
    return fit.likelier is not None or fit.background


def _place(fit: Fit) -> int:
    return int(fit.exemplar.source.split("/")[1])


def _is_planted(fit: Fit) -> bool:
    return _place(fit) >= SIZE - WRONG


def copies(backbone: Backbone, images: ImageSet) -> dict[str, Any]:
    """The share of copies found, and how many other pairs of copies and images were named."""
    labels = np.asarray(images.labels)
    pixels = images.pixels[np.concatenate([np.flatnonzero(labels == c)[:KEPT] for c in range(CLASSES)])]
    found = {}
    for name, change in COPIES.items():
        changed = np.stack([np.asarray(change(Image.fromarray(each)).convert("RGB")) for each in pixels[:COPIED]])
        pairs = audited(backbone, {"kept": pixels, "copies": changed}).duplicates
        places = [
            {each.source.split("/")[1] for each in (pair.one, pair.other)}
            for pair in pairs
            if pair.one.name != pair.other.name
        ]
        right = sum(len(each) == 1 for each in places)
        found[name] = {"found": right / COPIED, "other pairs": len(places) - right}
    return found


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = command.folders(__name__, __doc__, argv, ("data",))
    start, backbone = time.perf_counter(), Backbone.load()
    results = []
    for name in track(SETS, "auditing"):
        images = corel.images.open(name, "train", root=arguments.data, size=32, progress=False)
        results.append({"set": name, "planted": planted(backbone, images), "copies": copies(backbone, images)})
    config = {"backbone": backbone.digest, "classes": CLASSES, "exemplars": SIZE, "wrong": WRONG, "copied": COPIED}
    record("audit", config=config, results=results, seed=0, seconds=time.perf_counter() - start)
