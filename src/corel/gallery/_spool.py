"""Exemplars on their way into a gallery: kept in a temporary file, so that memory does not grow with their number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

import numpy as np

from corel.gallery._exemplar import Exemplar

IN_MEMORY = 32 << 20  # bytes; more go to a file, which the system removes even after a kill
BLOBS = ("latent", "thumbnail", "features")


class Spool:
    """Exemplars in the order they were added, to be read once."""

    def __init__(self, gallery: Path) -> None:
        self._path = gallery
        self._file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY, dir=str(gallery.parent))  # noqa: SIM115 (closed below)

    def add(self, exemplar: Exemplar) -> None:
        """Write an exemplar behind the others."""
        record = asdict(exemplar)
        blobs = [record.pop(name) for name in BLOBS]
        data = [b"" if each is None else each.tobytes() if isinstance(each, np.ndarray) else each for each in blobs]
        sizes = [None if each is None else len(part) for each, part in zip(blobs, data, strict=True)]
        try:
            self._file.write(json.dumps([record, sizes]).encode() + b"\n" + b"".join(data))
        except OSError as error:
            raise OSError(
                f"there is no room beside {self._path} for what is enrolled ({error.strerror or error}), and it is "
                "as it was; free space and try again"
            ) from error

    def __iter__(self) -> Iterator[Exemplar]:
        self._file.seek(0)
        while line := self._file.readline():
            record, sizes = json.loads(line)
            latent, picture, features = (None if size is None else self._file.read(size) for size in sizes)
            yield Exemplar(
                **record,
                latent=np.frombuffer(latent or b"", np.float32),
                thumbnail=picture,
                features=None if features is None else np.frombuffer(features, np.float32),
            )

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
