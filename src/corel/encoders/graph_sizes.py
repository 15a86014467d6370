"""How much a graph computes for one image, told from its shapes before anything runs.

An ONNX file of 300 bytes can ask for a tensor of 100 GB, for hours of work, or for 2⁴⁰ calls of a function.
Sizes that follow from the image's size and from constants are bounded here, and sizes that follow from pixels refused.
Shape inference does not follow every computation with constants: what it leaves open is not bounded.
"""

from __future__ import annotations

import math
from typing import Any

LARGEST_VALUE = 1 << 27  # numbers in one value: 512 MB as float32
MOST_VALUES = 1 << 32  # numbers in all values together; a large vision transformer at 518 pixels has 2³⁰
MOST_NODES = 200_000  # after functions are written out

# Operators whose output is as large as some of their inputs say, and which inputs these are.
SIZED_BY = {
    "ConstantOfShape": (0,), "Range": (0, 1, 2), "Expand": (1,), "Tile": (1,), "Upsample": (1,), "Pad": (1,),
    "OneHot": (1,), "Resize": (1, 2, 3), "CenterCropPad": (1,), "AffineGrid": (1,), "Col2Im": (1, 2), "MaxUnpool": (2,),
    "DFT": (1,), "STFT": (1, 3),
}  # fmt: skip


def check_functions(model: Any, source: str) -> None:
    """Refuse functions that call themselves, or that are too many nodes when they are written out."""
    bodies = {(each.domain, each.name): each.node for each in model.functions}
    counts: dict[tuple[str, str], int] = {}

    def count(nodes: Any, inside: tuple[tuple[str, str], ...]) -> int:
        total = 0
        for node in nodes:
            called = node.domain, node.op_type
            if called in inside or total > MOST_NODES:
                raise ValueError(f"{source} has functions that call each other without end; export it anew")
            if called in bodies and called not in counts:
                counts[called] = count(bodies[called], (*inside, called))
            total += counts.get(called, 1)
        return total

    if count(model.graph.node, ()) > MOST_NODES:
        raise ValueError(f"{source} has more than {MOST_NODES:,} nodes; export a smaller graph")


def check_sizes(model: Any, source: str) -> None:
    """Refuse a graph whose values are too large for one image; the input's size is in the graph already."""
    import onnx

    one = type(model).FromString(model.SerializeToString())
    stored = {tensor.name for tensor in one.graph.initializer}
    (given,) = (each for each in one.graph.input if each.name not in stored)
    given.type.tensor_type.shape.dim[0].dim_value = 1
    _check_sized(one.graph.node, given.name, source)
    one.graph.ClearField("value_info")
    inferred = onnx.shape_inference.infer_shapes(one, data_prop=True).graph
    sizes = {each.name: _size(each) for each in [*inferred.value_info, *inferred.output]}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    if sizes.get(largest, 0) > LARGEST_VALUE or sum(sizes.values()) > MOST_VALUES:
        raise ValueError(
            f"{source} computes {sum(sizes.values()):,} numbers for one image, {sizes[largest]:,} of them in "
            f"{largest[:80]}; use a smaller encoder, or smaller images"
        )


def _check_sized(nodes: Any, image: str, source: str) -> None:
    """Refuse an output whose size depends on pixel values; a size computed from shapes is fixed."""
    of_pixels = {image}
    for node in nodes:
        sizes = [node.input[place] for place in SIZED_BY.get(node.op_type, ()) if place < len(node.input)]
        if of_pixels.intersection(sizes):
            raise ValueError(
                f"{source} has a {node.op_type} whose size depends on the pixels; export it with fixed sizes"
            )
        if node.op_type not in ("Shape", "Size") and of_pixels.intersection(node.input):
            of_pixels.update(node.output)


def _size(value: Any) -> int:
    """Count the numbers of a value; a dimension that is not known counts once."""
    return math.prod(max(1, dim.dim_value) for dim in value.type.tensor_type.shape.dim)
