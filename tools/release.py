"""Check what would be released: `python -m tools.release`, some ten minutes and some gigabytes of downloads.

Wheel and sdist are built twice and must be equal byte for byte. The wheel is then installed in two fresh environments,
with the newest of everything and with the oldest that is declared, extras included, and used there as a stranger
would. ``--oldest-python python3.10 --newest-python python3.13`` takes another Python for each.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.metadata import PathDistribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 10_000_000  # bytes of a file in the wheel
TRIES = ROOT / "tools" / "stranger.py"
EXTRAS = (
    "onnx",
    "serve",
    "hub",
    "heif",
    "parquet",
    "tensorboard",
)  # what users add; the others are for tests and peers


def run(*command: str | Path, **environment: str) -> str:
    """Run a command, show it, and give what it printed."""
    print("$", *command, flush=True)
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout


def environment(folder: Path, *packages: str | Path, base: str = sys.executable) -> Path:
    """Make an environment of the Python `base` with these packages; gives its Python."""
    run(base, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *packages, PYTHONPATH="")
    return python


def export(folder: Path) -> Path:
    """Unpack the last commit: what is not committed is not released."""
    archive = folder / "source.tar"
    run("git", "-C", ROOT, "archive", "HEAD", "--output", archive)
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "source", filter="data")
    return folder / "source"


def build(python: Path, source: Path, out: Path, epoch: str) -> dict[str, str]:
    """Build wheel and sdist, with `epoch` for all times in them; gives each file's SHA-256."""
    run(python, "-m", "build", "--outdir", out, source, SOURCE_DATE_EPOCH=epoch)
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in sorted(out.iterdir())}


def large_files(wheel: Path) -> list[str]:
    """The wheel's files that are too large."""
    return [each.filename for each in zipfile.ZipFile(wheel).infolist() if each.file_size > LARGEST]


def requirements(wheel: Path) -> list[Requirement]:
    """What the wheel asks for, with the extras that are tried."""
    (folder,) = (each for each in zipfile.Path(wheel).iterdir() if each.name.endswith(".dist-info"))
    asked = map(Requirement, PathDistribution(folder).requires or [])
    return [each for each in asked if not each.marker or any(each.marker.evaluate({"extra": name}) for name in EXTRAS)]


def oldest(asked: Sequence[Requirement]) -> list[str]:
    """Pin each requirement to the lowest version that it allows."""
    lowest = [(each.name, [spec.version for spec in each.specifier if spec.operator in (">=", "==")]) for each in asked]
    return [f"{name}=={versions[0]}" for name, versions in lowest if versions]


def check(python: Path, folder: Path) -> None:
    """Use an installed corel as a stranger would: loss, gallery, extras, command line, types."""
    clean = {"PYTHONPATH": "", "PATH": f"{python.parent}:{os.environ['PATH']}"}
    folder.mkdir()
    print(run(python, "-m", "corel", "--version", **clean), end="")
    subprocess.run([python, TRIES], cwd=folder, env={**os.environ, **clean}, check=True)
    print(run(python, "-m", "pip", "list", "--format", "freeze", **clean), end="")


def release(folder: Path) -> Path:
    """Build the last commit twice, compare, and give the wheel."""
    builder, source = environment(folder / "builder", "build"), export(folder)
    committed = run("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    once, again = (build(builder, source, folder / name, committed) for name in ("once", "again"))
    if once != again:
        sys.exit(f"two builds differ: {once} and {again}")
    print("built twice, equal byte for byte:", *once)
    (wheel,) = (folder / "once").glob("*.whl")
    if found := large_files(wheel):
        sys.exit(f"too large for a wheel: {', '.join(found)}")
    return wheel


def main() -> None:
    """Build twice, install twice, try both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("build", "newest", "oldest"), help="one part of the check")
    parser.add_argument("--newest-python", default=sys.executable, help="for the environment with the newest packages")
    parser.add_argument("--oldest-python", default=sys.executable, help="for the one with the oldest")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = release(folder)
        for name, base, pins in (
            ("newest", asked.newest_python, []),
            ("oldest", asked.oldest_python, oldest(requirements(wheel))),
        ):
            if asked.only in (None, name):
                packages = [f"{wheel}[{','.join(EXTRAS)}]", *pins, "mypy"]
                check(environment(folder / name, *packages, base=base), folder / f"{name}-tried")
                print(f"works with the {name} of everything")


if __name__ == "__main__":
    main()
