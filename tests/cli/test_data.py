"""`corel data` as a user runs it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from corel.cli import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["data", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("ant/1.png", "ant/2.png", "bee/3.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    (tmp_path / "bee" / "broken.png").touch()
    return tmp_path


def test_show_counts_images_and_lists_what_was_skipped(folder: Path) -> None:
    result = run("show", str(folder))
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:2] == ["3", "images"]
    assert lines[2:4] == [["2", "ant"], ["1", "bee"]]
    assert lines[4] == ["1", "skipped"]
    assert lines[5][0] == "bee/broken.png"


def test_show_prints_names_that_are_no_text(folder: Path) -> None:
    os.rename(os.fsencode(folder / "bee"), os.fsencode(folder) + b"/bee\xff")  # noqa: PTH104 (bytes)
    result = run("show", str(folder))
    assert result.exit_code == 0, result.output
    assert "bee" in result.stdout.splitlines()[3]


def test_show_strict_is_one_sentence_and_exit_code_2(folder: Path) -> None:
    result = run("show", str(folder), "--strict")
    assert result.exit_code == 2
    assert "bee/broken.png is an empty file" in result.stderr
    assert result.stderr.startswith("corel: --strict forbids skipping, but 1 of")
    assert "Traceback" not in result.output


def test_counts_of_one_are_in_the_singular(folder: Path) -> None:
    (image,) = (folder / "bee").glob("3.png")
    assert run("show", str(image)).stdout.startswith("1 image from a list of 1 file\n")
    assert "from a list of 1 file; " in run("show", str(folder / "bee" / "broken.png")).stderr


def test_show_without_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((4, 8, 8), np.uint8))
    assert run("show", str(tmp_path / "a.npy")).stdout.splitlines() == [
        f"4 images from {tmp_path / 'a.npy'}",
        "without labels",
    ]


def test_list_says_where_each_dataset_is(tmp_path: Path) -> None:
    fashion = tmp_path / "fashion-mnist" / "train-images-idx3-ubyte"
    fashion.parent.mkdir()
    fashion.touch()
    result = run("list", "--data", str(tmp_path))
    rows = {line.split()[0]: line for line in result.stdout.splitlines()[1:]}
    assert rows["fashion-mnist"].endswith(str(fashion.parent))
    assert rows["cifar10"].split()[1:] == ["10", "50,000", "10,000", "not", "found"]
    assert rows["digits"].endswith("comes with scikit-learn")


@pytest.mark.parametrize(("name", "sentence"), [("imagenet", "register at"), ("nothing", "choose one of cifar10")])
def test_fetch_of_what_cannot_be_fetched_is_one_sentence(name: str, sentence: str, tmp_path: Path) -> None:
    result = run("fetch", name, str(tmp_path))
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_every_command_has_an_example() -> None:
    for name in ("fetch", "list", "show"):
        assert f"corel data {name}" in run(name, "--help").stdout
