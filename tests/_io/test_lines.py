"""Files of lines that only grow."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from corel._io.lines import append_text


def test_a_full_disk_is_named_by_the_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # not on Windows
    path = tmp_path / "list.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, hard))  # as a full disk, but for this process alone
    try:
        with pytest.raises(OSError, match="too large") as caught:
            append_text(path, "a long line\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
