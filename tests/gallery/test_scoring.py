"""Scoring in batches: how many batches of pixels are in memory."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corel.backbone import Backbone
from corel.gallery import Gallery, Scores
from corel.gallery._scoring import embedded
from corel.images import _stream

from .test_gallery import backbone as backbone  # a fixture
from .test_gallery import colored
from .test_gallery import path as path


@pytest.mark.parametrize("halves", [5, 20])
def test_one_batch_is_encoded_and_half_a_batch_decoded_whatever_the_number_of_images(
    path: Path, backbone: Backbone, monkeypatch: pytest.MonkeyPatch, halves: int
) -> None:
    """The batch is encoded in two halves, one on each core."""
    read = _stream._batch
    pixels: list[weakref.ref[Any]] = []
    alive: list[int] = []
    decoded, go = threading.Semaphore(0), threading.Event()

    def counted(*arguments: Any, **options: Any) -> Any:
        batch = read(*arguments, **options)
        pixels.append(weakref.ref(batch.values))
        alive.append(sum(each() is not None for each in pixels))
        decoded.release()
        return batch

    def waiting(*arguments: Any) -> Any:
        assert go.wait(timeout=60)
        return embedded(*arguments)

    monkeypatch.setattr("corel.images.BATCH", 8)
    monkeypatch.setattr(_stream, "_batch", counted)
    monkeypatch.setattr("corel.gallery._gallery.embedded", waiting)
    asked = colored(0, 4 * halves, 3)
    with Gallery.open(path, backbone) as gallery, ThreadPoolExecutor(1) as pool:
        expected = gallery._bank().bank.scores(backbone.encode(asked))
        found = pool.submit(lambda: list(gallery.score_batches(iter(asked))))
        assert all(decoded.acquire(timeout=60) for _ in range(3))
        assert not decoded.acquire(timeout=0.5)  # a fourth half waits until one is encoded
        go.set()
        scores = Scores.joined(found.result(timeout=60)).scores
    assert len(pixels) == halves
    assert max(alive) == 3
    np.testing.assert_array_equal(scores, expected)


def test_recognize_warns_where_nothing_can_be_a_stranger(backbone: Backbone, tmp_path: Path) -> None:
    with Gallery.open(tmp_path / "few", backbone, create=True) as gallery:
        gallery.enroll("red", colored(0, 18, 1))
        with pytest.warns(UserWarning, match="18 exemplars cannot tell strangers at a rate of 0.05: 19 are needed"):
            gallery.recognize(colored(2, 2, 3))
        gallery.enroll("green", colored(1, 1, 2))
        assert len(gallery.recognize(colored(2, 2, 3))) == 2
