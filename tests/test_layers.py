"""Data flows one way: a module imports only from its left, and nothing heavy before it is needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import corel

PACKAGE = Path(corel.__file__).parent
ORDER = [
    "_version", "_errors", "_terminal", "_compute", "_io", "images", "persistence", "losses", "theory", "encoders",
    "training.config", "objectives", "backbone", "training", "oneclass", "gallery", "sorting", "watching", "finding",
    "baselines", "evaluation", "report", "demo", "serve", "scale", "cli", "__main__",
]  # fmt: skip
HEAVY = ("torch", "numpy", "numba", "sklearn", "matplotlib", "accelerate", "PIL", "safetensors")
# All but the facade, which names everything and loads nothing.
MODULES = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})


def layer_of(module: str) -> int:
    """Of a dotted name below corel: a module with a place of its own in the order, else its room's."""
    parts = module.split(".")[1:]
    own = ".".join(parts[:2])
    return ORDER.index(own if own in ORDER else parts[0])


def imported(path: Path) -> Iterator[str]:
    """Dotted names of corel's modules that a file imports, wherever in it; type checkers' imports too."""
    package = ["corel", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("corel."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            private = [f"{source}.{alias.name}" for alias in node.names if alias.name.startswith("_")]
            names = [source, *private] if source != "corel" else [f"corel.{alias.name}" for alias in node.names]
            yield from (name for name in names if name.startswith("corel."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_from_its_left(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    mine = layer_of(".".join(["corel", *parts]))
    wrong = [name for name in imported(path) if layer_of(name) > mine]
    assert not wrong, f"{path.name} imports from its right: {', '.join(wrong)}"


def test_every_module_has_a_layer() -> None:
    names = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert names <= set(ORDER)


def test_no_room_reaches_into_another_rooms_private_modules() -> None:
    for path in MODULES:
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        reaches = [name for name in imported(path) if name.split(".")[1] != room and is_private(name)]
        assert not reaches, f"{path.relative_to(PACKAGE)} reaches into {', '.join(reaches)}"


def is_private(module: str) -> bool:
    """Whether a dotted name passes through a ``_name`` of a room; the rooms `_io` and `_compute` are open."""
    return any(part.startswith("_") and not part.startswith("__") for part in module.split(".")[2:])


def test_library_never_imports_experiments_or_benchmarks() -> None:
    for path in MODULES:
        tree = ast.walk(ast.parse(path.read_text()))
        names = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
        assert not [name for name in names if name.split(".")[0] in ("experiments", "benchmarks")], path


@pytest.mark.parametrize(
    ("what", "unneeded"),
    [
        ("import corel", HEAVY),
        ("import corel.cli; corel.cli.app(['--help'], standalone_mode=False)", HEAVY),
        ("import corel.gallery; from corel.oneclass import ClassBank, prediction_sets", ("sklearn", "matplotlib")),
    ],
)
def test_nothing_heavy_loads_before_it_is_needed(what: str, unneeded: tuple[str, ...]) -> None:
    code = f"import sys; {what}; print([name for name in {unneeded!r} if name in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "[]"


def test_tests_are_the_same_tree_as_the_library() -> None:
    tests = Path(__file__).parent
    rooms = {path.parent.relative_to(PACKAGE) for path in MODULES}
    assert not [str(room) for room in rooms if not (tests / room).is_dir()]
    others = ("attack", "experiments", "measuring", "tools")  # what is not below src/corel
    tested = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    assert not [
        str(room) for room in tested - rooms if room.parts[:1] not in [(each,) for each in others] and room.parts
    ]


def test_the_picture_of_the_rooms_shows_each() -> None:
    shown = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {name.split(".")[0] for name in ORDER} - {"_version", "__main__"}
    assert not [room for room in rooms if f"`{room}`" not in shown]
