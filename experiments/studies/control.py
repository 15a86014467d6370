"""A fair λ = 0: what the connectivity loss brings beyond knowing the radius.

The authors score an encoder trained without the loss at the radius η too, where the scale of its latents is arbitrary.
Here its radius is set to the same quantile of distances within batches of auxiliary latents as η is for λ = 20, one for
all branches and one for each. Writes experiments/results/control.json and docs/figures/control.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from corel.losses import split_branches
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.encoded import DRAWS, Encoded, Latents
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import AUXILIARY, EPOCHS, trained
from experiments._lib.variants import EVALUATED
from experiments.render import figures

EXEMPLARS = (10, 50, 120, 500)
SHAPED, FREE = TrainConfig(epochs=EPOCHS), TrainConfig(epochs=EPOCHS, weight=0.0)
WAYS = ("λ = 20, radius η", "λ = 0, radius η", "λ = 0, one matched radius", "λ = 0, a matched radius per branch")

Doubles = NDArray[np.float64]


def matched_radii(shaped: Latents, free: Latents, branches: int, radius: float, batch_size: int) -> Doubles:
    """Per branch the radius that holds the share of `free`'s distances that `radius` holds of `shaped`'s, `[B]`."""
    shares = (in_batch_distances(shaped, branches, batch_size) <= radius).mean(1)
    distances = in_batch_distances(free, branches, batch_size)
    return np.array([_holding(row, share) for row, share in zip(distances, shares, strict=True)])


def matched_radius(shaped: Latents, free: Latents, branches: int, radius: float, batch_size: int) -> float:
    """The same for the distances of all branches together."""
    share = (in_batch_distances(shaped, branches, batch_size) <= radius).mean()
    return _holding(in_batch_distances(free, branches, batch_size).ravel(), share)


def in_batch_distances(latents: Latents, branches: int, batch_size: int) -> Doubles:
    """L1 distances of the pairs in consecutive batches, per branch `[B, pairs]`."""
    whole = len(latents) // batch_size * batch_size
    clouds = split_branches(torch.from_numpy(latents[:whole]), branches).double()
    clouds = clouds.reshape(branches, -1, batch_size, clouds.shape[-1])
    rows, columns = torch.triu_indices(batch_size, batch_size, offset=1)
    distances: Doubles = torch.cdist(clouds, clouds, p=1)[..., rows, columns].flatten(1).numpy()
    return distances


def _holding(distances: Doubles, share: float) -> float:
    return float(np.quantile(distances, share, method="inverted_cdf"))


def _scales(way: str, data: Path, runs: Path) -> float | Latents:
    """What latents are multiplied by, so that the radius η is the one that this way asks for."""
    if not way.endswith(("matched radius", "per branch")):
        return 1.0
    shaped, free = (trained(AUXILIARY, config, data, runs) for config in (SHAPED, FREE))
    known = (shaped.background, free.background, free.branches, free.eta, free.batch_size)
    radii = matched_radii(*known) if way.endswith("per branch") else np.full(free.branches, matched_radius(*known))
    return np.repeat(free.eta / radii, free.branch_dim).astype(np.float32)


def _measure(way: str, data: Path, runs: Path) -> dict[str, Any]:
    backbone = trained(AUXILIARY, SHAPED if way == WAYS[0] else FREE, data, runs)
    scale = _scales(way, data, runs)
    encoded = Encoded.of(backbone, EVALUATED, data)
    settings = {**encoded.settings, "background": backbone.background * scale}
    scaled = replace(encoded, train=encoded.train * scale, test=encoded.test * scale, settings=settings)
    return {
        "radii": (backbone.eta / np.broadcast_to(scale, backbone.background.shape[1])[:: backbone.branch_dim]).tolist(),
        "auc": {score: {str(m): scaled.auc(m, score) for m in EXEMPLARS} for score in SCORES},
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"auxiliary": AUXILIARY, "epochs": EPOCHS, "exemplars": EXEMPLARS}
    parts = [Part(way, settings, partial(_measure, way, arguments.data, arguments.runs)) for way in WAYS]
    run_parts("control", parts, {**settings, "evaluated": EVALUATED, "draws": DRAWS})
    figures.save("control")
