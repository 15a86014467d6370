"""Threads, forks and a disk that refuses the compiler's cache."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from corel.persistence import merge_edges
from tests.persistence.clouds import gaussian


def test_calls_from_many_threads_agree() -> None:
    batches = [gaussian(16, 100, 10, seed=seed, dtype=torch.float32) for seed in range(8)]
    expected = [merge_edges(batch) for batch in batches]
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(k for _ in range(20) if not torch.equal(merge_edges(batches[k]), expected[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_computes() -> None:
    """The parent has used its pool; the child has none of its threads."""
    points = gaussian(16, 100, 10, dtype=torch.float32)
    expected = merge_edges(points)
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(merge_edges(points), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


SCRIPT = """
import torch, corel
points = torch.randn(4, 40, 3, generator=torch.Generator().manual_seed(0))
assert corel.merge_edges(points).shape == (4, 39, 2)
"""


def test_a_cache_folder_that_cannot_be_written_is_survived(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder is expected")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(blocked / "cache")}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True)


def test_a_disk_that_fills_while_the_cache_is_written_is_survived(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def no_room() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit then fails like a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, preexec_fn=no_room)
