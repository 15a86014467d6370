"""How a section of the evidence is put together: what was measured, or the command that measures it."""

from __future__ import annotations

from pathlib import Path

from experiments._lib.names import DATASETS
from experiments._lib.parts import is_complete
from experiments._lib.record import read
from experiments._lib.registry import EXPERIMENTS

NOT_COMPARED = "no difference from the authors' numbers is given"


def not_run(*names: str, records: Path) -> str | None:
    """The commands that have not been run, or not to the end; None where all have."""
    missing = [EXPERIMENTS[name].command for name in names if not is_complete(name, records)]
    return f"Not run yet: {', '.join(f'`{command}`' for command in missing)}." if missing else None


def to_run(name: str) -> str:
    """The command that measures what is missing."""
    return f"Not run yet: `{EXPERIMENTS[name].command}`."


def not_measured(name: str, records: Path) -> list[str]:
    """A sentence with the parts that are still missing, and the command that goes on with them."""
    document = read(name, records)
    missing = [part for part in document["config"].get("parts", ()) if part not in document["results"]]
    command = EXPERIMENTS[name].command
    return [f"Not measured yet: {'; '.join(missing)}. Continue with `{command}`."] if missing else []


def section(name: str, records: Path, *paragraphs: str) -> str:
    """Paragraphs and tables one below the other, and by which command they came to be."""
    document = read(name, records)
    command = EXPERIMENTS[name].command
    reused = ", without the training time of cached encoders" if "--runs" in command else ""
    return "\n\n".join([*paragraphs, f"Made by `{command}` in {_duration(document['seconds'])}{reused}."])


def is_substituted(name: str, records: Path) -> bool:
    """Whether other auxiliary data stood in for the paper's CIFAR-100."""
    return bool(read(name, records)["config"]["auxiliary"] != "cifar100")


def origin(name: str, records: Path) -> str:
    """What the encoders of a figure were trained on."""
    if not is_substituted(name, records):
        return "Trained on CIFAR-100, as in the paper."
    auxiliary = DATASETS[read(name, records)["config"]["auxiliary"]]
    command = EXPERIMENTS[name].command
    return f"Trained on {auxiliary}, where the paper has CIFAR-100: {NOT_COMPARED}. `{command}` measures it there."


def seed_span(records: Path) -> str:
    """How far trainings lie apart that differ in their seed alone, in words."""
    return f"trainings that differ in their seed alone are up to {between_seeds(records):.3f} apart at m = 120"


def between_seeds(records: Path) -> float:
    """The largest difference of the count's AUC between two trainings that differ in their seed alone."""
    aucs: dict[tuple[str, str], list[float]] = {}
    for cell in read("backbones", records)["results"]["cells"]:
        aucs.setdefault((cell["auxiliary"], cell["evaluated"]), []).append(cell["count"]["auc"])
    return max(max(found) - min(found) for found in aucs.values())


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def listed(items: list[str]) -> str:
    """Words joined as in a sentence."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
