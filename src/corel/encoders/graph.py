"""ONNX graphs as a backbone keeps them: checked, cut to what is used, with one image in and one vector out.

A graph may come from anybody. What is accepted computes the same numbers in the same number of steps each time:
standard operators only, no control flow, no randomness, no weights in other files.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corel._errors import ArgumentError
from corel._io.regular import read_regular
from corel._terminal import shown
from corel.encoders.graph_sizes import check_functions, check_sizes

OWN = "corel."  # how the names begin that wrapping gives
OUTPUT = f"{OWN}features"
LATENTS = "latents"  # the output of an exported backbone
LARGEST = 2**31 - 1  # protobuf reads no larger message
OLDEST_RUNTIME = (1, 18)
STANDARD = ("", "ai.onnx")
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


@dataclass(frozen=True)
class Graph:
    """A checked graph.

    Attributes:
        content: the serialized ONNX model, whose only output is called `OUTPUT`.
        input: the name of its input.
        size: the side of the images that it takes.
        width: the length of the vector that it gives.
        batch: the number of images it takes at once; 0 is any number.

    """

    content: bytes
    input: str
    size: int
    width: int
    batch: int


def read(path: Path) -> bytes:
    """Read an ONNX file that is small enough to be one."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no ONNX file {path}; check the path")
    return _sized(read_regular(path) if path.stat().st_size <= LARGEST else None, str(path))


def check(content: bytes, source: str, *, size: int | None = None, layers: Sequence[str] = ()) -> Graph:
    """Give the part of a graph that computes its first output, or `layers`, from images; refuse any other graph.

    Args:
        content: the serialized model.
        source: what an error calls it.
        size: the side of the images, for a graph that takes several.
        layers: names of values in the graph; a map ``[n, d, h, w]`` is averaged over its places.

    """
    with _sentences(source):
        model = _trusted(content, source)
        name = _only_input(model, source)
        side, batch = _input_shape(model, name, source, size)
        chosen = _chosen(model, layers, source)
        _cut(model, chosen)
        name, *chosen = _own_names_freed(model, [name, *chosen])
        width = _join(model, chosen, source)
        check_sizes(model, source)
        return Graph(_serialized(model, source), name, side, width, batch)


def check_again(content: bytes, source: str) -> Graph:
    """Check a graph that `check` or `half` returned and a file kept since: the file may have been edited."""
    with _sentences(source):
        model = _trusted(content, source)
        name = _only_input(model, source)
        size, batch = _input_shape(model, name, source, None)
        if [each.name for each in model.graph.output] != [OUTPUT]:
            raise ValueError(f"{source} does not have the one output {OUTPUT}")
        check_sizes(model, source)
        return Graph(content, name, size, _width(_inferred(model, [OUTPUT])[OUTPUT], OUTPUT, source), batch)


def runtime() -> Any:
    """Import onnxruntime, or say how to get one that is new enough."""
    if importlib.util.find_spec("onnxruntime") is None or importlib.util.find_spec("onnx") is None:
        raise ModuleNotFoundError("a wrapped encoder needs onnx and onnxruntime: pip install 'corel[onnx]'")
    import onnxruntime

    version = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    if version < OLDEST_RUNTIME:
        wanted = ".".join(map(str, OLDEST_RUNTIME))
        raise ImportError(
            f"onnxruntime {onnxruntime.__version__} is too old, a wrapped encoder needs {wanted} or newer: "
            "pip install --upgrade onnxruntime"
        )
    return onnxruntime


