"""The vector instructions give what plain numba gives, bit by bit, and are compiled again after a change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corel
from corel.persistence import prim, simd
from corel.persistence.simd.vectors import LANES

PACKAGE = Path(corel.__file__).parent
Result = tuple[int, prim.Array, prim.Array]


def by_simd(clouds: prim.Array) -> Result:
    edges, lengths = _outputs(clouds)
    return simd.merge_edges(clouds, edges, lengths), edges, lengths


def by_numba(clouds: prim.Array) -> Result:
    """The same with how many clouds were done: all of them, or those before the one in trouble."""
    edges, lengths = _outputs(clouds)
    trouble = prim.merge_plainly(clouds, 1.0, 0, edges, lengths)
    bad = (trouble - 1) // clouds.shape[1] if trouble > 0 else -trouble - 1
    return int(bad) if trouble else len(clouds), edges, lengths


def _outputs(clouds: prim.Array) -> tuple[prim.Array, prim.Array]:
    n, b, _ = clouds.shape
    return np.zeros((n, b - 1, 2), np.int64), np.zeros((n, b - 1), np.float32)


@given(
    st.integers(1, 2 * LANES + 3),
    st.integers(2, 40),
    st.integers(1, 12),
    st.sampled_from(["gaussian", "lattice", "equal", "tiny"]),
    st.integers(0, 2**31),
)
def test_the_simd_kernel_equals_its_plain_twin(n: int, b: int, dimension: int, kind: str, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n, b, dimension))
    scale = {"gaussian": values, "lattice": values.round(), "equal": 0 * values, "tiny": 1e-44 * values}
    clouds = scale[kind].astype(np.float32)
    done, edges, lengths = by_simd(clouds)
    assert done == n
    _, expected_edges, expected_lengths = by_numba(clouds)
    np.testing.assert_array_equal(edges, expected_edges)
    np.testing.assert_array_equal(lengths.view(np.int32), expected_lengths.view(np.int32))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("where", [0, 3, LANES - 1, LANES, LANES + 2])
def test_the_simd_kernel_stops_before_a_cloud_that_its_twin_refuses(where: int, bad: float) -> None:
    clouds = np.random.default_rng(0).normal(size=(LANES + 4, 9, 3)).astype(np.float32)
    clouds[where, 4] = bad
    done, edges, _ = by_simd(clouds)
    refused, expected, _ = by_numba(clouds)
    assert refused == where
    assert done == (where if where >= LANES else 0)  # sixteen clouds are done together or not at all
    np.testing.assert_array_equal(edges[:done], expected[:done])


def test_other_modules_use_only_the_one_function() -> None:
    outside = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "simd"]
    users = [path for path in outside if "persistence.simd." in path.read_text()]
    assert not users


MEASURE = """
import torch
from corel.persistence import death_times
print(death_times(torch.tensor([[0.0], [1.0], [3.0]])).tolist())
"""


def test_a_changed_helper_is_compiled_anew(tmp_path: Path) -> None:
    """A copy of the package whose helper counts every coordinate twice must not run the old machine code."""
    copied = tmp_path / "corel"
    copied.mkdir()
    for name in ("_compute", "_errors.py", "_terminal.py", "persistence"):
        copy = shutil.copytree if (PACKAGE / name).is_dir() else shutil.copy
        copy(PACKAGE / name, copied / name)
    (copied / "__init__.py").touch()
    for cache in copied.rglob("__pycache__"):
        shutil.rmtree(cache)
    assert _measured(tmp_path) == "[1.0, 2.0]"
    steps = copied / "persistence" / "simd" / "steps.py"
    added = "write.fadd(write.load(total), length)"
    steps.write_text(steps.read_text().replace(added, f"write.fadd({added}, length)"))
    assert _measured(tmp_path) == "[2.0, 4.0]"


def _measured(folder: Path) -> str:
    command = [sys.executable, "-c", MEASURE]
    environment = {"PYTHONPATH": str(folder), "PATH": ""}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
