"""Results never overwrite another file of the user: no input, no file of another type, no link or pipe."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from corel._io.atomic import appearing, write_atomically
from corel._io.filetype import BINARY, PARQUET, PDF, PNG, SAFETENSORS, TEXT
from corel.cli._outputs import Output, check_outputs

from .conftest import Corel

# Each would replace a file that is no earlier result of the command; and what its sentence must name.
LOSSES = [
    ("score GALLERY new --out GALLERY", "reads"),
    ("score GALLERY new --out new/red.png", "reads"),
    ("score GALLERY new --out new/broken.png", "reads"),
    ("score GALLERY new --out other.png", "a PNG image"),
    ("score GALLERY new --backbone BACKBONE --out BACKBONE", "reads"),
    ("score GALLERY new --format parquet --out notes.txt", "a text file"),
    ("explain GALLERY new/red.png red --out new/red.png", "reads"),
    ("explain GALLERY new/red.png red --out linked.png", "reads"),
    ("explain GALLERY new/red.png red --out other.png", "a PNG image"),
    ("explain GALLERY new/red.png red --out GALLERY", ".png, .svg, .pdf"),
    ("explain GALLERY new/red.png red --out why.txt", "--out why.txt ends in .txt"),
    ("train digits --epochs 1 --out GALLERY", "a gallery"),
    ("train digits --epochs 1 --out notes.txt", "a text file"),
    ("train digits --epochs 1 --out b.run", "reads or writes"),
    ("train --features splits.npz --out splits.npz", "reads"),
    ("train digits --epochs 1 --out b.safetensors --report GALLERY", "--report"),
    ("evaluate splits.npz --backbone BACKBONE --out BACKBONE", "reads"),
    ("evaluate splits.npz --backbone BACKBONE --report splits.npz", "reads"),
    ("evaluate digits --out both --report both", "--report both"),
    ("evaluate digits --out splits.npz", "an .npz or .zip file"),
    ("backbone export BACKBONE --onnx BACKBONE", "reads"),
    ("backbone export BACKBONE --onnx GALLERY", "a gallery"),
]


@pytest.mark.parametrize(("line", "named"), LOSSES)
def test_an_output_that_would_overwrite_another_file_is_refused(
    line: str,
    named: str,
    corel: Corel,
    gallery: Path,
    backbone_file: Path,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").mkdir()
    for place in ("new/red.png", "other.png"):
        shutil.copy(photos / "classes" / "red" / "00.png", tmp_path / place)
    (tmp_path / "new" / "broken.png").write_text("not an image")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "linked.png").symlink_to("new/red.png")
    np.savez(tmp_path / "splits.npz", features=np.zeros((9, 4)))
    backbone = shutil.copy(backbone_file, tmp_path)
    before = contents(tmp_path)
    places = {"GALLERY": gallery, "BACKBONE": backbone}
    result = corel(*(places.get(word, word) for word in line.split()), exits=2)
    assert named in result.stderr
    assert result.stderr.count("\n") == 1
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("style", ["csv", "parquet"])
def test_a_full_disk_is_named_by_the_file(
    style: str, corel: Corel, gallery: Path, photos: Path, tmp_path: Path
) -> None:
    partial = tmp_path / "rows.partial"
    partial.symlink_to("/dev/full")
    image = photos / "classes" / "red" / "00.png"
    said = corel("score", gallery, image, "--format", style, "--out", tmp_path / "rows", exits=2).stderr
    assert f"corel: {partial}: No space left on device" in said


def test_an_earlier_result_may_be_replaced(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    image = photos / "classes" / "red" / "00.png"
    for name in ("why.png", "why.svg", "why.pdf"):
        written = set()
        for asked in ("red", "green"):
            corel("explain", gallery, image, asked, "--out", tmp_path / name)
            written.add((tmp_path / name).read_bytes())
        assert len(written) == 2
    for style in ("table", "csv", "jsonl", "parquet"):
        written = set()
        for scored in (image, photos / "classes" / "blue"):
            corel("score", gallery, scored, "--format", style, "--out", tmp_path / f"rows.{style}")
            written.add((tmp_path / f"rows.{style}").read_bytes())
        assert len(written) == 2


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"image,class\n", TEXT), ("α̂ ± 1".encode(), TEXT), (b"\x08\x0a\x12\x07pytorch", BINARY), (b"PAR1", PARQUET),
     (b"%PDF-1.4", PDF), (b"\x89PNG\r\n\x1a\n\0", PNG), (b"", TEXT), (b"", SAFETENSORS)],
)  # fmt: skip
def test_a_file_of_the_kind_that_is_written_may_be_replaced(content: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(content)
    check_outputs([None, "nowhere"], Output("--out", tmp_path / "there", kind), Output("--report", None, TEXT))


def test_a_folder_that_allows_no_new_files_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # a root user may write anywhere
    with pytest.raises(ValueError, match="its folder allows no new files"):
        check_outputs([], Output("--out", tmp_path / "x.json", TEXT))


def test_the_same_file_under_another_name_is_still_an_input(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("mine")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    with pytest.raises(ValueError, match=r"--out .*two would replace what this command reads"):
        check_outputs([tmp_path / "one"], Output("--out", tmp_path / "two", TEXT))


def test_a_link_stays_and_its_target_is_written(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "rows.csv", tmp_path / "elsewhere" / "rows.csv"
    link.symlink_to(target)
    for _ in range(2):  # it leads nowhere at first
        corel("score", gallery, photos / "classes" / "blue", "--format", "csv", "--out", link)
        assert link.is_symlink()
        assert target.read_text().startswith("image,")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["rows.csv"]


def test_a_pipe_is_written_to_and_stays(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    pipe, image = tmp_path / "pipe", photos / "classes" / "red" / "00.png"
    os.mkfifo(pipe)
    for command in (("score", gallery, image, "--format", "csv"), ("explain", gallery, image, "red")):
        received: list[bytes] = []
        reader = threading.Thread(target=lambda into: into.append(pipe.read_bytes()), args=(received,), daemon=True)
        reader.start()
        corel(*command, "--out", pipe)
        reader.join(timeout=60)
        assert received[0].startswith((b"image,", b"\x89PNG"))
        assert pipe.is_fifo()


def test_a_device_is_written_to_and_stays() -> None:
    with appearing(Path("/dev/null")) as place:
        assert place == Path("/dev/null")
    write_atomically(Path("/dev/null"), b"nothing")
    assert Path("/dev/null").is_char_device()


def test_a_picture_is_recognized_by_its_first_bytes_not_its_name(tmp_path: Path) -> None:
    for style in ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF"):
        Image.new("RGB", (9, 9), "red").save(tmp_path / "rows.csv", style)
        with pytest.raises(ValueError, match=r"rows\.csv is a"):
            check_outputs([], Output("--out", tmp_path / "rows.csv", TEXT))
