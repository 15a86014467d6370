"""One command has every experiment: it lists them, hands on their arguments, and queues them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from experiments import __main__ as command
from experiments._lib.parts import Part, run_parts
from experiments._lib.registry import EXPERIMENTS, Experiment

FOLDER = Path(command.__file__).parent


def test_every_module_is_registered() -> None:
    modules = {path.stem for path in (FOLDER / "studies").glob("*.py") if not path.stem.startswith("_")}
    assert {each.name for each in EXPERIMENTS.values()} == modules


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda each: each.name)
def test_every_experiment_has_a_main(experiment: Experiment) -> None:
    tree = ast.parse((FOLDER.parent / f"{experiment.module.replace('.', '/')}.py").read_text())
    assert "main" in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_the_list_names_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["name", "what", "it", "reproduces", "minutes", "done"]
    assert [line.split()[0] for line in lines[: len(EXPERIMENTS)]] == list(EXPERIMENTS)
    assert next(line for line in lines if line.startswith("toy ")).endswith("yes")


def test_status_counts_parts(tmp_path: Path) -> None:
    experiment = Experiment("trial", "nothing", 1)
    assert experiment.status(tmp_path) == "no"
    parts = [Part(name, {}, lambda: 1) for name in "abc"]
    run_parts("trial", parts, {}, only=["a"], folder=tmp_path)
    assert experiment.status(tmp_path) == "1 of 3"
    run_parts("trial", parts, {}, folder=tmp_path)
    assert experiment.is_done(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "no experiment nonsense"),
        (["toy", "nonsense", "--data", "x"], "nonsense"),
        (["all"], "give --data DIR and --runs DIR"),
        (["toy", "classify"], "give --data DIR"),
        (["toy", "--data", "x"], "unrecognized arguments"),
    ],
)
def test_bad_commands_are_clear_errors(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_table_1_without_any_data_is_a_failure_that_says_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["table1", "--data", str(tmp_path), "--runs", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"run `corel data fetch cifar10 {tmp_path}`" in printed.err


def test_the_queue_skips_what_is_done_and_goes_past_failures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    queue = [EXPERIMENTS[name] for name in ("toy", "classify", "features")]  # the second opens its data first
    for done in (queue[0], queue[2]):
        (tmp_path / f"{done.name}.json").write_text('{"config": {}, "results": []}')
    assert command.run_queue(queue, {"data": tmp_path / "nowhere", "runs": None}, tmp_path) == 1
    printed = capfd.readouterr()
    assert "toy: done before" in printed.out
    assert "features: done before" in printed.out
    assert "cifar10 is not in" in printed.err
    assert printed.err.endswith("failed: classify\n")
