"""Telling whether two items are the same to an encoder."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def content_hash(value: NDArray[Any]) -> bytes:
    """Hash what the encoder sees of an item: its prepared pixels, or its row of features.

    Not the file's bytes: the same picture saved twice is one example, and an array has no file.
    """
    whole = np.ascontiguousarray(value)
    return hashlib.sha256(f"{whole.dtype.str} {whole.shape}".encode() + whole.tobytes()).digest()
