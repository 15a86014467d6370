"""Unpacks .zip and .tar.gz archives so that nothing lands outside the folder they are unpacked into."""

from __future__ import annotations

import errno
import gzip
import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from corel._io.atomic import sweep, sync_folder, temporary_name
from corel._terminal import shown, track

# What a damaged, encrypted or unknown archive raises; a full disk is another OSError.
_BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, EOFError, zlib.error, struct.error,
    UnicodeError, LookupError, NotImplementedError, RuntimeError, OverflowError, FileExistsError, NotADirectoryError,
)  # fmt: skip


def unpack(archive: Path, folder: Path, *, progress: bool) -> None:
    """Unpack `archive` into `folder`, all of it or, on any error, nothing.

    Raises:
        ValueError: the archive is damaged, or holds a link, a device or a path that leads out of `folder`.
        FileExistsError: something it would unpack is there already.

    """
    sweep(folder, ".unpacking")
    with _aside(folder) as aside:
        try:
            for name, content in track(_members(archive), f"unpacking {archive.name}", quiet=not progress):
                target = aside.joinpath(*_safe(name, archive))
                target.parent.mkdir(parents=True, exist_ok=True)
                with content, target.open("xb") as file:
                    shutil.copyfileobj(content, file)
        except _BROKEN as error:
            raise _damaged(archive, error) from error
        except OSError as error:
            if error.errno in (None, errno.EINVAL):  # a place before the beginning of the archive
                raise _damaged(archive, error) from error
            raise OSError(error.errno, f"cannot unpack {archive}: {error.strerror or error}", str(folder)) from error
        _move_all(aside, folder)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    place = folder / temporary_name(".unpacking")
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    return _zip_members(archive) if archive.suffix == ".zip" else _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _unsafe(member.filename, archive, "is a link or a device")
            if not member.is_dir():
                yield member.filename, file.open(member)


def _tar_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive) as file:
        for member in file:
            content = file.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, content
            elif not member.isdir():
                raise _unsafe(member.name, archive, "is a link or a device")


def _safe(name: str, archive: Path) -> tuple[str, ...]:
    path = PurePosixPath(name)
    # A backslash or a colon is a part of a name here and a way out on Windows.
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or not path.parts:
        raise _unsafe(name, archive, "leads out of the folder")
    return path.parts


def _damaged(archive: Path, error: Exception) -> ValueError:
    return ValueError(f"{archive} is damaged ({shown(error)}); remove it and fetch again")


def _unsafe(name: str, archive: Path, why: str) -> ValueError:
    return ValueError(f"{archive} is not unpacked: {shown(name)!r} in it {why}; get the archive from its publisher")


def _move_all(aside: Path, folder: Path) -> None:
    """Move every entry into `folder`, or none."""
    entries = sorted(aside.iterdir())
    if taken := next((folder / entry.name for entry in entries if (folder / entry.name).exists()), None):
        raise FileExistsError(f"{taken} is there already but is not the whole dataset; move it away and fetch again")
    try:
        for entry in entries:
            entry.rename(folder / entry.name)
        sync_folder(folder)
    except OSError:
        for entry in entries:
            if not entry.exists():
                (folder / entry.name).rename(entry)
        raise
