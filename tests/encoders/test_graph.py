"""Which ONNX graphs are taken, what is left of them, and what is said of the others."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto, helper

from corel.encoders import graph, graph_steps
from corel.encoders.pretrained import run_graph, start
from tests.encoders.small_graph import SIZE, WIDTH, content, expected, model, weights

pytestmark = pytest.mark.usefixtures("one_thread")
IMAGES = np.random.default_rng(1).random((5, 3, SIZE, SIZE), np.float32)


def run(checked: graph.Graph) -> Any:
    """Give the graph's own vectors: the network returns them at length 1."""
    return run_graph(start(checked.content), checked, IMAGES)


def test_pooled_output_is_the_graphs_own() -> None:
    checked = graph.check(content(), "small.onnx")
    assert (checked.size, checked.width, checked.batch) == (SIZE, WIDTH, 0)
    assert_allclose(run(checked), expected(IMAGES), atol=1e-6)


def test_nodes_that_no_output_needs_are_removed() -> None:
    kept = onnx.load_model_from_string(graph.check(content(output="logits"), "x", layers=["pooled"]).content)
    assert [each.name for each in kept.graph.initializer] == ["kernel"]
    assert "MatMul" not in [node.op_type for node in kept.graph.node]


def test_layers_are_averaged_over_places_normalized_and_joined() -> None:
    checked = graph.check(content(), "x", layers=["middle", "logits"])
    found = run(checked)
    assert checked.width == found.shape[1] == WIDTH + 4
    assert_allclose(np.linalg.norm(found[:, :WIDTH], axis=1), 1, atol=1e-6)
    assert_allclose(np.linalg.norm(found[:, WIDTH:], axis=1), 1, atol=1e-6)
    unit = expected(IMAGES) / np.linalg.norm(expected(IMAGES), axis=1, keepdims=True)
    assert_allclose(found[:, :WIDTH], unit, atol=1e-6)


def test_a_graph_of_any_size_takes_the_size_given() -> None:
    assert graph.check(content(("n", 3, "h", "w")), "x", size=SIZE).size == SIZE


def test_graph_of_a_fixed_batch_takes_any_number_of_images() -> None:
    for batch in (1, 2, 7):
        checked = graph.check(content((batch, 3, SIZE, SIZE)), "x")
        assert checked.batch == batch
        assert_allclose(run(checked), expected(IMAGES), atol=1e-6)


def test_normalization_becomes_part_of_the_graph() -> None:
    mean, deviation = (0.5, 0.4, 0.3), (0.2, 0.25, 0.5)
    shaped = [np.array(each, np.float32).reshape(1, 3, 1, 1) for each in (mean, deviation)]
    checked = graph.check(content(), "x")
    within = graph.check_again(graph_steps.normalize(checked.content, mean, deviation), "x")
    assert_allclose(run(within), expected((IMAGES - shaped[0]) / shaped[1]), atol=1e-5)


def test_half_precision_rounds_large_weights_and_nothing_else() -> None:
    wide = model()
    wide.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((64, 64), np.float32) / 3, "large"))
    rounded = onnx.load_model_from_string(graph_steps.half(wide.SerializeToString()))
    kept = {each.name: onnx.numpy_helper.to_array(each) for each in rounded.graph.initializer}
    assert kept["large.half"].dtype == np.float16
    assert_array_equal(kept["kernel"], weights()[0])  # too small to save anything


def test_a_stored_graph_is_checked_again() -> None:
    stored = graph.check(content(), "x").content
    assert graph.check_again(stored, "x").width == WIDTH
    with pytest.raises(ValueError, match="one output"):
        graph.check_again(content(), "the backbone's graph")


def outside(tmp_path: Path) -> bytes:
    # onnx marks a large enough tensor as external when it is saved so.
    large = model()
    large.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((64, 64), np.float32), "large"))
    onnx.save(large, tmp_path / "x.onnx", save_as_external_data=True, location="x.data")
    return (tmp_path / "x.onnx").read_bytes()


def two_inputs() -> bytes:
    made = model(nodes=[helper.make_node("Add", ["pooled", "more"], ["sum"])], output="sum")
    made.graph.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, ["n", WIDTH]))
    return bytes(made.SerializeToString())


def node(operator: str, **others: Any) -> bytes:
    return content(nodes=[helper.make_node(operator, ["pooled"], ["end"], **others)], output="end")


def loop() -> bytes:
    body = helper.make_graph([helper.make_node("Identity", ["pooled"], ["x"])], "body", [],
                             [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)])  # fmt: skip
    condition = helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [True]))
    branch = helper.make_node("If", ["yes"], ["end"], then_branch=body, else_branch=body)
    return content(nodes=[condition, branch], output="end")