@contextmanager
def _sentences(source: str) -> Iterator[None]:
    """Turn what onnx and protobuf raise for a damaged graph into a sentence."""
    try:
        yield
    except (UnicodeError, TypeError, LookupError, AttributeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{source} is not a valid ONNX graph ({shown(error)}); export it anew") from error


def _sized(content: bytes | None, source: str) -> bytes:
    if content is None or len(content) > LARGEST:
        raise ValueError(f"{source} has 2 GB or more, which no single ONNX file can have; use a smaller encoder")
    return content


def _parsed(content: bytes, source: str) -> Any:
    runtime()
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import inliner

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ValueError(f"{source} is no ONNX graph; give a file that an ONNX exporter wrote") from error
    if not model.graph.node:
        raise ValueError(f"{source} is an empty ONNX graph; give a file that an ONNX exporter wrote")
    if not model.functions:
        return model
    check_functions(model, source)
    return inliner.inline_local_functions(model)


def _trusted(content: bytes, source: str) -> Any:
    model = _parsed(_sized(content, source), source)
    _check_nodes(model, source)
    _check_storage(model, source)
    return model


def _check_nodes(model: Any, source: str) -> None:
    import onnx

    opset = max((each.version for each in model.opset_import if each.domain in STANDARD), default=0)
    newest = onnx.defs.onnx_opset_version()
    if opset > newest:
        raise ValueError(
            f"{source} needs ONNX operator set {opset} and this onnx knows up to {newest}: "
            "pip install --upgrade onnx onnxruntime"
        )
    for node in model.graph.node:
        called = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        if node.domain not in STANDARD:
            raise ValueError(f"{source} uses the custom operator {called}; export it with standard operators only")
        if not onnx.defs.has(node.op_type, ""):
            raise ValueError(f"{source} uses an unknown operator {called}; export it with standard operators only")
        if any(each.type in (each.GRAPH, each.GRAPHS) or each.HasField("g") or each.graphs for each in node.attribute):
            raise ValueError(f"{source} uses the control flow {called}; export a graph without branches and loops")
        if node.op_type in RANDOM:
            raise ValueError(f"{source} draws random numbers ({called}); export the encoder in evaluation mode")


def _check_storage(model: Any, source: str) -> None:
    for node in model.graph.node:
        if any(map(_holds_other_tensors, node.attribute)):
            raise ValueError(
                f"{source} has sparse or listed tensors ({node.op_type}); export it with dense constants only"
            )
    constants = [each.t for node in model.graph.node for each in node.attribute if each.HasField("t")]
    for tensor in [*model.graph.initializer, *constants]:
        if tensor.data_location == tensor.EXTERNAL or tensor.external_data:
            raise ValueError(
                f"{source} keeps {tensor.name or 'weights'} in another file (external data); "
                "export it with all weights in one file"
            )
    if model.graph.sparse_initializer:
        raise ValueError(f"{source} has sparse weights; export it with dense ones")


def _holds_other_tensors(attribute: Any) -> bool:
    """Whether an attribute holds tensors elsewhere than in its field `t`; they could be in another file unseen."""
    types = attribute.SPARSE_TENSOR, attribute.SPARSE_TENSORS, attribute.TENSORS
    given = attribute.HasField("sparse_tensor") or attribute.sparse_tensors or attribute.tensors
    return attribute.type in types or bool(given)


def _only_input(model: Any, source: str) -> str:
    stored = {tensor.name for tensor in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in stored]
    if len(names) != 1:
        shown = ", ".join(names) or "none"
        raise ValueError(f"{source} has {len(names)} inputs ({shown}); an encoder takes one, a batch of images")
    return str(names[0])


def _input_shape(model: Any, name: str, source: str, size: int | None) -> tuple[int, int]:
    """Give the side of the images and the size of the batch, and write both into the graph."""
    (given,) = (each for each in model.graph.input if each.name == name)
    tensor = given.type.tensor_type
    dims = [each.dim_value if each.HasField("dim_value") else 0 for each in tensor.shape.dim]
    if tensor.elem_type != 1 or len(dims) != 4 or dims[1] not in (0, 3) or len(set(dims[2:])) > 1:
        raise ValueError(
            f"{source} takes {_shown(tensor)}; an encoder takes float32 images [n, 3, size, size], colors before places"
        )
    if not dims[2] and size is None:
        raise ArgumentError("size", f"is needed, since {source} takes images of any size; give one, such as 224")
    if size is not None and dims[2] not in (0, size):
        raise ArgumentError(
            "size", f"is {size}, but {source} takes images of {dims[2]} pixels; leave it out, or export the graph anew"
        )
    side = dims[2] or size or 0
    for dim, value in zip(tensor.shape.dim[1:], (3, side, side), strict=True):
        dim.dim_value = value
    return side, max(dims[0], 0)


def _chosen(model: Any, layers: Sequence[str], source: str) -> list[str]:
    offered = [each.name for each in model.graph.output]
    values = {name for node in model.graph.node for name in node.output if name}
    for layer in layers:
        if layer not in values:
            names = [*offered, *sorted(values - set(offered))]
            near = difflib.get_close_matches(layer, names, n=3) or offered
            raise ArgumentError("layers", f"hold {layer!r}, which {source} has not; near it are {', '.join(near[:5])}")
    return list(dict.fromkeys(layers)) or offered[:1]


def _cut(model: Any, outputs: Iterable[str]) -> None:
    """Leave the nodes and weights that `outputs` need, and average maps over their places."""
    needed, kept = set(outputs), []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            needed.update(node.input)
            kept.append(node)
    weights = [each for each in model.graph.initializer if each.name in needed]
    inputs = [
        each for each in model.graph.input if each.name not in {weight.name for weight in model.graph.initializer}
    ]
    for field, values in (("node", kept[::-1]), ("initializer", weights), ("input", inputs)):
        copies = [type(each).FromString(each.SerializeToString()) for each in values]
        model.graph.ClearField(field)
        getattr(model.graph, field).extend(copies)


def _own_names_freed(model: Any, names: Sequence[str]) -> list[str]:
    """Rename the values of a graph that was wrapped and exported before, and give the new names of some."""
    values = {each for node in model.graph.node for each in (*node.input, *node.output)}
    prefix = "given."
    while any(each.startswith(prefix) for each in values):
        prefix = f"given.{prefix}"

    def free(name: str) -> str:
        return f"{prefix}{name}" if name.startswith(OWN) or name == LATENTS else name

    for node in model.graph.node:
        node.input[:], node.output[:] = map(free, node.input), map(free, node.output)
    for each in (*model.graph.initializer, *model.graph.input):
        each.name = free(each.name)
    return list(map(free, names))


def _join(model: Any, layers: Sequence[str], source: str) -> int:
    """Join the layers into one output and give its length; several get length 1 first, so that all count the same."""
    from onnx import TensorProto, helper

    shapes = _inferred(model, layers)
    widths = [_width(shapes[each], each, source) for each in layers]
    vectors = [_pooled(model, each) if len(shapes[each]) == 4 else each for each in layers]
    if len(vectors) > 1:
        units = [f"{each}.unit" for each in vectors]
        for vector, unit in zip(vectors, units, strict=True):
            model.graph.node.append(helper.make_node("LpNormalization", [vector], [unit], axis=1, p=2))
        model.graph.node.append(helper.make_node("Concat", units, [OUTPUT], axis=1))
    else:
        model.graph.node.append(helper.make_node("Identity", vectors, [OUTPUT]))
    model.graph.ClearField("output")
    model.graph.output.append(helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n", sum(widths)]))
    return sum(widths)


def _inferred(model: Any, layers: Sequence[str]) -> dict[str, list[int]]:
    """Give the shapes of the layers; 0 stands for a size that does not follow from the input's shape."""
    import onnx

    model.graph.ClearField("output")
    model.graph.output.extend(onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in layers)
    model.graph.ClearField("value_info")
    with_shapes = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return {
        each.name: [dim.dim_value if dim.HasField("dim_value") else 0 for dim in each.type.tensor_type.shape.dim]
        for each in with_shapes.graph.output
    }


def _width(shape: Sequence[int], layer: str, source: str) -> int:
    if len(shape) not in (2, 4):
        raise ValueError(
            f"{source}: {layer} is {list(shape)}, neither vectors [n, d] nor maps [n, d, h, w]; "
            "export a pooled output, or name another layer"
        )
    if not shape[1]:
        raise ValueError(f"{source}: the vectors of {layer} have no fixed length; export one of a fixed length")
    return shape[1]


def _pooled(model: Any, layer: str) -> str:
    from onnx import helper

    model.graph.node.append(helper.make_node("GlobalAveragePool", [layer], [f"{layer}.mean"]))
    model.graph.node.append(helper.make_node("Flatten", [f"{layer}.mean"], [f"{layer}.pooled"], axis=1))
    return f"{layer}.pooled"


def _serialized(model: Any, source: str) -> bytes:
    import onnx

    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{source} is not a valid ONNX graph ({reason}); export it anew") from error
    model.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    for node in model.graph.node:  # an exporter's notes hold the paths of its machine
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    return bytes(model.SerializeToString())


def _shown(tensor: Any) -> str:
    dims = [str(each.dim_value) if each.HasField("dim_value") else each.dim_param or "?" for each in tensor.shape.dim]
    return f"[{', '.join(dims)}]"
