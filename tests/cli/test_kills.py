"""A gallery survives what happens to processes: SIGKILL in the middle, two writers at once, a full disk."""

from __future__ import annotations

import csv
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pytest
from PIL import Image

from .conftest import Corel, hue

IMAGES = 300


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for i, pixels in enumerate(hue(2, IMAGES, seed=3)):
        Image.fromarray(pixels).save(folder / f"{i}.png")
    return folder


@pytest.fixture(scope="module")
def forked(many: Path, backbone_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    program = Path(__file__).with_name("forked.py")
    paths = (tmp_path_factory.mktemp("forked"), many, backbone_file)
    command = [sys.executable, str(program), *map(str, paths)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_kill_at_any_moment_leaves_the_gallery_as_before_or_after(forked: dict[str, Any]) -> None:
    assert len(forked["kills"]) >= 20
    for kill in forked["kills"]:
        assert kill["found"] in (kill["before"], {**kill["before"], kill["name"]: IMAGES})


def test_a_kill_inside_a_transaction_leaves_the_gallery_as_before(forked: dict[str, Any]) -> None:
    assert len(forked["inside"]) == 4
    for kill in forked["inside"]:
        assert (kill["exit"], kill["found"]) == (-signal.SIGKILL, kill["before"])


def test_a_kill_while_a_gallery_is_created_leaves_none(forked: dict[str, Any]) -> None:
    assert len(forked["creations"]) == 4
    for creation in forked["creations"]:
        assert (creation["exits"], creation["left"]) == ([-signal.SIGKILL, 0], 0)
        assert creation["found"] == {"class": IMAGES}


def test_two_commands_that_create_a_gallery_at_once_both_succeed(forked: dict[str, Any]) -> None:
    assert forked["together"] == {"exits": [0, 0], "found": {"one": IMAGES, "two": IMAGES}}


def test_a_full_disk_leaves_the_gallery_as_it_was(corel: Corel, gallery: Path, many: Path) -> None:
    before = gallery.read_bytes()
    with _largest_file(len(before) + 20_000):
        result = corel("enroll", gallery, "many", many, exits=2)
    assert "free space and try again" in result.stderr
    assert gallery.read_bytes() == before
    assert corel("enroll", gallery, "many", many).stdout == f"many: {IMAGES} new\n"


def test_a_full_disk_leaves_no_half_written_results(corel: Corel, gallery: Path, many: Path, tmp_path: Path) -> None:
    corel("score", gallery, many)  # whatever is compiled on first use finds room for its cache
    (tmp_path / "r.csv").write_text("earlier results")
    with _largest_file(4096):
        corel("score", gallery, many, "--format", "csv", "--out", tmp_path / "r.csv", exits=2)
    assert (tmp_path / "r.csv").read_text() == "earlier results"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hues.gallery", "r.csv"]


@pytest.mark.parametrize(
    ("style", "sent"),
    [("csv", signal.SIGINT), ("jsonl", signal.SIGTERM), ("csv", signal.SIGKILL), ("parquet", signal.SIGKILL)],
)
def test_an_interrupted_command_keeps_the_rows_scored_so_far(
    gallery: Path, many: Path, tmp_path: Path, style: str, sent: signal.Signals
) -> None:
    out, partial = tmp_path / "rows", tmp_path / "rows.partial"
    out.write_text("earlier results\n") if style != "parquet" else None
    command = [
        sys.executable,
        "-m",
        "corel",
        "score",
        str(gallery),
        "-",
        "--quiet",
        "--format",
        style,
        "--out",
        str(out),
    ]
    names = "".join(f"{many}/{i}.png\n" for i in range(256))  # a whole batch; then it waits for more
    pipes: Any = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, preexec_fn=_interruptible) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(names)
        process.stdin.flush()
        while process.poll() is None and _written(partial, style) < 256:
            time.sleep(0.05)
        process.send_signal(sent)
        said = process.stderr.read()
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[sent], said
    assert (str(partial) in said) == (sent != signal.SIGKILL)
    if style == "parquet":
        kept = _arrow_names(partial)
    elif style == "csv":
        kept = [row["image"] for row in csv.DictReader(partial.read_text().splitlines())]
    else:
        kept = [json.loads(line)["image"] for line in partial.read_text().splitlines()]
    assert "".join(f"{name}\n" for name in kept) == names
    assert style == "parquet" or out.read_text() == "earlier results\n"


def _interruptible() -> None:
    """A program that was started in the background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _written(partial: Path, style: str) -> int:
    """Count the rows that are wholly in the file."""
    if not partial.exists():
        return 0
    if style != "parquet":
        return partial.read_bytes().count(b"\n") - (style == "csv")
    return len(_arrow_names(partial))


def _arrow_names(partial: Path) -> list[str]:
    """The names in all batches that are wholly in an Arrow stream; the last one may be cut off."""
    names: list[str] = []
    with partial.open("rb") as file, suppress(StopIteration, OSError, pyarrow.ArrowInvalid):
        for batch in pyarrow.ipc.open_stream(file):
            names += batch.column("image").to_pylist()
    return names


def test_an_error_keeps_the_rows_scored_before_it(corel: Corel, gallery: Path, many: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"x")
    names = "\n".join(map(str, [*sorted(many.rglob("*.png"))[:256], broken]))
    out, partial = tmp_path / "rows", tmp_path / "rows.partial"
    said = corel("score", gallery, "-", "--strict", "--format", "csv", "--out", out, stdin=names, exits=2).stderr
    assert str(partial) in said.replace("\n", "")
    assert len(partial.read_text().splitlines()) == 1 + 256
    assert not out.exists()
    partial.unlink()
    said = corel("score", gallery, broken, "--strict", "--format", "csv", "--out", out, exits=2).stderr
    assert "so far" not in said
    assert not partial.exists()


def test_a_complete_file_leaves_no_partial_one(corel: Corel, gallery: Path, many: Path, tmp_path: Path) -> None:
    for style in ("csv", "jsonl", "parquet"):
        (tmp_path / f"rows.{style}.partial").write_bytes(b"")  # of an earlier command that was killed
        corel("score", gallery, many, "--format", style, "--out", tmp_path / f"rows.{style}")
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that nobody can write to is found on Linux")
def test_a_folder_that_cannot_be_written(corel: Corel, many: Path, backbone_file: Path) -> None:
    result = corel("enroll", "/proc/self/g", "many", many, "--backbone", backbone_file, exits=2)
    assert "cannot be written" in result.stderr


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    """Let writes beyond `size` fail, as they do on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
