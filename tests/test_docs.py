"""What the documentation shows is run: Python blocks, commands, docstrings' examples; and the site builds."""

import doctest
import functools
import importlib
import re
import shlex
import string
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

import corel
from corel.cli import app
from experiments._lib.registry import EXPERIMENTS
from tests.images.known.test_cifar import write_cifar10

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGE = Path(corel.__file__).parent
EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text())
BLOCK = re.compile(r"^```(\S+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`((?:corel|make|python -m|pip install)\s[^`]+)`")
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with what the documents speak of: digits dressed up as cats and dogs, and a small CIFAR-10."""
    digits = corel.images.open("digits")
    for place, label in (("photos/cats", 0), ("photos/dogs", 1), ("new", 2)):
        (tmp_path / place).mkdir(parents=True)
        names = [*string.ascii_lowercase, *map(str, range(34))]
        for name, pixels in zip(names, digits.pixels[digits.labels == label], strict=False):
            Image.fromarray(pixels).save(tmp_path / place / f"{name}.png")
    write_cifar10(tmp_path / "data", binary=True, per_batch=250)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_document
def test_every_block_is_of_a_kind_that_is_run(document: Path) -> None:
    languages = {found[1] for found in BLOCK.finditer(document.read_text())}
    assert languages <= {
        "python",
        "console",
        "text",
        "bibtex",
        "{eval-rst}",
        "{toctree}",
        "{literalinclude}",
        "{corel-commands}",
    }
    assert document.read_text().count("```") == 2 * len(BLOCK.findall(document.read_text()))


@each_document
@pytest.mark.usefixtures("folder", "one_thread")
def test_blocks_run_in_the_order_of_reading(document: Path) -> None:
    names, printed, end = {"__name__": "__main__"}, "", 0
    text = document.read_text()
    for block in BLOCK.finditer(text):
        follows, end = not text[end : block.start()].strip(), block.end()
        if block[1] == "python":
            above = text[: block.start(2)].count("\n")
            exec(compile("\n" * above + block[2], document, "exec"), names)  # so that a traceback names the line
        elif block[1] == "console":
            printed = "".join(run(line) for line in block[2].splitlines())
        elif block[1] == "text" and follows and printed:
            missing = {shape(line) for line in block[2].splitlines()} - {shape(line) for line in printed.splitlines()}
            assert missing <= {"…"}, f"the commands above print {printed}"


def shape(line: str) -> str:
    """A line of output without its digits, which another machine's rounding may change, and hashes."""
    return re.sub(r"\b[0-9a-f]{12}\b|\d", "#", line.rstrip())


def run(line: str) -> str:
    """Run one line of a console; gives what it prints."""
    assert line.startswith("$ "), f"output that nothing checks: {line}"
    match shlex.split(line[2:], comments=True):
        case ["corel", *arguments]:
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"{line}: {result.output}"
            return str(result.output)
        case ["make", target]:  # installs; what the target itself does has tests of its own
            subprocess.run(["make", "--dry-run", "--directory", ROOT, target], check=True, capture_output=True)
        case _:
            pytest.fail(f"no test can run this; tell it in the text: {line}")
    return ""


@each_document
def test_commands_in_the_text_exist(document: Path) -> None:
    """They take hours, a network or a name of the reader's, so they are looked up instead of run."""
    for quoted in QUOTED.findall(BLOCK.sub("", document.read_text())):
        match shlex.split(quoted):
            case ["corel", *arguments]:
                look_up(arguments)
            case ["make", *targets]:
                subprocess.run(["make", "--dry-run", "--directory", ROOT, *targets], check=True, capture_output=True)
            case ["python", "-m", module, *arguments]:
                flags = {word for word in arguments if word.startswith("-")}
                names = {word for word in arguments if not word.startswith("-") and word != "DIR"}
                assert names <= ({*EXPERIMENTS, "all"} if module == "experiments" else set()), quoted
                assert flags <= set(re.findall(r"(?<!\S)--?[a-z]+", usage(module))), quoted
            case ["pip", "install", what]:
                extra = re.fullmatch(r"corel\[(\w+)\]", what)
                assert what == "." or (extra and extra[1] in metadata("corel").get_all("Provides-Extra", [])), quoted


def look_up(arguments: list[str]) -> None:
    """Find a command of `corel` and its options, whether or not the line has all that it needs to run."""
    command: Any = typer.main.get_command(app)
    while arguments and not arguments[0].startswith("-") and hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    options = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    assert {word for word in arguments if word.startswith("-")} <= options, command.name


@functools.cache
def usage(module: str) -> str:
    asked = [sys.executable, "-m", module, "--help"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstring_examples_hold(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_figure_is_in_the_gallery_with_its_command() -> None:
    page = (ROOT / "docs" / "figures.md").read_text()
    pictures = [part for part in re.split(r"^(?=!\[)", page, flags=re.MULTILINE) if part.startswith("![")]
    shown = [re.match(r"!\[[^]]+\]\(figures/([^)]+)\)", part)[1] for part in pictures]  # type: ignore[index]
    assert sorted(shown) == sorted(path.name for path in (ROOT / "docs" / "figures").iterdir())
    for part in pictures:
        assert re.search(r"Command: `python -m [^`]+`", part), part[:80]


def test_every_page_is_reached_from_the_front_page() -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in DOCUMENTS if "docs" in path.parts}
    trees = "\n".join((ROOT / "docs" / name).read_text() for name in ("index.md", "reproduction.md"))
    assert {page for page in pages if not re.search(rf"^{page}$", trees, re.MULTILINE)} == {"index"}


def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "trees")]
    result = subprocess.run([*build, str(ROOT / "docs"), str(tmp_path / "html")], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    pages = {path.name: re.sub(r"<[^>]*>", "", path.read_text()) for path in (tmp_path / "html").rglob("*.html")}
    assert [name for name, text in pages.items() if re.search(r"(^|[ (])–[a-z]", text, re.MULTILINE)] == []  # once `--`
    assert "corel backbone export tiny-imagenet-16x10 --onnx encoder.onnx" in pages["cli.html"]
