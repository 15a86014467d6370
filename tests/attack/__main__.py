"""`python -m tests.attack`: attack every format in turn and print a table.

``--minutes N`` goes on for so long, ``--tries N`` makes so many tries; ``--record FILE`` keeps what was found and goes
on from there. ``--kills N`` kills commands instead.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import Counter
from pathlib import Path

from tests.attack.formats import FORMATS
from tests.attack.run import BAD, OUTCOMES, attack

ROUND = 100  # tries of a format before the next one's turn
Found = dict[str, Counter[str]]


def main() -> int:
    """Attack for as long as asked; 1 if anything bad happened."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--tries", type=int, help="of all formats together; default: as many as the minutes allow")
    parser.add_argument("--round", type=int, default=ROUND, help="tries of a format before the next one's turn")
    parser.add_argument("--only", help="a regular expression that the names of formats contain")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that did harm")
    parser.add_argument("--record", type=Path, help="a JSON file of what was found, to go on from")
    parser.add_argument("--kills", type=int, help="kill commands so often, rather than damage files")
    asked = parser.parse_args()
    if asked.kills:
        from tests.attack.kills import kill_commands

        return kill_commands(asked.kills)
    if asked.tries is None and asked.minutes == math.inf:
        asked.minutes = 1.0
    found = attack_in_turn(asked)
    print(table(found))
    return int(any(outcomes[bad] for outcomes in found.values() for bad in BAD))


def attack_in_turn(asked: argparse.Namespace) -> Found:
    """Let each format have its turn until the time is over or the tries are made."""
    found: Found = {name: Counter() for name in FORMATS if not asked.only or re.search(asked.only, name)}
    if asked.record and asked.record.exists():
        found |= {name: Counter(each) for name, each in json.loads(asked.record.read_text()).items() if name in found}
    end, wanted = time.monotonic() + 60 * asked.minutes, _shares(found, asked.tries)
    while any(found[name].total() < wanted[name] for name in found):
        for name, outcomes in found.items():
            done = outcomes.total()
            turn = min(math.ceil(FORMATS[name].share * asked.round), wanted[name] - done)
            if turn > 0:
                outcomes.update(attack(name, range(done, int(done + turn)), asked.seed, asked.keep))
            if asked.record:
                asked.record.write_text(json.dumps(found, indent=1))
        if time.monotonic() > end:
            break
    return found


def _shares(found: Found, tries: int | None) -> dict[str, float]:
    """Divide tries among formats, fewer for those that take a process each; all of them are at least as many."""
    if tries is None:
        return dict.fromkeys(found, math.inf)
    whole = sum(FORMATS[name].share for name in found)
    return {name: math.ceil(tries * FORMATS[name].share / whole) for name in found}


def table(found: Found) -> str:
    """Lay the outcomes out as a table in Markdown, a line a format and one for all."""
    whole = {**found, "all": sum(found.values(), Counter[str]())}
    lines = ["| format | tries | " + " | ".join(OUTCOMES) + " |", "|---|" + "--:|" * (1 + len(OUTCOMES))]
    for name, outcomes in whole.items():
        cells = [f"{count:,}" for count in (outcomes.total(), *(outcomes[each] for each in OUTCOMES))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
