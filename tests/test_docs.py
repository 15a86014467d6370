"""What the documentation shows is run: Python blocks, commands, docstrings' examples; and the site builds."""

import doctest
import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

import corel
from corel.cli import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]  # whose commands follow from each other
LONG = ("demo", "train", "diagnose --backbone mine", "enroll mine", "data fetch", "evaluate cifar10")
PACKAGE = Path(corel.__file__).parent
EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text())
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the images that the documents speak of: digits dressed up as cats and dogs."""
    digits = corel.images.open("digits")
    for place, label in (("photos/cats", 0), ("photos/dogs", 1), ("new", 2)):
        (tmp_path / place).mkdir(parents=True)
        for letter, pixels in zip("abcdefghijklmnopqrstuvwxyz", digits.pixels[digits.labels == label], strict=False):
            Image.fromarray(pixels).save(tmp_path / place / f"{letter}.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(document: Path) -> Iterator[tuple[str, int, str]]:
    """Language, first line and text of each fenced block."""
    text = document.read_text()
    for found in re.finditer(r"^```(\S+)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield found[1], text[: found.start(2)].count("\n"), found[2]


def commands(document: Path) -> list[list[str]]:
    """Every command line that a document shows, as words."""
    consoles = [text for language, _, text in blocks(document) if language == "console"]
    lines = [line for text in consoles for line in text.splitlines()]
    return [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ")]


@each_document
def test_every_block_is_of_a_kind_that_is_checked(document: Path) -> None:
    assert {language for language, _, _ in blocks(document)} <= {
        "python", "console", "bibtex", "{eval-rst}", "{toctree}",
    }  # fmt: skip


@each_document
@pytest.mark.usefixtures("folder")
def test_python_blocks_run(document: Path) -> None:
    names = {"__name__": "__main__"}
    for language, line, text in blocks(document):
        if language == "python":
            exec(compile("\n" * line + text, document, "exec"), names)  # so that a traceback names the line


@each_document
def test_commands_are_understood(document: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for words in commands(document):
        match words:
            case ["corel", *arguments]:
                parse(arguments)
            case ["make", *asked]:
                assert set(asked) <= set(targets), f"no such target: {asked}"
            case ["python", "-m", module, *_]:
                assert importlib.util.find_spec(module), f"no such module: {module}"


def parse(arguments: list[str]) -> None:
    """Read a command line as `corel` would, without running it."""
    command = typer.main.get_command(app)
    context = command.make_context("corel", arguments, ignore_unknown_options=False)
    while hasattr(command, "resolve_command") and context._protected_args + context.args:
        name, command, rest = command.resolve_command(context, context._protected_args + context.args)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("document", RUN, ids=lambda path: path.name)
@pytest.mark.usefixtures("folder")
def test_commands_run(document: Path) -> None:
    for words in commands(document):
        line = " ".join(words)
        if words[0] == "corel" and not any(line.startswith(f"corel {long}") for long in LONG):
            result = CliRunner().invoke(app, words[1:])
            assert result.exit_code == 0, f"{line}: {result.output}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstring_examples_hold(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    result = subprocess.run([*build, str(ROOT / "docs"), str(tmp_path / "html")], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
