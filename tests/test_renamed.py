"""Old spellings of public names work for one release, with a warning."""

from __future__ import annotations

import numpy as np
import pytest

import corel.gallery
import corel.theory
from corel.oneclass import OneClass


def test_old_names_are_the_new_things() -> None:
    with pytest.warns(FutureWarning, match="now spelled Enrollment"):
        assert corel.gallery.Enrolment is corel.gallery.Enrollment
    with pytest.warns(FutureWarning, match="now spelled guaranteed_neighbors"):
        assert corel.theory.guaranteed_neighbours is corel.theory.guaranteed_neighbors
    (why,) = OneClass().fit(np.eye(3)).explain(np.eye(3)[:1])
    with pytest.warns(FutureWarning, match="now spelled neighbors"):
        assert why.neighbours is why.neighbors
    found = corel.theory.Consequences.of(1.0, 2.0, eta=1.5, n=2, b=10, m=20)
    with pytest.warns(FutureWarning, match="now spelled neighbors"):
        assert found.neighbours == found.neighbors == 11


def test_other_names_are_unknown_as_ever() -> None:
    for module in (corel.gallery, corel.theory):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            module.nothing  # noqa: B018
