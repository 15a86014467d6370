"""One try: a damaged file, read in a forked process with limits on memory and time."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import torch

from tests.attack.formats import FORMATS, Attacked
from tests.attack.mutate import mutate

torch.set_num_threads(1)  # a forked process has no other thread to wait for
SECONDS, GROWTH = 10, 1 << 30
# What the library raises with a sentence for the user (corel.cli.EXPECTED); MemoryError shows growth.
SENTENCES = (ValueError, TypeError, OSError, ImportError, FloatingPointError)
OUTCOMES = ("read", "refused", "fault", "crash", "hang", "growth", "silent change")
BAD = OUTCOMES[2:]


def attack(name: str, tries: int, seed: int, saved: Path | None = None) -> Counter[str]:
    """Try damaged files of one format; files with a bad outcome are kept in `saved`."""
    attacked, rng, outcomes = FORMATS[name], random.Random(f"{name} {seed}"), Counter[str]()
    example = attacked.example()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(tries):
            place = Path(folder, str(number))
            place.mkdir()
            content = mutate(example, rng)
            (place / attacked.file).write_bytes(content)
            outcome = _read_in_child(attacked, place / attacked.file, changed=content != example)
            outcomes[outcome] += 1
            if outcome in BAD and saved is not None:
                saved.mkdir(parents=True, exist_ok=True)
                (saved / f"{name.replace(' ', '_')}-{seed}-{number}-{outcome}".replace("/", "_")).write_bytes(content)
            shutil.rmtree(place, ignore_errors=True)
    return outcomes


def _read_in_child(attacked: Attacked, path: Path, *, changed: bool) -> str:
    process = os.fork()
    if not process:
        os._exit(_try(attacked, path, changed=changed))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status < 0:
        return "hang" if -status in (signal.SIGALRM, signal.SIGXCPU) else "crash"
    return OUTCOMES[status] if status < len(OUTCOMES) else "crash"


def _try(attacked: Attacked, path: Path, *, changed: bool) -> int:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + GROWTH, size + GROWTH))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    try:
        attacked.read(path)
    except MemoryError:
        return OUTCOMES.index("growth")
    except SENTENCES as error:
        return OUTCOMES.index("refused" if str(error) else "fault")
    except BaseException:
        if os.environ.get("COREL_ATTACK_DEBUG"):
            traceback.print_exc()
        return OUTCOMES.index("fault")
    return OUTCOMES.index("silent change" if attacked.checked and changed else "read")
