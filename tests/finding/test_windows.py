from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from corel.finding._windows import UInt8Array, Windows, default_side, windows_in


def numbered(height: int, width: int) -> UInt8Array:
    """A photograph whose pixels are their own row, column and 0."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows % 256, columns % 256, 0 * rows], axis=-1).astype(np.uint8)


@given(height=st.integers(8, 60), width=st.integers(8, 60), batch=st.integers(1, 50))
def test_windows_cover_the_photograph_row_by_row_whatever_the_batches(height: int, width: int, batch: int) -> None:
    photo = numbered(height, width)
    windows = Windows(photo, side=8, size=8)
    cut = np.concatenate(list(windows.batches(batch)))
    tops, lefts = windows.corners
    assert len(cut) == len(windows) == len(tops) * len(lefts)
    seen = np.zeros((height, width), bool)
    for window in cut:
        top, left, _ = window[0, 0]
        np.testing.assert_array_equal(window, photo[top : top + 8, left : left + 8])
        seen[top : top + 8, left : left + 8] = True
    assert seen.all()
    assert (np.diff(tops) <= 2).all()  # a quarter of the side


def test_larger_windows_see_a_smaller_photograph() -> None:
    photo = np.kron(numbered(30, 40), np.ones((4, 4, 1), np.uint8))
    windows = Windows(photo, side=32, size=8)
    assert windows.scaled == (30, 40)
    rows, columns = windows.centers
    assert (rows[0], rows[-1], columns[0], columns[-1]) == (16, 104, 16, 144)


def test_examples_lie_in_the_box_and_are_different() -> None:
    photo = numbered(60, 80)
    bag = windows_in(photo, (10, 20, 30, 25), 40, size=8, sides=[8], seed=1)
    tops, lefts = bag[:, 0, 0, 0], bag[:, 0, 0, 1]
    assert (tops >= 20).all()
    assert (tops + 8 <= 45).all()
    assert (lefts >= 10).all()
    assert (lefts + 8 <= 40).all()
    assert len({(top, left) for top, left in zip(tops.tolist(), lefts.tolist(), strict=True)}) == 40
    np.testing.assert_array_equal(bag, windows_in(photo, (10, 20, 30, 25), 40, size=8, sides=[8], seed=1))


def test_a_box_of_one_window_gives_that_window() -> None:
    photo = numbered(60, 80)
    bag = windows_in(photo, (72, 52, 8, 8), 40, size=8, sides=[8])
    np.testing.assert_array_equal(bag, photo[None, 52:60, 72:80])


@pytest.mark.parametrize(
    ("box", "sentence"),
    [
        ((70, 0, 20, 20), "does not lie in the photograph of 80×60 pixels"),
        ((-1, 0, 20, 20), "does not lie in"),
        ((0, 0, 0, 20), "does not lie in"),
        ((0, 0, 7, 20), "no window of 8×8 fits"),
    ],
)
def test_boxes_that_cannot_be_used_are_refused(box: tuple[int, int, int, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        windows_in(numbered(60, 80), box, 5, size=8, sides=[8])


def test_windows_grow_with_the_photograph() -> None:
    assert default_side(numbered(427, 640), 32) == 32
    assert default_side(numbered(30, 4000), 32) == 200


@pytest.mark.parametrize(("side", "size"), [(40, 32), (100, 32), (20, 32), (9, 8)])
def test_windows_are_those_of_the_photograph_scaled_as_a_whole(side: int, size: int) -> None:
    photo = np.random.default_rng(0).integers(0, 256, (211, 307, 3), np.uint8)
    windows = Windows(photo, side, size)
    height, width = windows.scaled
    whole = np.asarray(Image.fromarray(photo).resize((width, height), Image.Resampling.BILINEAR)).astype(int)
    tops, lefts = windows.corners
    wanted = [whole[top : top + size, left : left + size] for top in tops for left in lefts]
    cut = np.concatenate(list(windows.batches(7)))
    assert np.abs(cut - np.stack(wanted)).max() <= 1  # rounded twice


def test_a_large_photograph_takes_little_memory_beside_it() -> None:
    """A window is smaller than the encoder's input, so it has to be enlarged."""
    photo = np.zeros((2000, 3000, 3), np.uint8)
    tracemalloc.start()
    for batch in Windows(photo, side=32, size=96).batches(64):
        assert batch.shape[1:] == (96, 96, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < photo.nbytes  # scaled as a whole it would take nine times that
