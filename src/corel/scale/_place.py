"""Folders and files by their address: on this machine, or in a store that pyarrow reads (``s3://``, ``gs://``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from corel._io.atomic import write_atomically
from corel._io.regular import read_regular

MARK = "://"


def is_remote(address: str) -> bool:
    """Tell an address from a path."""
    return MARK in address


def resolve(address: str) -> tuple[Any, str]:
    """Give pyarrow's file system for an address or a path, and the path in it."""
    from pyarrow import fs

    if not is_remote(address):
        return fs.LocalFileSystem(), str(Path(address).expanduser().absolute())
    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError) as error:
        raise ValueError(f"{address} cannot be read ({error}); s3://, gs://, hdfs:// and file:// can") from error
    return found


def read(address: str) -> bytes:
    """Read a file; every failure is an OSError."""
    if not is_remote(address):
        return read_regular(Path(address).expanduser())
    try:
        system, path = resolve(address)
        with system.open_input_file(path) as file:
            content: bytes = file.read()
    except ValueError as error:
        raise OSError(str(error)) from error
    return content


@dataclass(frozen=True)
class Place:
    """The folder of a run's results; a file in it is whole or absent."""

    address: str

    @cached_property
    def _found(self) -> tuple[Any, str]:
        return resolve(self.address)

    def names(self) -> set[str]:
        """List the files that are there; none, if the folder is not there yet."""
        from pyarrow import fs

        system, path = self._found
        found = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        return {each.base_name for each in found if not each.base_name.startswith(".")}

    def open(self, name: str) -> Any:
        """Open a file to read any part of it."""
        system, path = self._found
        return system.open_input_file(f"{path}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write a file; in an object store it appears when it is complete, on a disk it is moved to its place."""
        system, path = self._found
        if not is_remote(self.address):
            write_atomically(Path(path, name), content)
            return
        system.create_dir(path)
        with system.open_output_stream(f"{path}/{name}") as file:
            file.write(content)
