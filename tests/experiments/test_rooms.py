"""The rooms around the library: experiments and benchmarks share `measuring` and never import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What each room may import of the others beside itself.
OPEN = {
    "measuring": (),
    "benchmarks": ("measuring",),
    "experiments/_lib": ("measuring", "experiments.paper"),
    "experiments/render": ("measuring", "experiments.paper", "experiments._lib"),
    "experiments/studies": ("measuring", "experiments.paper", "experiments._lib", "experiments.render"),
}


def imported(path: Path) -> Iterator[str]:
    """Dotted names of modules outside the library that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in ("experiments", "benchmarks", "measuring"))


@pytest.mark.parametrize("room", OPEN)
def test_a_room_imports_only_from_those_below(room: str) -> None:
    allowed = (room.replace("/", "."), *OPEN[room])
    for path in (ROOT / room).rglob("*.py"):
        wrong = [name for name in imported(path) if not name.startswith(allowed)]
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(wrong)}"


def test_nobody_rewrites_the_command_line() -> None:
    for path in (*(ROOT / "experiments").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")):
        text = path.read_text()
        assert "sys.argv =" not in text, path
        assert "sys.argv" not in text or path.name == "__main__.py", path
