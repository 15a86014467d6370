"""Steps that wrapping adds to a checked graph: normalization in front; whitening and a head behind; smaller weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from corel.encoders.feature_head import Standardize, UnitRows
from corel.encoders.graph import LATENTS, OUTPUT

NORMALIZED, RAW, HEAD = "corel.normalized", "corel.raw", "corel.head"
MATRIX_NAME = f"{RAW}.matrix.half"
Call = tuple[str, list[str], dict[str, Any]]  # an operator, the names of its weights, its options
MATRIX = 1024  # smaller tensors save nothing in half precision


def normalize(content: bytes, mean: Sequence[float], deviation: Sequence[float], channels: str = "rgb") -> bytes:
    """Let a graph take RGB images in [0, 1]: it begins by subtracting the mean and dividing by the deviation.

    `mean` and `deviation` are of red, green and blue. With the channels ``bgr`` the graph then gets blue first.
    """
    from onnx import helper

    model = _model(content)
    name = model.graph.input[0].name
    for node in model.graph.node:
        node.input[:] = [NORMALIZED if each == name else each for each in node.input]
    shaped = (np.asarray(each, np.float32).reshape(1, 3, 1, 1) for each in (mean, deviation))
    colors = f"{NORMALIZED}.rgb" if channels == "bgr" else NORMALIZED
    steps = [
        helper.make_node("Sub", [name, _weight(model, f"{NORMALIZED}.mean", next(shaped))], [f"{NORMALIZED}.centered"]),
        helper.make_node(
            "Div", [f"{NORMALIZED}.centered", _weight(model, f"{NORMALIZED}.deviation", next(shaped))], [colors]
        ),
    ]
    if channels == "bgr":
        order = _weight(model, f"{NORMALIZED}.order", np.array([2, 1, 0], np.int64))
        steps.append(helper.make_node("Gather", [colors, order], [NORMALIZED], axis=1))
    for position, step in enumerate(steps):
        model.graph.node.insert(position, step)
    return bytes(model.SerializeToString())


def name_latents(content: bytes, *, unit: bool) -> bytes:
    """Let a checked graph give its output as `LATENTS`, at length 1 if asked."""
    from onnx import helper

    model = _model(content)
    operator = "LpNormalization" if unit else "Identity"
    options: dict[str, Any] = {"axis": 1, "p": 2} if unit else {}
    model.graph.node.append(helper.make_node(operator, [OUTPUT], [LATENTS], **options))
    model.graph.output[0].name = LATENTS
    return bytes(model.SerializeToString())


def whiten(content: bytes, center: Any, matrix: Any) -> bytes:
    """Let a checked graph end by giving its vectors length 1, subtracting the center and multiplying by the matrix."""
    import onnx
    from onnx import helper

    model = _model(content)
    _rename_output(model, RAW)
    middle = _weight(model, f"{RAW}.center", center.astype(np.float32))
    stored = _weight(model, MATRIX_NAME, matrix.astype(np.float16))
    model.graph.node.extend([
        helper.make_node("LpNormalization", [RAW], [f"{RAW}.unit"], axis=1, p=2),
        helper.make_node("Sub", [f"{RAW}.unit", middle], [f"{RAW}.centered"]),
        helper.make_node("Cast", [stored], [f"{RAW}.matrix"], to=onnx.TensorProto.FLOAT),
        helper.make_node("MatMul", [f"{RAW}.centered", f"{RAW}.matrix"], [OUTPUT]),
    ])  # fmt: skip
    return bytes(model.SerializeToString())


def whitening_matrix(content: bytes) -> Any:
    """Give the matrix that `whiten` put into a graph, float64 ``[D, D]``."""
    from onnx import numpy_helper

    for tensor in _model(content).graph.initializer:
        if tensor.name == MATRIX_NAME:
            return numpy_helper.to_array(tensor).astype(np.float64)
    raise ValueError("this encoder was wrapped without whitening, by an earlier corel; wrap it anew")


def append_head(content: bytes, head: nn.Module) -> bytes:
    """Let a whitened graph end in the layers of a feature head, in place of the whitening matrix.

    The head gets the centered vectors at length 1.
    """
    from onnx import helper

    model = _model(content)
    _drop(model, [OUTPUT, f"{RAW}.matrix"], MATRIX_NAME)
    calls: list[Call] = [("LpNormalization", [], {"axis": 1, "p": 2})]
    calls += [call for number, layer in enumerate(head.children()) for call in _calls(model, number, layer)]
    names = [f"{RAW}.centered", *(f"{HEAD}.{number}" for number in range(1, len(calls))), OUTPUT]
    for (operator, weights, options), before, after in zip(calls, names[:-1], names[1:], strict=True):
        model.graph.node.append(helper.make_node(operator, [before, *weights], [after], **options))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = list(head.children())[-1].out_features
    return bytes(model.SerializeToString())


def half(content: bytes) -> bytes:
    """Keep matrices and kernels in half precision; a cast gives them back in float32, so that nothing else changes."""
    import onnx
    from onnx import numpy_helper

    model = _model(content)
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) > 1 and np.prod(tensor.dims) >= MATRIX:
            name = tensor.name
            with np.errstate(over="ignore"):  # the caller compares, and sees an infinity
                rounded = numpy_helper.to_array(tensor).astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(rounded, f"{name}.half"))
            casts.append(onnx.helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return bytes(model.SerializeToString())


def _calls(model: Any, number: int, layer: nn.Module) -> list[Call]:
    """Give the operators of a layer of a feature head, with their weights and options."""

    def weight(name: str, tensor: Any) -> list[str]:
        return [_weight(model, f"{HEAD}.{number}.{name}", tensor.detach().cpu().numpy().astype(np.float32))]

    if isinstance(layer, Standardize):
        return [("Sub", weight("mean", layer.mean), {}), ("Div", weight("deviation", layer.deviation), {})]
    if isinstance(layer, UnitRows):
        return [("LpNormalization", [], {"axis": 1, "p": 2})]
    if isinstance(layer, nn.Linear):
        return [("MatMul", weight("matrix", layer.weight.T), {}), ("Add", weight("bias", layer.bias), {})]
    assert isinstance(layer, nn.LeakyReLU)
    return [("LeakyRelu", [], {"alpha": layer.negative_slope})]


def _model(content: bytes) -> Any:
    import onnx

    return onnx.load_model_from_string(content)


def _weight(model: Any, name: str, values: Any) -> str:
    """Store a weight in the graph and give its name."""
    from onnx import numpy_helper

    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
    return name


def _drop(model: Any, outputs: Sequence[str], weight: str) -> None:
    """Leave out the nodes that give these outputs, and a weight."""
    for field, gone in (("node", lambda node: node.output[0] in outputs), ("initializer", lambda w: w.name == weight)):
        kept = [
            type(each).FromString(each.SerializeToString()) for each in getattr(model.graph, field) if not gone(each)
        ]
        model.graph.ClearField(field)
        getattr(model.graph, field).extend(kept)


def _rename_output(model: Any, name: str) -> None:
    for node in model.graph.node:
        node.output[:] = [name if each == OUTPUT else each for each in node.output]
