"""A backbone's file: where shipped ones lie, how a network is built again from tensors, and what must fit."""

from __future__ import annotations

import math
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from corel import objectives
from corel.encoders.base import Network, channels_last
from corel.encoders.pretrained import Pretrained
from corel.encoders.vectors import Vectors
from corel.images import Preparation, Rows

if TYPE_CHECKING:
    from corel.backbone._backbone import Backbone

KIND, VERSION = "corel backbone", 1
HASHES = "background_hashes"
POOLED = "pooled_background"  # the tensor of this name is in files of networks with features of their own

# Encoders that were not trained here, by what stands in a file in place of an objective.
WRAPPED: dict[str, type[Network]] = {"pretrained": Pretrained, "vectors": Vectors}


def default_preparation(network: Network) -> Preparation | Rows:
    """Give the preparation of files that store none: stretch to the input, no normalization."""
    shape = network.input_shape
    return Rows(shape[0]) if len(shape) == 1 else Preparation(shape[-1])


def network_type(objective: str) -> type[Network]:
    """Give the class of the networks that a backbone of this objective keeps."""
    return WRAPPED[objective] if objective in WRAPPED else objectives.find(objective).network_type


def shipped() -> list[str]:
    """Give the names of the backbones that ship with corel."""
    folder = resources.files("corel") / "backbones"
    return sorted(
        file.name.removesuffix(".safetensors") for file in folder.iterdir() if file.name.endswith(".safetensors")
    )


def locate(name_or_path: str | os.PathLike[str]) -> Path:
    """Find the file of a shipped backbone by its name, or any other by its path."""
    if name_or_path in shipped():
        return Path(str(resources.files("corel") / "backbones" / f"{name_or_path}.safetensors"))
    path = Path(name_or_path)
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no backbone at {path}; give the path of a file that `corel train` wrote, "
            f"or one of the shipped names: {', '.join(shipped())}"
        )
    return path


def rebuild(objective: str, architecture: dict[str, int], tensors: dict[str, Tensor]) -> Network:
    """Build the network that a file describes, from its tensors."""
    # Built without memory first, so that a file's sizes are compared before anything is allocated to hold them.
    with torch.device("meta"):
        network = network_type(objective)(**architecture)
    weights = {
        name.removeprefix("network."): tensor.float() if tensor.is_floating_point() else tensor  # batch norm counts
        for name, tensor in tensors.items()
        if name.startswith("network.")
    }
    for name, expected in network.state_dict().items():
        if name in weights and weights[name].is_floating_point() != expected.is_floating_point():
            raise ValueError(f"{name} is of type {weights[name].dtype}, not {expected.dtype}")
    network.load_state_dict(weights, assign=True)
    return channels_last(network)


def check_shapes(backbone: Backbone) -> None:
    """Refuse a file whose parts do not fit together."""
    width = backbone.branches * backbone.branch_dim
    whole = backbone.batch_size >= 2 and backbone.batch_size % 1 == 0
    scales = 0 < backbone.eta < math.inf and backbone.p >= 1 and whole
    if not scales or not isinstance(backbone.metadata, dict):
        raise ValueError("its scale, norm, batch size or provenance is impossible")
    if backbone.deaths.shape != (backbone.branches, 3):
        raise ValueError(f"deaths are {list(backbone.deaths.shape)}, not [{backbone.branches}, 3]")
    if backbone.background.ndim != 2 or backbone.background.shape[1] != width:
        raise ValueError(f"the background is {list(backbone.background.shape)}, not [k, {width}]")
    rule, shape = backbone.preparation, backbone.network.input_shape
    if (rule.features if isinstance(rule, Rows) else rule.size) != shape[-1] or isinstance(rule, Rows) != (
        len(shape) == 1
    ):
        raise ValueError(f"items are prepared as {rule.document()}, and the encoder takes {list(shape)}")
    hashes = backbone.background_hashes
    if hashes is not None and (hashes.shape != (len(backbone.background), 32) or hashes.dtype != np.uint8):
        raise ValueError(f"the background's hashes are {list(hashes.shape)}, not [{len(backbone.background)}, 32]")
    pooled, count = backbone.pooled_background, backbone.network.feature_count
    if pooled is not None and (pooled.ndim != 2 or pooled.shape[1] != count or not len(pooled)):
        raise ValueError(f"the pooled background is {list(pooled.shape)}, not [k, {count}]")


def check_finite(tensors: dict[str, Tensor]) -> None:
    """Refuse NaN, infinity and complex numbers."""
    if bad := next((name for name, tensor in tensors.items() if tensor.is_complex()), None):
        raise ValueError(f"{bad} is complex")
    if bad := next((name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()), None):
        raise ValueError(f"{bad} is not finite")


def shipped_checksum(path: Path) -> str | None:
    """Give the SHA-256 of a shipped file that is older than the checksums inside files."""
    sums = resources.files("corel") / "backbones" / "SHA256SUMS"
    if path.parent != Path(str(sums)).parent:
        return None
    return {name: digest for digest, name in map(str.split, sums.read_text().splitlines())}.get(path.name)
