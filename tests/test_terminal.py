"""Progress is seen on a terminal and nowhere else, and results keep to standard output."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from corel._terminal import console, drawn, exported, printable, progress_bar, shown, track

PROGRAM = """
from corel._terminal import progress_bar
with progress_bar("counting", 2) as advance:
    print("result 1")
    advance(note="halfway")
    print("result 2")
    advance()
"""


def run(*, terminal_in: bool, terminal_out: bool) -> tuple[str, str]:
    """Run PROGRAM with standard error, and perhaps standard output, on a terminal: what each received."""
    screen, device = os.openpty()
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        stdout=device if terminal_out else subprocess.PIPE,
        stderr=device if terminal_in else subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(device)
    shown = b""
    while part := _read(screen):
        shown += part
    os.close(screen)
    return process.stdout or "", (process.stderr or "") + shown.decode()


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError:  # Linux says so when nobody has the other end open any more.
        return b""


def test_a_bar_on_a_terminal_leaves_results_on_standard_output() -> None:
    results, shown = run(terminal_in=True, terminal_out=False)
    assert results == "result 1\nresult 2\n"
    assert "counting" in shown
    assert "2/2" in shown
    assert "halfway" in shown


def test_results_and_bar_share_one_terminal() -> None:
    _, shown = run(terminal_in=True, terminal_out=True)
    lines = shown.replace("\r", "\n").split("\n")
    assert any(line.startswith("result 1") or line.endswith("result 1") for line in lines)
    assert "2/2" in shown


def test_no_bar_without_a_terminal() -> None:
    assert run(terminal_in=False, terminal_out=False) == ("result 1\nresult 2\n", "")


def test_track_yields_everything(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(track(iter("abc"), "spelling")) == ["a", "b", "c"]
    with progress_bar("spelling", quiet=True) as advance:
        advance(2.5, note="x")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ümläut 猫.png", "ümläut 猫.png"), ("a\nb", "a\\nb"), ("\x1b[2J", "\\x1b[2J"), ("\udcff", "\\udcff")],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_foreign_text_is_fit_to_be_shown_drawn_and_exported() -> None:
    assert shown("a\x1b[2J" + "x" * 100_000, 20) == "a\\x1b[2Jxxxxxxxxxxx…"
    assert drawn("costs $5 or $x_") == r"costs \$5 or \$x_"
    assert [exported(text) for text in ("=cmd|' /C calc'!A0", "+1", "-1", "@x", "＝1+1", "＠x", "cat", "")] == [
        "'=cmd|' /C calc'!A0", "'+1", "'-1", "'@x", "'＝1+1", "'＠x", "cat", "",
    ]  # fmt: skip


def test_a_long_message_stays_on_one_line_in_a_log_file(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(100 * "word ")
    assert len(capsys.readouterr().err.splitlines()) == 1
