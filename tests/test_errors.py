"""An error about an argument carries the argument's name as data, and gives its sentence under any name."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import corel
from corel._errors import ArgumentError, ArgumentIndexError, ArgumentTypeError, renamed
from corel.losses import connectivity_loss
from corel.persistence import death_times
from corel.training import TrainConfig

PACKAGE = Path(corel.__file__).parent
ROOMS = (
    "backbone", "baselines", "encoders", "evaluation", "finding", "gallery", "images", "losses", "oneclass",
    "persistence", "scale", "sorting", "theory", "training", "watching",
)  # fmt: skip
# Plain errors here are about what a file or an item holds; the sentence names it, or the caller adds its name.
READERS = ("_io", "images/known", "images/_arrays.py", "images/_convert.py", "images/_photo.py", "backbone/_file.py",
           "training/_checkpoint.py", "images/_datasets.py")  # fmt: skip


@pytest.mark.parametrize("kind", [ArgumentError, ArgumentIndexError, ArgumentTypeError])
def test_the_name_is_data_and_survives_pickling(kind: type[ArgumentError]) -> None:
    error = pickle.loads(pickle.dumps(kind("epochs", "must be at least 1, got 0")))
    assert (type(error), error.argument, str(error)) == (kind, "epochs", "epochs must be at least 1, got 0")
    assert error.called("--epochs") == "--epochs must be at least 1, got 0"


def test_an_error_is_raised_under_the_name_that_the_caller_knows() -> None:
    with pytest.raises(ArgumentError, match=r"^photos must be an array$") as caught, renamed(source="photos"):
        raise ArgumentError("source", "must be an array")
    assert caught.value.argument == "photos"
    assert pickle.loads(pickle.dumps(caught.value)).argument == "photos"


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: TrainConfig(batch_size=1), "batch_size"),
        (lambda: TrainConfig.preset("ours"), "preset"),
        (lambda: corel.images.open(np.zeros((2, 8, 8, 3), np.uint8), size=0), "size"),
        (lambda: corel.images.open(np.zeros((2, 8, 8, 3), np.uint8), split="half"), "split"),
        (lambda: connectivity_loss(torch.zeros(3, 2), eta=0.0), "eta"),
        (lambda: connectivity_loss(torch.full((3, 2), torch.nan)), "points"),
        (lambda: corel.ConnectivityLoss(branches=3)(torch.zeros(4, 8)), "latents"),
        (lambda: death_times(torch.zeros(3, 2), p=0.5), "p"),
        (lambda: death_times(torch.zeros(3, dtype=torch.int64)), "points"),
        (lambda: death_times(torch.tensor([[0.0], [np.nan]])), "points"),
        (lambda: death_times(distances=torch.full((2, 2), torch.inf)), "distances"),
        (lambda: corel.images.open(np.zeros(3)), "source"),
        (lambda: corel.images.open(np.full((2, 8, 8, 3), 300.0)), "source"),
        (lambda: corel.images.open(object()), "source"),
        (lambda: corel.images.ImageSet(np.zeros((1, 4, 4, 3), np.uint8), None, (), [], "none"), "names"),
        (lambda: corel.find(np.zeros((2, 2, 2, 2)), (0, 0, 1, 1)), "photo"),
        (lambda: corel.find(np.zeros((64, 64, 3), np.uint8), (0, 0, 99, 9)), "box"),
        (lambda: corel.Backbone.load().encode(np.zeros((2, 8, 8, 3), np.uint8)), "images"),
        (lambda: corel.Backbone.wrap("vectors", np.zeros(3)), "background"),
        (lambda: corel.Backbone.wrap("lite", np.zeros(3)), "encoder"),
        (lambda: corel.train(np.zeros((9, 3, 3))), "images"),
        (lambda: corel.evaluate(corel.Backbone.load(), np.zeros((2, 8, 8, 3)), np.zeros((2, 8, 8, 3))), "train"),
        (lambda: corel.OneClass(branches=2).fit(np.zeros((4, 3))), "branches"),
        (lambda: corel.OneClass().fit(np.zeros((4, 3))).forget([7]), "indices"),
    ],
)
def test_the_library_says_which_argument_is_wrong(call: Callable[[], Any], argument: str) -> None:
    kinds = (ArgumentError, ArgumentIndexError, ArgumentTypeError)
    with pytest.raises(kinds, match=f"^{argument} ") as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda gallery: gallery.score(np.zeros(3)), "images"),
        (lambda gallery: gallery.enroll("b", np.full((2, 8, 8, 3), 300.0)), "images"),
        (lambda gallery: gallery.enroll("a/b", np.zeros((1, 8, 8, 3), np.uint8)), "name"),
        (lambda gallery: gallery.explain(np.zeros((2, 8, 8, 3), np.uint8)), "image"),
        (lambda gallery: gallery.explain(np.zeros(3)), "image"),
        (lambda gallery: gallery.tune(np.zeros(3), np.zeros(3)), "members"),
        (lambda gallery: gallery.forget("z"), "name"),
        (lambda gallery: gallery.forget("a", ["zzz"]), "which"),
        (lambda gallery: gallery.rename("a", "b/c"), "new"),
        (lambda gallery: gallery.rename("a", "b"), "new"),
    ],
)
def test_a_gallery_says_which_argument_is_wrong(
    call: Callable[[corel.Gallery], Any], argument: str, tmp_path: Path
) -> None:
    pictures = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
    with corel.Gallery.open(tmp_path / "a.gallery", create=True) as gallery:
        gallery.enroll("a", pictures[:2])
        gallery.enroll("b", pictures[2:])
        with pytest.raises(ArgumentError, match=f"^{argument} ") as caught:
            call(gallery)
    assert caught.value.argument == argument


def test_no_plain_error_is_about_an_argument() -> None:
    arguments = set(public_arguments())
    assert {"images", "source", "rate", "latents", "points", "train", "background"} <= arguments
    wrong = [
        f"{place}: {sentence}"
        for place, sentence in plain_errors()
        if re.match(r"\w*", sentence)[0] in arguments or re.search(r"\.(shape|dtype)\b", sentence)  # type: ignore[index]
    ]
    assert not wrong, "raise ArgumentError with the argument's name instead:\n" + "\n".join(wrong)


def public_arguments() -> Iterator[str]:
    """The names of the arguments of all public functions, classes and methods."""
    for room in ROOMS:
        module = importlib.import_module(f"corel.{room}")
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            found = getattr(module, name)
            methods = vars(found).items() if inspect.isclass(found) else ()
            for each in (found, *(each for key, each in methods if key == "__init__" or key[0] != "_")):
                if inspect.isfunction(each):
                    yield from inspect.signature(each).parameters


def plain_errors() -> Iterator[tuple[str, str]]:
    """Where a plain ValueError, TypeError or IndexError is raised or made, and the beginning of its sentence."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith(("cli/", "serve/", *READERS)):  # the first two name options and fields of a form
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="ValueError" | "TypeError" | "IndexError"), args=[sentence, *_]):
                    yield f"{place}:{node.lineno}", ast.unparse(sentence).removeprefix("f").strip("'\"")
