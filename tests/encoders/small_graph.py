"""A small encoder as ONNX: a convolution, a ReLU, a mean over places; with knobs for what a graph may have wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE, WIDTH = 16, 8
Dim = int | str


def weights(seed: int = 0) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(np.float32) / 5 for shape in ((WIDTH, 3, 3, 3), (WIDTH, 4))]


def model(shape: Sequence[Dim] = ("n", 3, SIZE, SIZE), nodes: Sequence[Any] = (), output: str = "pooled") -> Any:
    """Build the graph; `nodes` come after its own, and `output` is what it gives."""
    kernel, matrix = weights()
    own = [
        helper.make_node("Conv", ["images", "kernel"], ["map"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["map"], ["middle"]),
        helper.make_node("GlobalAveragePool", ["middle"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["pooled"]),
        helper.make_node("MatMul", ["pooled", "matrix"], ["logits"]),
    ]
    graph = helper.make_graph(
        [*own, *nodes],
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(matrix, "matrix")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def content(*arguments: Any, **others: Any) -> bytes:
    return bytes(model(*arguments, **others).SerializeToString())


def expected(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the graph computes, by torch: vectors ``[n, WIDTH]``."""
    import torch

    values = torch.nn.functional.conv2d(torch.from_numpy(images), torch.from_numpy(weights()[0]), stride=2, padding=1)
    return values.relu().mean(dim=(2, 3)).numpy()


def save(path: Any, *arguments: Any, **others: Any) -> None:
    onnx.save(model(*arguments, **others), path)
