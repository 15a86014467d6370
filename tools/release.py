"""Check what would be released: `python -m tools.release`, some ten minutes and some gigabytes of downloads.

Wheel and sdist are built twice and must be equal byte for byte. The wheel is then installed in two fresh environments,
with the newest of everything and with the oldest that is declared, and used there as a stranger would.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 10_000_000  # bytes of a file in the wheel
TRIES = ROOT / "tools" / "stranger.py"


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


def environment(folder: Path, *packages: str | Path) -> Path:
    """Make an environment with these packages; gives its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *packages)
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


def oldest(requirements: Sequence[str]) -> list[str]:
    """Pin each requirement without a marker to the lowest version that it allows."""
    parsed = [Requirement(each) for each in requirements]
    lowest = [
        (each.name, [spec.version for spec in each.specifier if spec.operator == ">="])
        for each in parsed
        if not each.marker
    ]
    return [f"{name}=={versions[0]}" for name, versions in lowest if versions]


def check(python: Path, folder: Path) -> None:
    """Use an installed corel as a stranger would: loss, gallery, command line, types."""
    print(run(python, "-m", "corel", "--version"), end="")
    folder.mkdir()
    subprocess.run([python, TRIES], cwd=folder, check=True)


def main() -> None:
    """Build twice, install twice, try both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("build", "newest", "oldest"), help="one part of the check")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        builder, source = environment(folder / "builder", "build"), export(folder)
        committed = run("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
        once, again = (build(builder, source, folder / name, committed) for name in ("once", "again"))
        if once != again:
            sys.exit(f"two builds differ: {once} and {again}")
        print("built twice, equal byte for byte:", *once)
        (wheel,) = (folder / "once").glob("*.whl")
        if found := large_files(wheel):
            sys.exit(f"too large for a wheel: {', '.join(found)}")
        pins = oldest(metadata.requires("corel") or [])
        asked: dict[str, list[str]] = {"newest": [], "oldest": pins}
        for name, packages in asked.items():
            if only in (None, name):
                check(environment(folder / name, wheel, *packages, "mypy"), folder / f"{name}-tried")
                print(f"works with the {name} of everything")


if __name__ == "__main__":
    main()
