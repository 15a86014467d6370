"""Does the alarm of `corel watch` keep its one percent on real images, and how soon does it notice a change?

``python -m experiments watch --data DIR`` draws galleries from a pool of images, and streams of the others in random
order. *False alarms*: how many streams without a change raise the alarm, by ranks among calibration scores and all
earlier images, and by ranks among the calibration scores alone. *Delays*: how many images after a change the alarm
comes, where the change follows 500 quiet images. It writes experiments/results/watch.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

import corel.images
from corel._terminal import track
from corel.backbone import Backbone
from corel.oneclass import ClassBank, Split, backbone_settings, compared_rows, preferred_method, split_p_values
from corel.watching import DriftTest
from experiments._lib import command
from experiments._lib.record import record

CLASSES = {"cifar10": 10, "cifar100": 20, "fashion-mnist": 10}
OTHER = {"cifar10": "cifar100", "cifar100": "fashion-mnist", "fashion-mnist": "cifar10"}
POOL, CHANGED, ENROLLED = 3000, 500, 300  # images of a set, of them changed too, and exemplars of all classes together
STREAMS, LENGTH, QUIET, DRAWS = 100, 1500, 500, 20
LIMIT = 200.0  # of the first test

Pixels = NDArray[np.uint8]
Rows = NDArray[np.float32]
Doubles = NDArray[np.float64]


class Pool(NamedTuple):
    """What is compared of a set's images, of some of them after each change, and of another set."""

    rows: Rows
    labels: NDArray[np.int64]
    changed: dict[str, Rows]


def blurred(pixels: Pixels) -> Pixels:
    """Out of focus by a pixel of 32."""
    soft = [Image.fromarray(each).filter(ImageFilter.GaussianBlur(1.0)) for each in pixels]
    return np.stack([np.asarray(each) for each in soft])


def darkened(pixels: Pixels) -> Pixels:
    """Half the light."""
    return pixels // 2


CHANGES: dict[str, Callable[[Pixels], Pixels]] = {"blur": blurred, "half the light": darkened}


def encode(backbone: Backbone, data: Path) -> dict[str, Pool]:
    """Encode a pool of every set; the last images of it also changed."""

    def embedded(pixels: Pixels) -> Rows:
        return np.asarray(compared_rows(preferred_method(backbone), backbone.embed(pixels)))

    pools = {}
    for name, classes in track(CLASSES.items(), "encoding"):
        opened = corel.images.open(name, "train", root=data, size=backbone.network.input_shape[-1], progress=False)
        labels = np.asarray(opened.labels)
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(labels < classes))[:POOL]
        last = opened.pixels[chosen[-CHANGED:]]
        changed = {change: embedded(apply(last)) for change, apply in CHANGES.items()}
        pools[name] = Pool(embedded(opened.pixels[chosen]), labels[chosen], changed)
    return pools


def drawn(pool: Pool, backbone: Backbone, rng: np.random.Generator) -> tuple[Split, NDArray[np.int64]]:
    """A gallery of random images, split, and the others in random order; the last of the pool are always others."""
    order = rng.permutation(len(pool.rows) - CHANGED)
    chosen = order[:ENROLLED][np.argsort(pool.labels[order[:ENROLLED]], kind="stable")]
    sizes = np.bincount(pool.labels[chosen], minlength=pool.labels.max() + 1)
    settings = backbone_settings(backbone, preferred_method(backbone))
    bank = ClassBank(pool.rows[chosen], np.concatenate([[0], np.cumsum(sizes)]), **settings)
    return Split.of(bank, seed=int(rng.integers(1 << 30))), order[ENROLLED:]


def false_alarms(pool: Pool, backbone: Backbone) -> dict[str, float]:
    """Shares of streams without a change that raise the alarm."""
    online, fixed = [], []
    for draw in range(STREAMS):
        rng = np.random.default_rng([1, draw])
        split, others = drawn(pool, backbone, rng)
        scores = split.scores(pool.rows[others[:LENGTH]])
        online.append(alarmed_after(split, scores, draw) is not None)
        p_values = split_p_values(split.calibration, scores, "random", rng)
        fixed.append(bet_on(p_values, draw))
    return {"false alarms": float(np.mean(online)), "false alarms with a fixed bag": float(np.mean(fixed))}


def alarmed_after(split: Split, scores: Doubles, seed: int, quiet: int = 0) -> int | None:
    """How many images after the quiet ones the alarm came; None if it did not, or during these."""
    test = DriftTest(split.calibration, seed, LIMIT)
    for place, score in enumerate(scores):
        test.update(float(score))
        if test.alarmed:
            return place + 1 - quiet
    return None


def bet_on(p_values: Doubles, seed: int) -> bool:
    """Whether the same bets on these p-values would have raised the alarm."""
    test = DriftTest([], seed, LIMIT)
    for p_value in p_values:
        test.bet(float(p_value))
    return test.alarmed


def delays(pool: Pool, other: Rows, backbone: Backbone) -> list[dict[str, Any]]:
    """How soon each change is noticed."""
    mixed = np.where(np.arange(CHANGED)[:, None] % 5 == 0, other[:CHANGED], pool.rows[-CHANGED:])
    changes: dict[str, Rows | None] = {
        **pool.changed,
        "another set": other[:CHANGED],
        "one in five of another set": mixed,
    }
    changes["one class only"] = None
    return [{"change": name, **delay(pool, rows, backbone)} for name, rows in changes.items()]


def delay(pool: Pool, changed: Rows | None, backbone: Backbone) -> dict[str, Any]:
    """How soon these images are noticed, None being further ones of the first class; an alarm before is no notice."""
    times = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([2, draw])
        split, others = drawn(pool, backbone, rng)
        later = others[QUIET:]
        rows = pool.rows[later[pool.labels[later] == 0]] if changed is None else rng.permutation(changed)
        stream = np.concatenate([pool.rows[others[:QUIET]], rows])
        times.append(alarmed_after(split, split.scores(stream), draw, QUIET))
    noticed = [each for each in times if each is not None and each > 0]
    ranked = [*sorted(noticed), *[None] * (DRAWS - len(noticed))]
    return {"noticed": len(noticed) / DRAWS, "median": ranked[DRAWS // 2], "ninth of ten": ranked[9 * DRAWS // 10 - 1]}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = command.folders(__name__, __doc__, argv, ("data",))
    start, backbone = time.perf_counter(), Backbone.load()
    pools = encode(backbone, arguments.data)
    results = []
    for name, pool in track(pools.items(), "watching"):
        changes = delays(pool, pools[OTHER[name]].rows, backbone)
        results.append({"set": name, "other": OTHER[name], **false_alarms(pool, backbone), "delays": changes})
    config = {
        "backbone": backbone.digest, "exemplars": ENROLLED, "streams": STREAMS, "images": LENGTH, "quiet": QUIET,
        "draws": DRAWS, "limit": LIMIT,
    }  # fmt: skip
    record("watch", config=config, results=results, seed=0, seconds=time.perf_counter() - start)
