"""A torch module → an ONNX graph, compared with the module that it came from."""

from __future__ import annotations

import importlib.util
import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from corel.encoders.pretrained import start

AGREEMENT = 1e-4  # the largest difference between graph and module, as a share of the largest value


def to_onnx(module: nn.Module, example: Tensor, input_name: str, output_names: Sequence[str]) -> bytes:
    """Export a module that takes any number of items; `example` has two of them."""
    if importlib.util.find_spec("onnxscript") is None:
        raise ModuleNotFoundError("exporting to ONNX needs packages that are not here: pip install 'corel[onnx]'")
    with _exporter_silenced():
        if _torch_version() < (2, 7):  # whose newer exporter fails where the number of items is not fixed
            return _traced(module, example, input_name, output_names)
        program = torch.onnx.export(
            module, (example,), dynamo=True, verbose=False, input_names=[input_name],
            output_names=list(output_names), dynamic_shapes=({0: torch.export.Dim("n")},),
        )  # fmt: skip
    assert program is not None
    return bytes(program.model_proto.SerializeToString())


def _traced(module: nn.Module, example: Tensor, input_name: str, output_names: Sequence[str]) -> bytes:
    """Export by tracing, as torch did before 2.7."""
    with tempfile.TemporaryDirectory() as place:
        path, any_number = Path(place, "traced.onnx"), {0: "n"}
        torch.onnx.export(
            module, (example,), str(path), input_names=[input_name], output_names=list(output_names),
            dynamic_axes=dict.fromkeys([input_name, *output_names], any_number),
        )  # fmt: skip
        return path.read_bytes()


def _torch_version() -> tuple[int, int]:
    major, minor = torch.__version__.split(".")[:2]
    return int(major), int(minor)


@torch.no_grad()
def compare(content: bytes, module: nn.Module, images: Tensor) -> None:
    """Refuse a graph whose outputs are not those of its module."""
    expected = module(images)
    found = start(content).run(None, {"images": images.numpy()})
    for graph_gives, module_gives in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        wanted = module_gives.numpy()
        difference = np.abs(graph_gives - wanted).max() / max(np.abs(wanted).max(), 1e-12)
        if not difference <= AGREEMENT:  # also where it is NaN
            raise ValueError(
                f"the exported graph differs from the module by {difference:.1e} of its largest value, "
                f"more than {AGREEMENT:g}; export it yourself and wrap onnx:FILE"
            )


@contextmanager
def _exporter_silenced() -> Iterator[None]:
    """Hide the exporter's own warnings, which a caller can do nothing about."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
