"""Files that are whole or absent, and what a killed process leaves beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from corel._io import atomic
from corel._io.atomic import appearing, sweep, temporary_name, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from corel._io.atomic import appearing
with appearing(Path(sys.argv[1])) as place:
    place.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_write_deletes_temporary_files_of_killed_processes(tmp_path: Path) -> None:
    path = tmp_path / "a[1].json"
    path.write_bytes(b"before")
    killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False).returncode
    assert killed == -signal.SIGKILL
    assert (len(list(tmp_path.iterdir())), path.read_bytes()) == (2, b"before")
    write_atomically(path, b"after")
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], b"after")


def test_temporary_files_of_running_processes_are_kept(tmp_path: Path) -> None:
    mine, strangers = tmp_path / temporary_name(".x"), tmp_path / f".x.elsewhere-{os.getpid()}.tmp"
    mine.touch()
    strangers.mkdir()
    sweep(tmp_path, ".x")
    assert sorted(tmp_path.iterdir()) == sorted([mine, strangers])


def test_threads_that_write_one_file_write_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    torn: list[bytes] = []
    errors: list[OSError] = []

    def write(letter: bytes) -> None:
        try:
            for _ in range(20):
                write_atomically(path, letter * 1_000_000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    path.write_bytes(b"a")
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        content = path.read_bytes()
        torn += [content] if len(set(content)) != 1 or len(content) not in (1, 1_000_000) else []
    assert (errors, len(torn)) == ([], 0)
    assert list(tmp_path.iterdir()) == [path]


def test_a_temporary_folder_of_a_killed_process_is_deleted(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / temporary_name(".x").replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    (left / "deep").mkdir(parents=True)
    sweep(tmp_path, ".x")
    assert not left.exists()


def test_the_folder_is_synced_after_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Path, bool]] = []
    monkeypatch.setattr(atomic, "sync_folder", lambda folder: seen.append((folder, (tmp_path / "a").exists())))
    with appearing(tmp_path / "a") as place:
        place.touch()
    assert seen == [(tmp_path, True)]
