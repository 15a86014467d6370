"""`python -m tests.attack --minutes N`: attack every format in turn and print a table."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from tests.attack.formats import FORMATS
from tests.attack.run import BAD, OUTCOMES, attack

ROUND = 10


def main() -> int:
    """Attack for as long as asked; 1 if anything bad happened."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that did harm")
    arguments = parser.parse_args()
    found = {name: Counter[str]() for name in FORMATS}
    end, seed = time.monotonic() + 60 * arguments.minutes, arguments.seed
    while time.monotonic() < end:
        for name in FORMATS:
            found[name] += attack(name, ROUND, seed, arguments.keep)
        seed += 1
    print(table(found))
    return int(any(outcomes[bad] for outcomes in found.values() for bad in BAD))


def table(found: dict[str, Counter[str]]) -> str:
    """Lay the outcomes out as a table in Markdown, a line a format and one for all."""
    whole = {**found, "all": sum(found.values(), Counter[str]())}
    lines = ["| format | tries | " + " | ".join(OUTCOMES) + " |", "|---|" + "--:|" * (1 + len(OUTCOMES))]
    for name, outcomes in whole.items():
        cells = [f"{count:,}" for count in (outcomes.total(), *(outcomes[each] for each in OUTCOMES))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
