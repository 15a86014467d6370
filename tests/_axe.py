"""axe-core, which finds what keeps people with a screen reader or a keyboard out of a page.

It comes from npm's registry, pinned by version and by the hash of its one file, and is kept beside the environment's
packages. Without npm, tests skip, and fail under CI.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

VERSION = "4.14.0"
SHA256 = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
PLACE = Path(sys.prefix) / "share" / "corel-tests" / f"axe-core-{VERSION}.min.js"


def axe_source() -> str:
    """Give the script's text."""
    if not PLACE.exists():
        _fetch()
    if not PLACE.exists():
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say(f"axe-core {VERSION} is not here and npm could not fetch it; install npm, or allow it the network")
    content = PLACE.read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256, f"{PLACE} is not the pinned axe-core; delete it"
    return content.decode()


def _fetch() -> None:
    npm = shutil.which("npm")
    if npm is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        asked = [npm, "pack", f"axe-core@{VERSION}", "--pack-destination", folder, "--silent"]
        done = subprocess.run(asked, capture_output=True, check=False, cwd=folder, timeout=120)
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            return
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            PLACE.parent.mkdir(parents=True, exist_ok=True)
            temporary = PLACE.with_suffix(f".{os.getpid()}")
            temporary.write_bytes(member.read())
            temporary.rename(PLACE)
