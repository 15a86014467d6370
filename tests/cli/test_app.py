"""What all commands share: help, version, errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_command

from corel import __version__
from corel.cli import app

from .conftest import Corel


def all_commands() -> list[tuple[str, ...]]:
    def below(group: TyperGroup, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for name, command in group.commands.items():
            here = (*path, name)
            found += below(command, here) if isinstance(command, TyperGroup) else [here]
        return found

    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return below(group, ())


def test_help_starts_without_torch() -> None:
    heavy = "{'torch', 'sklearn', 'numba', 'matplotlib', 'scipy', 'accelerate', 'pandas'}"
    script = (
        "import sys; from corel.cli import main; sys.argv = ['corel', '--help']\n"
        f"try: main()\nfinally: print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "enroll" in result.stdout
    assert result.stderr.strip() == "[]"


def test_all_commands_are_there() -> None:
    expected = (
        "demo train data backbone enroll score select tune explain audit sort unsort watch find classes forget "
        "evaluate diagnose serve"
    )
    assert {path[0] for path in all_commands()} == set(expected.split())


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_help_of_each_command_has_an_example(corel: Corel, path: tuple[str, ...]) -> None:
    text = " ".join(corel(*path, "--help").output.split())
    assert f"Example: corel {' '.join(path)}" in text


def test_a_paragraph_of_help_is_as_wide_as_the_terminal() -> None:
    wide = {**os.environ, "COLUMNS": "400", "TERMINAL_WIDTH": "400"}
    asked = [sys.executable, "-m", "corel", "score", "--help"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True, env=wide).stdout
    assert re.search(r"Known: .* Not a photograph: ", said)


def test_no_part_of_a_help_text_is_taken_for_markup() -> None:
    def below(command: Any) -> list[Any]:
        return [command, *(each for inner in getattr(command, "commands", {}).values() for each in below(inner))]

    for command in below(get_command(app)):
        for help_text in (command.help, *(getattr(parameter, "help", None) for parameter in command.params)):
            assert Text.from_markup(help_text or "").plain == (help_text or "").replace("\\[", "[")


def test_version(corel: Corel) -> None:
    said = corel("--version").output
    assert said.startswith(f"corel {__version__}, torch {torch.__version__}, ")


def test_a_mistyped_command_or_option_exits_with_2(corel: Corel) -> None:
    assert "No such command" in corel("scroe", exits=2).output
    assert "No such option" in corel("score", "--fromat", "csv", "g", "i", exits=2).output


def test_an_error_is_one_sentence_without_a_traceback(corel: Corel, tmp_path: Path) -> None:
    result = corel("classes", tmp_path / "missing", exits=2)
    assert result.stdout == ""
    assert result.stderr.startswith("corel: there is no gallery")
    assert result.stderr.count("\n") == 1


def test_control_codes_of_a_name_do_not_reach_the_terminal(corel: Corel, tmp_path: Path) -> None:
    said = corel("classes", tmp_path / "\x1b[2Jmissing", exits=2).stderr
    assert "\\x1b[2Jmissing" in said
    assert "\x1b" not in said


def test_a_loss_that_is_not_finite_is_reported_as_the_users_error(corel: Corel, tmp_path: Path) -> None:
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), np.uint8))
    small = ("--size=8", "--branches=2", "--branch-dim=3", "--width=4", "--batch-size=10", "--epochs=1")
    asked = ("train", tmp_path / "noise.npy", "--out", tmp_path / "b.safetensors", "--precision=float32", *small)
    said = corel(*asked, "--learning-rate", "1e30", exits=2).stderr
    assert "corel: the loss is " in said
    assert "Lower the learning rate, or" in said
    assert "unexpected" not in said


@pytest.mark.parametrize("place", [0, 1, 3])
def test_debug_shows_the_traceback_wherever_it_is_given(corel: Corel, tmp_path: Path, place: int) -> None:
    arguments: list[object] = ["classes", tmp_path / "missing", "--json"]
    arguments.insert(place, "--debug")
    assert "Traceback (most recent call last)" in corel(*arguments, exits=2).stderr


def test_an_unexpected_error_asks_for_a_report(corel: Corel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("corel.gallery.Gallery.open", fail)
    assert corel("classes", tmp_path, exits=2).stderr == (
        "corel: unexpected RuntimeError: boom; --debug shows where it arose, please report it\n"
    )


def test_a_closed_pipe_is_no_error(gallery: Path) -> None:
    """`corel classes … | head -0`, with a real pipe."""
    command = [str(Path(sys.executable).with_name("corel")), "classes", str(gallery), "red"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate()
    assert stderr == ""


def test_a_warning_is_a_sentence() -> None:
    script = (
        "import sys, warnings; import corel.cli as cli\ncli.app = lambda: warnings.warn('mind the gap')\ncli.main()"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stderr == "corel: mind the gap\n"


def test_the_module_is_the_command() -> None:
    run = subprocess.run([sys.executable, "-m", "corel", "--help"], capture_output=True, text=True, check=True)
    assert "enroll" in run.stdout


def test_shells_can_complete_commands(corel: Corel) -> None:
    assert "--install-completion" in corel("--help").output
