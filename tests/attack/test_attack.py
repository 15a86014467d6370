from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.attack.formats import FORMATS
from tests.attack.readers import EXCUSED, called_by, find_readers, readers_in

CLAIMED = {reader for attacked in FORMATS.values() for reader in attacked.readers}


def test_every_function_that_reads_files_is_attacked_or_excused() -> None:
    assert find_readers() - CLAIMED - EXCUSED.keys() == set()


def test_no_function_is_excused_that_does_not_read() -> None:
    assert EXCUSED.keys() - find_readers() == set()
    assert EXCUSED.keys() & CLAIMED == set()


@pytest.mark.parametrize(
    "code",
    [
        "def f(path):\n    return path.read_bytes()",
        "def f(path):\n    with open(path) as file:\n        return file.read()",
        "def f(lines):\n    return list(map(json.loads, lines))",
        "from numpy import load\ndef f(path):\n    return load(path)",
        "from json import loads as parse\ndef f(text):\n    return parse(text)",
        "async def f(path):\n    return (lambda: np.load(path))()",
        "class C:\n    def f(self, path, read=read_regular): ...",
    ],
)
def test_the_scan_finds_a_reader_however_it_is_written(code: str) -> None:
    assert readers_in(code, "m") == {"m.f"}


def test_the_scan_finds_code_outside_of_functions_and_no_writers() -> None:
    assert readers_in("CONFIG = json.loads(FILE.read_text())", "m") == {"m.<module>"}
    assert readers_in("def f(path):\n    path.open('wb').write(json.dumps({}))", "m") == set()


@pytest.mark.parametrize("name", FORMATS)
def test_the_attack_reaches_the_functions_that_it_claims(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COREL_CACHE", str(tmp_path))
    attacked = FORMATS[name]
    for file, content in {**attacked.beside(), attacked.file: attacked.dress(attacked.example())}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(content)
    assert set(attacked.readers) - called_by(lambda: attacked.read(tmp_path / attacked.file)) == set()


def test_a_short_attack_does_no_harm() -> None:
    """Another process: it forks, and the threads of this one would not survive that."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", "--tries", "600", "--round", "15"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
