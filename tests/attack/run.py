"""Tries: damaged files, read one after the other by a forked process with limits on memory and time.

A process reads many files, since forking a process that has imported torch takes longer than reading most of them. It
writes each damaged file before it reads it, and one byte for each outcome into a pipe: when it dies, the file in hand
is the one that killed it, and another process goes on behind it.
"""

from __future__ import annotations

import hashlib
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

import numpy as np
import torch

from tests.attack.attacked import SENTENCES, Attacked
from tests.attack.formats import FORMATS
from tests.attack.mutate import mutate

torch.set_num_threads(1)  # a forked process has no other thread to wait for
SECONDS, WAITING, GROWTH = 10, 120, 1 << 30  # of computing, of waiting; bytes
TRIES_A_PROCESS = 500  # what a process leaks shows as growth, and does not last
LONGEST = 1500  # letters of a sentence
OUTCOMES = ("refused", "read right", "read other", "fault", "crash", "hang", "growth", "silent change")
BAD = OUTCOMES[3:]


def attack(name: str, tries: range, seed: int = 0, saved: Path | None = None) -> Counter[str]:
    """Try damaged files of one format, by their numbers; files with a bad outcome are kept in `saved`."""
    outcomes = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        while tries:
            found = _read_in_child(name, tries[:TRIES_A_PROCESS], seed, Path(folder))
            if found[-1] == "hang":  # a process that was stopped for a while has waited, too: once more
                found[-1] = _read_in_child(name, tries[len(found) - 1 : len(found)], seed, Path(folder))[0]
            outcomes.update(found)
            if found[-1] in BAD and saved is not None:
                saved.mkdir(parents=True, exist_ok=True)
                kept = f"{name}-{seed}-{tries[len(found) - 1]}-{found[-1]}".replace(" ", "_").replace("/", "_")
                shutil.copy(Path(folder, "damaged"), saved / kept)
            tries = tries[len(found) :]
    return outcomes


def _read_in_child(name: str, tries: range, seed: int, folder: Path) -> list[str]:
    """Let a process try; it ends after the last number, or after the first bad outcome."""
    come, go = os.pipe()
    process = os.fork()
    if not process:
        os.close(come)
        os._exit(_try_all(name, tries, seed, folder, go))
    os.close(go)
    with os.fdopen(come, "rb") as pipe:
        found = [OUTCOMES[byte] for byte in pipe.read()]
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status:
        found.append("hang" if status in (-signal.SIGALRM, -signal.SIGPROF) else "crash")
    return found


def _try_all(name: str, tries: range, seed: int, folder: Path, pipe: int) -> int:
    for limit in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(limit, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    attacked = FORMATS[name]
    example = attacked.example()
    intact = _intact(attacked, example, folder)
    _limit_memory()
    before = _peak()
    for number in tries:
        content = attacked.dress(mutate(example, random.Random(f"{name} {seed} {number}")))
        outcome = _try(attacked, _lay_out(attacked, content, folder), intact)
        if _peak() - before > GROWTH:
            outcome = "growth"
        os.write(pipe, bytes((OUTCOMES.index(outcome),)))
        if outcome in BAD:
            break
    return 0


def _try(attacked: Attacked, path: Path, intact: str) -> str:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of computing: other programs may keep the machine busy
    signal.alarm(WAITING)
    try:
        found = attacked.read(path)
        outcome = "read right" if _digest(found) == intact else "silent change" if attacked.checked else "read other"
    except MemoryError:
        outcome = "growth"
    except BaseException as error:
        outcome = _judged(error, path) if isinstance(error, SENTENCES) else "fault"
        if outcome in BAD and os.environ.get("COREL_ATTACK_DEBUG"):
            traceback.print_exc()
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    return outcome


def _judged(error: BaseException, path: Path) -> str:
    """Tell a sentence that names the file from one that does not, and from one that hides a lack of memory."""
    said = str(error)
    if "more memory than there is" in said or _lacked_memory(error):
        return "growth"
    named = path.name in said or str(getattr(error, "filename", "")).endswith(path.name)
    return "refused" if named and len(said) <= LONGEST else "fault"


def _lacked_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _intact(attacked: Attacked, example: bytes, folder: Path) -> str:
    return _digest(attacked.read(_lay_out(attacked, attacked.dress(example), folder)))


def _lay_out(attacked: Attacked, content: bytes, folder: Path) -> Path:
    """Put the files of one try into a folder of their own."""
    place = folder / "hand"
    shutil.rmtree(place, ignore_errors=True)
    (folder / "damaged").write_bytes(content)  # a reader may change or remove the other
    for name, part in {**attacked.beside(), attacked.file: content}.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(part)
    return place / attacked.file


def _limit_memory() -> None:
    """Let growth happen up to twice what is called growth, so that it is seen and does no harm."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2 * GROWTH, size + 2 * GROWTH))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _peak() -> int:
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF,))


def _digest(found: object) -> str:
    digest = hashlib.sha256()
    _hash(found, digest)
    return digest.hexdigest()


def _hash(found: object, digest: hashlib._Hash) -> None:
    if isinstance(found, torch.Tensor):
        found = found.numpy()
    if isinstance(found, np.ndarray):
        digest.update(f"{found.dtype} {found.shape}".encode() + np.ascontiguousarray(found).tobytes())
    elif isinstance(found, dict):
        _hash(sorted(found.items(), key=repr), digest)
    elif isinstance(found, list | tuple):
        digest.update(f"{len(found)} items".encode())
        for each in found:
            _hash(each, digest)
    else:
        digest.update(repr(found).encode("utf-8", "surrogatepass"))
