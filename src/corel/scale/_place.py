"""Folders and files by their address: on this machine, or in a store that pyarrow reads (``s3://``, ``gs://``).

An address is taken literally, as by the stores' own commands: ``s3://bucket/50% off.jpg`` is the object of that name.
Options of pyarrow may follow: ``s3://bucket/photos?region=eu-west-1``.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from corel._io.atomic import write_atomically
from corel._io.regular import read_regular

MARK = "://"
PATIENCE = 60  # seconds for a request to Google that fails again and again
STORES = ("s3", "gcs", "abfs")  # have no folders, and show an object when it is complete
_OPTIONS = re.compile(r"\?\w+=[^/?]*$")


class Address(NamedTuple):
    """The store or machine (``s3://bucket``), the path in it (``/photos/a.jpg``), and options (``?region=…``)."""

    start: str
    path: str
    options: str


def is_remote(address: str) -> bool:
    """Tell an address from a path."""
    return MARK in address


def split(address: str) -> Address:
    """Take an address apart."""
    found = _OPTIONS.search(address)
    options = found[0] if found else ""
    scheme, _, rest = address.removesuffix(options).partition(MARK)
    host, slash, path = rest.partition("/")
    return Address(f"{scheme}{MARK}{host}", slash + path, options)


def resolve(address: str) -> tuple[Any, str]:
    """Give pyarrow's file system for an address or a path, and the path in it."""
    from pyarrow import fs

    if not is_remote(address):
        return fs.LocalFileSystem(), str(Path(address).expanduser().absolute())
    start, path, options = split(address)
    try:
        system, base = _opened(f"{start}/{_with_defaults(start, options)}")
    except (ValueError, NotImplementedError) as error:
        raise ValueError(f"{address} cannot be read ({error}); s3://, gs://, hdfs:// and file:// can") from error
    return system, base.rstrip("/") + path


@lru_cache(maxsize=64)
def _opened(uri: str) -> tuple[Any, str]:
    """Open a store once: pyarrow asks Amazon for the region of a bucket, and keeps connections."""
    from pyarrow import fs

    found: tuple[Any, str] = fs.FileSystem.from_uri(uri)
    return found


def _with_defaults(start: str, options: str) -> str:
    """Add what pyarrow does not do by itself.

    It reads the S3 server of the environment too late: it looks for the bucket at Amazon first. Google's client tries
    for 15 minutes before it says that there are no credentials.
    """
    given = {name: values[-1] for name, values in parse_qs(options[1:]).items()}
    server = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if start.startswith(("gs:", "gcs:")):
        given.setdefault("retry_limit_seconds", str(PATIENCE))
    elif start.startswith(("s3:", "s3a:")) and server and "endpoint_override" not in given:
        found = urlsplit(server if MARK in server else f"http{MARK}{server}")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        given = {"region": region, **given, "scheme": found.scheme, "endpoint_override": found.netloc}
    return f"?{urlencode(given)}" if given else ""


def read(address: str) -> bytes:
    """Read a file; every failure is an OSError."""
    if not is_remote(address):
        return read_regular(Path(address).expanduser())
    try:
        system, path = resolve(address)
        with system.open_input_file(path) as file:
            content: bytes = file.read()
    except FileNotFoundError as error:  # a store's own message is a paragraph
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    except ValueError as error:
        raise OSError(str(error)) from error
    return content


@dataclass(frozen=True)
class Place:
    """The folder of a run's results; a file in it is whole or absent."""

    address: str

    @cached_property
    def _found(self) -> tuple[Any, str]:
        system, path = resolve(self.address)
        return system, path.rstrip("/")

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
        if system.type_name == "local":
            write_atomically(Path(path, name), content)
            return
        if system.type_name not in STORES:
            system.create_dir(path)
        with system.open_output_stream(f"{path}/{name}") as file:
            file.write(content)