def varying() -> bytes:
    """Vectors as long as there are positive values."""
    nodes = [helper.make_node("NonZero", ["pooled"], ["where"]), helper.make_node("Cast", ["where"], ["end"], to=1)]
    return content(nodes=nodes, output="end")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: b"no graph", "is no ONNX graph"),
        (lambda: b"", "empty ONNX graph"),
        (two_inputs, r"has 2 inputs \(images, more\)"),
        (lambda: node("Sharpen", domain="com.example"), "custom operator com.example.Sharpen"),
        (lambda: node("Sharpen"), "unknown operator Sharpen"),
        (loop, "control flow If"),
        (lambda: node("RandomNormalLike"), "random numbers"),
        (varying, "no fixed length"),
        (lambda: content(output="map"), None),
        (lambda: content(("n", 3, "h", "w")), "size is needed, since"),
        (lambda: content(("n", SIZE, SIZE, 3)), r"takes \[n, 16, 16, 3\]"),
    ],
)
def test_other_graphs_are_refused_with_a_clear_error(made: Any, said: str | None) -> None:
    if said is None:  # a map is averaged over its places, not refused
        assert graph.check(made(), "x.onnx").width == WIDTH
        return
    with pytest.raises(ValueError, match=said) as caught:
        graph.check(made(), "x.onnx")
    assert "\n" not in str(caught.value)


def test_external_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="external data"):
        graph.check(outside(tmp_path), "x.onnx")


def with_attribute(kind: str, field: str) -> bytes:
    """A graph with a constant whose values are in another file."""
    values = TensorProto(name="v", data_type=1, dims=[WIDTH], data_location=TensorProto.EXTERNAL)
    values.external_data.add(key="location", value="/etc/passwd")
    indices = onnx.numpy_helper.from_array(np.arange(WIDTH), "i")
    value = onnx.SparseTensorProto(values=values, indices=indices, dims=[WIDTH]) if "sparse" in field else values
    attribute = onnx.AttributeProto(name="sparse_value", type=onnx.AttributeProto.AttributeType.Value(kind))
    several = field.endswith("s")
    getattr(attribute, field).MergeFrom([value] if several else value)
    constant = helper.make_node("Constant", [], ["c"])
    constant.attribute.append(attribute)
    return content(nodes=[constant, helper.make_node("Add", ["pooled", "c"], [graph.OUTPUT])], output=graph.OUTPUT)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("SPARSE_TENSOR", "sparse_tensor"),
        ("SPARSE_TENSORS", "sparse_tensors"),
        ("TENSORS", "tensors"),
        ("UNDEFINED", "sparse_tensor"),
    ],
)
def test_constants_that_could_read_another_file_are_refused(kind: str, field: str) -> None:
    for check in (graph.check, graph.check_again):
        with pytest.raises(ValueError, match=r"sparse or listed tensors \(Constant\); export it with dense constants"):
            check(with_attribute(kind, field), "x.onnx")


def test_a_branch_without_a_declared_type_is_refused_too() -> None:
    made = onnx.load_model_from_string(loop())
    for attribute in made.graph.node[-1].attribute:
        attribute.ClearField("type")
    with pytest.raises(ValueError, match="control flow If"):
        graph.check(made.SerializeToString(), "x.onnx")


def test_another_size_than_the_graphs_is_refused() -> None:
    with pytest.raises(ValueError, match=r"size is 32, but .* takes images of 16 pixels"):
        graph.check(content(), "x.onnx", size=32)


def test_unknown_layer_gets_the_nearest_names() -> None:
    with pytest.raises(ValueError, match=r"'midle', which .* has not; near it are middle"):
        graph.check(content(), "x.onnx", layers=["midle"])


def test_a_newer_operator_set_asks_for_an_upgrade() -> None:
    made = model()
    made.opset_import[0].version = 999
    with pytest.raises(ValueError, match=r"operator set 999 .* pip install --upgrade"):
        graph.check(made.SerializeToString(), "x.onnx")


def test_file_of_2_gb_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge.onnx").open("wb") as file:
        file.truncate(2**31)  # takes no room on the disk
    with pytest.raises(ValueError, match="2 GB or more"):
        graph.read(tmp_path / "huge.onnx")


def test_a_missing_or_old_runtime_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    monkeypatch.setattr(onnxruntime, "__version__", "1.9.0")
    with pytest.raises(ImportError, match=r"onnxruntime 1\.9\.0 is too old"):
        graph.check(content(), "x.onnx")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'corel\[onnx\]'"):
        graph.check(content(), "x.onnx")
