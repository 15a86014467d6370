"""The section that begins a report: what becomes of new images."""

from __future__ import annotations

from corel.evaluation import Recognition
from corel.report._content import Section, Table


def recognition_section(found: Recognition) -> Section:
    """Tabulate verdicts on test items, class by class, and on strangers by kind."""
    taken = found.columns()
    rows = [[name, *(str(found.confusion[name].get(other, 0)) for other in taken)] for name in found.enrolled]
    return Section(
        "What becomes of new images?",
        f"Of {found.known:,} test items of the enrolled classes, {found.top_1:.1%} are most like their own class and "
        f"{found.called_stranger:.1%} were called a stranger, where {100 * found.rate:g}% are allowed on average over "
        f"enrollments.{_blank(found)} The prediction set held the true class for {found.coverage:.1%}. Classes in "
        f"the set: {_sizes(found)}."
        f"{_strangers(found)}",
        table=Table(["true class", *(f"taken for {name}" for name in taken)], rows),
    )


def _blank(found: Recognition) -> str:
    if found.called_blank is None:
        return ""
    return f" Another {found.called_blank:.1%} were called not a photograph; on other sets it was at most 1%."


def _sizes(found: Recognition) -> str:
    return ", ".join(f"{size} for {count / found.known:.0%}" for size, count in found.set_sizes.items())


def _strangers(found: Recognition) -> str:
    if not found.strangers:
        return ""
    kinds = "; ".join(f"{name}: {share:.0%} of {count:,}" for name, (count, share) in found.strangers.items())
    source = "each class in turn, left out of the gallery" if found.in_turn else "classes that are not enrolled"
    return (
        f" Of strangers ({source}) these shares were called {_stopped(found)}: {kinds}. A known item has a higher "
        f"p-value than a stranger with probability {found.auc or 0:.3f} (AUC)."
    )


def _stopped(found: Recognition) -> str:
    return "a stranger" if found.called_blank is None else "a stranger or not a photograph"
