"""What the server keeps in memory for a while: prepared images, and exemplars that were removed."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from http import HTTPStatus

import numpy as np
from numpy.typing import NDArray

from corel.gallery import Exemplar
from corel.serve._problems import Refused

MOST_REMOVED = 10_000  # exemplars kept for undoing


@dataclass(frozen=True, eq=False)
class Prepared:
    """An image at the encoder's size; `hash` is the one it has, or would have, as an exemplar.

    `picture` is a thumbnail for people, where one was asked for and the encoder sees less.
    """

    name: str
    hash: str
    pixels: NDArray[np.uint8]
    picture: bytes | None = None


class Kept:
    """Prepared images by their hash, up to so many bytes; the least recently used go first."""

    def __init__(self, limit: int) -> None:
        self._limit, self._bytes = limit, 0
        self._images: OrderedDict[str, Prepared] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, prepared: Prepared) -> None:
        """Keep an image."""
        with self._lock:
            replaced = self._images.pop(prepared.hash, None)
            self._bytes += prepared.pixels.nbytes - (replaced.pixels.nbytes if replaced else 0)
            self._images[prepared.hash] = prepared
            while self._bytes > self._limit:
                self._bytes -= self._images.popitem(last=False)[1].pixels.nbytes

    def get(self, digest: str) -> Prepared | None:
        """Give an image if it is still there."""
        with self._lock:
            if digest in self._images:
                self._images.move_to_end(digest)
            return self._images.get(digest)


class Removed:
    """Exemplars that were removed a short while ago, in memory only: the file overwrites what it forgets."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._entries: dict[str, tuple[float, list[Exemplar]]] = {}
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def put(self, exemplars: list[Exemplar]) -> str:
        """Keep exemplars; gives the key to them."""
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._entries[key] = time.monotonic() + self._seconds, exemplars
            while len(self._entries) > 1 and sum(len(entry[1]) for entry in self._entries.values()) > MOST_REMOVED:
                del self._entries[next(iter(self._entries))]
            self._start_timer()
        return key

    def get(self, key: str) -> list[Exemplar]:
        """Give exemplars, or say that they are gone."""
        self._expire()
        with self._lock:
            if key not in self._entries:
                raise Refused(
                    HTTPStatus.GONE, "undo", f"this was undone already, or removed over {self._seconds:.0f} s ago"
                )
            return self._entries[key][1]

    def drop(self, key: str) -> None:
        """Forget what is under a key."""
        with self._lock:
            self._entries.pop(key, None)

    def drop_class(self, name: str) -> None:
        """Forget what was removed from a class."""
        with self._lock:
            self._entries = {key: entry for key, entry in self._entries.items() if entry[1][0].name != name}

    def rename_class(self, name: str, new: str) -> None:
        """Put what was removed from a class back under its new name."""
        with self._lock:
            for key, (until, exemplars) in self._entries.items():
                if exemplars[0].name == name:
                    self._entries[key] = until, [replace(each, name=new) for each in exemplars]

    def _expire(self) -> None:
        now = time.monotonic()
        with self._lock:
            self._entries = {key: entry for key, entry in self._entries.items() if entry[0] > now}

    def _start_timer(self) -> None:
        """Start a timer for the oldest entry, which expires first; one at a time, because each is a thread."""
        if self._timer is None and self._entries:
            until, _ = next(iter(self._entries.values()))
            self._timer = threading.Timer(max(0.0, until - time.monotonic()), self._on_timer)
            self._timer.daemon = True
            self._timer.start()

    def _on_timer(self) -> None:
        self._expire()
        with self._lock:
            self._timer = None
            self._start_timer()
