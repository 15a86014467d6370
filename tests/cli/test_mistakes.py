"""Whatever is wrong with a command line is one sentence that names it, on standard error, with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Corel
from .test_app import all_commands

# For each command: lines that go wrong, and what their sentence must name. HERE is a file that is no good for anything.
MISTAKES = {
    "demo": [("--out HERE", "HERE is a file")],
    "enroll": [
        ("new.gallery cat nowhere", "no file, folder or match for 'nowhere'"),
        ("new.gallery nowhere --by-folder", "no file or folder 'nowhere'"),
        ("new.gallery cat", "name a class and its images"),
        ("new.gallery cat HERE --backbone nowhere", "no backbone at nowhere"),
        ("new.gallery cat -", "no image was named"),
    ],
    "score": [
        ("nowhere HERE", "no gallery nowhere"),
        ("GALLERY nowhere", "no file, folder or match for 'nowhere'"),
        ("GALLERY IMAGE --rate 2", "--rate"),
        ("GALLERY IMAGE --format xml", "'table', 'csv', 'jsonl', 'parquet'"),
        ("GALLERY IMAGE --out .", "--out"),
        ("GALLERY IMAGE --out HERE/rows.csv", "HERE"),
        ("GALLERY", "IMAGES"),
    ],
    "explain": [
        ("nowhere IMAGE red", "no gallery nowhere"),
        ("GALLERY nowhere red", "no file or folder 'nowhere'; check the path\n"),
        ("GALLERY IMAGE red --out a.txt", "--out a.txt ends in .txt; pictures are written as .png, .svg, .pdf"),
        ("GALLERY IMAGE yellow", "NAME 'yellow' is no class of the gallery"),
        ("GALLERY IMAGE red --out .", "--out"),
    ],
    "find": [
        ("nowhere --box 0,0,40,40", "no photograph nowhere"),
        ("HERE --box 0,0,40,40", "HERE is no JPEG"),
        ("IMAGE", "look for what? Give --box"),
        ("IMAGE --box 1,2,3", "--box takes four whole numbers"),
        ("IMAGE --gallery nowhere --class red", "no gallery nowhere"),
    ],
    "serve": [("HERE", "HERE is not a gallery"), ("GALLERY --port 99999999", "--port")],
    "classes": [("nowhere", "no gallery nowhere"), ("GALLERY yellow", "NAME 'yellow' is no class of the gallery")],
    "forget": [("nowhere red", "no gallery nowhere"), ("GALLERY red --hash zzzzzz", "zzzzzz")],
    "audit": [("nowhere", "no gallery nowhere"), ("GALLERY yellow", "NAME 'yellow' is no class of the gallery")],
    "sort": [
        ("nowhere . --into sorted --how copy", "no gallery nowhere"),
        ("GALLERY nowhere --into sorted --how copy", "nowhere"),
        ("GALLERY . --how copy", "--into"),
        ("GALLERY . --into sorted", "--how"),
    ],
    "unsort": [("nowhere", "nowhere"), ("HERE", "HERE")],
    "watch": [
        ("nowhere . --out rows.csv --once", "no gallery nowhere"),
        ("GALLERY nowhere --out rows.csv --once", "nowhere"),
        ("GALLERY . --out rows.txt --once", "rows.txt"),
    ],
    "select": [
        ("nowhere HERE", "no gallery nowhere"),
        ("GALLERY nowhere", "no file, folder or match for 'nowhere'"),
        ("GALLERY IMAGE --fdr 2", "--fdr"),
    ],
    "tune": [
        ("nowhere --members IMAGE --strangers IMAGE", "no gallery nowhere"),
        ("GALLERY --members nowhere --strangers IMAGE", "nowhere"),
        ("GALLERY --members IMAGE --strangers IMAGE --stop much", "--stop"),
    ],
    "evaluate": [
        ("nowhere", "no file or folder 'nowhere'"),
        ("digits -m 0", "-m"),
        ("digits -m 5000", "5000 are needed"),
        ("digits --score best", "'count', 'contrast'"),
        ("digits --report .", "--report"),
        ("digits --seed -1", "'--seed'"),
    ],
    "diagnose": [
        ("nowhere", "nowhere"),
        ("--backbone nowhere", "no backbone at nowhere"),
        ("--images nowhere", "no file or folder 'nowhere'"),
        ("--batches none", "--batches"),
        ("--seed -1", "'--seed'"),
        ("--backbone GALLERY", "is a gallery or another SQLite file, not a corel backbone"),
    ],
    "train": [
        ("nowhere --out b.safetensors", "no file or folder 'nowhere'"),
        ("--features nowhere --out b.safetensors", "nowhere"),
        ("--out b.safetensors", "Give either SOURCE"),
        ("digits", "--out"),
        ("digits --out .", "--out"),
        ("digits --out HERE/b.safetensors", "HERE"),
        ("digits --out b.safetensors --preset best", "--preset must be one of authors, "),
        ("digits --out b.safetensors --epochs 0", "--epochs must be at least 1"),
        ("digits --out b.safetensors --seed -1", "--seed must be finite and not negative"),
        ("digits --out b.safetensors --size 12", "--size is 12"),
        ("digits --out b.safetensors --batch-size 9999", "--batch-size is 9999 but there are"),
        (
            "digits --out b.safetensors --cloud-size 101",
            "--cloud-size must be from 2 to the batch size, which is 100, got 101",
        ),
        ("digits --out b.safetensors --precision double", "'float32'"),
    ],
    "backbone show": [("nowhere", "no backbone at nowhere")],
    "backbone list": [("nowhere", "nowhere")],
    "backbone wrap": [
        ("nowhere --background HERE --out b.safetensors", "ENCODER 'nowhere' is unknown"),
        ("lite0 --background nowhere --out b.safetensors", "no file or folder 'nowhere'"),
        ("lite0 --background HERE", "--out"),
    ],
    "backbone export": [("nowhere --onnx e.onnx", "no backbone at nowhere"), ("cifar10-16x10", "--onnx")],
    "data fetch": [("nowhere .", "no dataset 'nowhere'"), ("cifar10 HERE", "HERE"), ("cifar10", "DIR")],
    "data list": [("nowhere", "nowhere"), ("--data HERE", "HERE")],
    "data show": [
        ("nowhere", "no file or folder 'nowhere'"),
        ("digits --split half", "--split must be 'train' or 'test'"),
    ],
}


def test_every_command_is_tried() -> None:
    assert set(MISTAKES) == {" ".join(path) for path in all_commands()}


@pytest.mark.parametrize(
    ("command", "line", "named"),
    [(command, line, named) for command, lines in MISTAKES.items() for line, named in lines],
)
def test_a_mistake_is_one_sentence(
    command: str,
    line: str,
    named: str,
    corel: Corel,
    gallery: Path,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HERE").write_text("nothing that corel reads")
    places = {"GALLERY": gallery, "IMAGE": photos / "classes" / "red" / "00.png"}
    result = corel(*command.split(), *(places.get(word, word) for word in line.split()), exits=2)
    assert result.stdout == ""
    assert result.stderr.startswith("corel: ")
    assert result.stderr.count("\n") == 1
    assert named in result.stderr
    assert "Errno" not in result.stderr
    assert "unexpected " not in result.stderr.replace("unexpected extra argument", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["HERE", "hues.gallery"]


def test_results_are_printed_before_a_file_fails(corel: Corel, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = corel(
        "evaluate", "digits", "-m", 5, "--draws", 1, "--no-controls", "--out", tmp_path / "file" / "a", exits=2
    )
    assert "contrast" in result.stdout
    assert result.stderr.startswith(f"corel: {tmp_path / 'file' / 'a'}: cannot write it")


def test_a_bare_command_shows_its_help(corel: Corel) -> None:
    for group in ((), ("data",), ("backbone",)):
        result = corel(*group, exits=2)
        assert "Usage: corel" in result.output
        assert result.stderr == ""
