"""A record says which commit its numbers come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from measuring.record import commit


def git(repository: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_changed_code_is_marked_and_changed_results_are_not(tmp_path: Path) -> None:
    assert commit(tmp_path) == "unknown"
    git(tmp_path, "init")
    (tmp_path / "src").mkdir()
    code, weights, results = tmp_path / "code.py", tmp_path / "src" / "weights", tmp_path / "results.json"
    for file in (code, weights, results):
        file.write_text("first")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    head = git(tmp_path, "rev-parse", "--short=12", "HEAD")
    for file, marked in ((results, head), (code, f"{head}-dirty"), (weights, f"{head}-dirty")):
        file.write_text("second")
        commit.cache_clear()
        assert commit(tmp_path) == marked
        git(tmp_path, "checkout", ".")
    commit.cache_clear()
