"""Threads, forks, and a cache of the compiler that cannot be written or is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from corel._compute import threads
from corel.persistence import merge_edges
from tests.persistence.clouds import gaussian


def pools() -> int:
    return threads._pool.cache_info().currsize


@pytest.fixture
def no_pool_yet() -> Iterator[None]:
    """Kernels may share their work between two threads, and no earlier test has made the pool."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    threads._pool.cache_clear()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("no_pool_yet")
def test_little_work_starts_no_thread_pool() -> None:
    merge_edges(gaussian(16, 100, 10, dtype=torch.float32))
    assert pools() == 0


@pytest.mark.usefixtures("no_pool_yet")
def test_a_value_that_is_not_finite_is_located_across_threads() -> None:
    points = gaussian(80, 150, 10, dtype=torch.float32)  # forty clouds a thread, thirty-two of them at once
    points[57, 3, 2] = torch.inf
    with pytest.raises(ValueError, match="cloud 57, point 3 has"):
        merge_edges(points)
    assert pools() == 1


@pytest.mark.usefixtures("no_pool_yet")
@pytest.mark.parametrize("clouds", [16, 40])
def test_calls_from_many_threads_agree(clouds: int) -> None:
    batches = [gaussian(clouds, 400, 10, seed=seed, dtype=torch.float32) for seed in range(8)]
    expected = [torch.stack([merge_edges(cloud) for cloud in batch]) for batch in batches]
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(k for _ in range(5) if not torch.equal(merge_edges(batches[k]), expected[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pools() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("no_pool_yet")
def test_a_forked_child_computes() -> None:
    """The parent has used its pool; the child has none of its threads and makes its own."""
    points = gaussian(16, 400, 10, dtype=torch.float32)
    expected = merge_edges(points)
    assert pools() == 1
    child = os.fork()
    if child == 0:
        right = False
        try:
            right = pools() == 0 and torch.equal(merge_edges(points), expected) and pools() == 1
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


LAST_THREAD = """
import threading, time
import torch, corel
torch.set_num_threads(2)
points = torch.randn(16, 400, 10, generator=torch.Generator().manual_seed(0))
expected = corel.merge_edges(points)

def work():
    threading.main_thread().join()
    assert torch.equal(corel.merge_edges(points), expected)
    print("done")

threading.Thread(target=work).start()
"""


def test_a_thread_that_outlives_the_main_one_computes() -> None:
    """Python has shut every pool by then."""
    process = subprocess.run([sys.executable, "-c", LAST_THREAD], capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("done\n", "")


SCRIPT = """
import torch, corel
points = torch.randn(4, 40, 3, generator=torch.Generator().manual_seed(0))
assert corel.merge_edges(points).shape == (4, 39, 2)
"""


def test_kernels_run_without_a_writable_cache_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder is expected")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(blocked / "cache")}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True)


def test_kernels_run_if_the_disk_fills_while_the_cache_is_written(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def no_room() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit then fails like a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, preexec_fn=no_room)


KERNEL = """
from corel._compute.jit import jit

@jit
def double(x):
    return 2 * x
"""


@pytest.mark.parametrize(("suffix", "share"), [("nbi", 0), ("nbc", 0.5)])
def test_kernels_run_with_a_truncated_cache(tmp_path: Path, suffix: str, share: float) -> None:
    """The index (nbi) is empty or the machine code (nbc) ends early, as after a crash while they were copied."""
    (tmp_path / "doubling.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", "from doubling import double; assert [double(21), double(4)] == [42, 8]"]
    subprocess.run(command, env=environment, check=True)
    (file,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    os.truncate(file, int(share * file.stat().st_size))
    subprocess.run(command, env=environment, check=True)
