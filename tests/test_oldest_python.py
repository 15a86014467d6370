"""The package uses nothing that the oldest Python it promises does not have."""

import re
import subprocess
import sys
from pathlib import Path

import corel

PACKAGE = Path(corel.__file__).parent
PROJECT = PACKAGE.parents[1] / "pyproject.toml"


def found_wrong(package: Path, python: str, cache: Path) -> set[str]:
    """What mypy finds wrong for that Python, with other packages unknown: their stubs are for newer ones."""
    where = ["--config-file=", "--no-site-packages", "--ignore-missing-imports", "--cache-dir", str(cache)]
    command = [sys.executable, "-m", "mypy", *where, "--python-version", python, str(package)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return set(done.stdout.splitlines()[:-1])


def too_new(package: Path, cache: Path) -> set[str]:
    """What is right for the Python that runs and wrong for the oldest one."""
    promised = re.search(r'requires-python = ">=(3\.\d+)"', PROJECT.read_text())
    assert promised is not None
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    return found_wrong(package, promised[1], cache) - found_wrong(package, running, cache)


def test_the_oldest_python_has_all_that_is_used(tmp_path: Path) -> None:
    assert too_new(PACKAGE, tmp_path) == set()


def test_what_is_too_new_is_seen(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("from enum import StrEnum\nfrom hashlib import sha256, file_digest\n")
    found = too_new(tmp_path / "new.py", tmp_path / "cache")
    assert {"StrEnum", "file_digest"} <= {name for line in found for name in re.findall(r'attribute "(\w+)"', line)}
