"""The CUDA kernel without a GPU: run in Triton's interpreter, and compiled ahead of time for two of them."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import torch

from corel.persistence import boruvka

pytest.importorskip("triton", reason="Triton is not installed")

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from corel.persistence import triton_prim

Clouds: TypeAlias = npt.NDArray[np.floating[Any]]
Found: TypeAlias = dict[str, list[list[list[int]]]]

RANDOM = np.random.default_rng(7)
CLOUDS: dict[str, Clouds] = {
    "two points": np.array([[[0.0, 1.0], [2.0, -1.0]]]),
    "line": np.cumsum(np.arange(9.0))[None, :, None],
    "grid": np.array([list(itertools.product(range(3), range(4)))], float),
    "simplex": np.eye(8)[None],
    "all equal": np.full((1, 7, 3), 0.5),
    "clusters": np.concatenate([RANDOM.standard_normal((1, 4, 2)) + 50 * k for k in range(3)], axis=1),
    "duplicates": RANDOM.integers(0, 3, (1, 12, 2)).astype(float),
    "two gaussians": RANDOM.standard_normal((2, 9, 5)),
    "a full block": RANDOM.standard_normal((1, 16, 3)),
}
NORMS = (1.0, 2.0, 3.0, 600.0, math.inf)
DTYPES = ("float32", "float64")
CASES = list(itertools.product(CLOUDS, DTYPES, NORMS))

# A process of its own, because triton.jit looks for TRITON_INTERPRET when the kernel is defined.
INTERPRET = """
import sys
import numpy as np
import torch
from corel.persistence import triton_prim
clouds = np.load(sys.argv[1])
edges = {}
for case in clouds:
    edges[case] = triton_prim.merge_edges(torch.from_numpy(clouds[case]), p=float(case.split("|")[2])).numpy()
np.savez(sys.argv[2], **edges)
"""


def case(name: str, dtype: str, p: float) -> str:
    return f"{name}|{dtype}|{p}"


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Edges of every case, from one run of the interpreter."""
    given, found = (tmp_path_factory.mktemp("interpreter") / name for name in ("clouds.npz", "edges.npz"))
    clouds: dict[str, Any] = {case(name, dtype, p): CLOUDS[name].astype(dtype) for name, dtype, p in CASES}
    np.savez(given, **clouds)
    command = [sys.executable, "-c", INTERPRET, str(given), str(found)]
    subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, check=True)
    return {name: edges.tolist() for name, edges in np.load(found).items()}


def length(gaps: Clouds, p: float) -> float:
    """The norm, squared for p = 2; sums run coordinate after coordinate."""
    if p == math.inf or not gaps.any():
        return float(gaps.max())
    unit = gaps.max() if p not in (1, 2) else gaps.dtype.type(1)
    total = sum((gap / unit) ** p for gap in gaps)
    return float(total if p in (1, 2) else unit * total ** (1 / p))


def kruskal(cloud: Clouds, p: float) -> list[list[int]]:
    """Merging edges from all edges sorted by (distance, i, j)."""
    edges = [(length(np.abs(cloud[i] - cloud[j]), p), i, j) for i, j in itertools.combinations(range(len(cloud)), 2)]
    component = list(range(len(cloud)))
    merging = []
    for _, i, j in sorted(edges):
        new, old = component[i], component[j]
        if new != old:
            merging.append([i, j])
            component = [new if c == old else c for c in component]
    return merging


@pytest.mark.parametrize(("name", "dtype", "p"), CASES)
def test_interpreted_edges_are_those_of_kruskal(interpreted: Found, name: str, dtype: str, p: float) -> None:
    expected = [kruskal(cloud, p) for cloud in CLOUDS[name].astype(dtype)]
    assert interpreted[case(name, dtype, p)] == expected


@pytest.mark.parametrize(("name", "dtype", "p"), CASES)
def test_interpreted_edges_are_those_of_the_torch_kernel(interpreted: Found, name: str, dtype: str, p: float) -> None:
    distances = boruvka.pairwise(torch.from_numpy(CLOUDS[name].astype(dtype)), p)
    assert interpreted[case(name, dtype, p)] == boruvka.merge_edges(distances).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", NORMS)
def test_closed_forms(interpreted: Found, dtype: str, p: float) -> None:
    """Gaps 1, 2, 3, … on a line merge in that order; equal distances attach every point to the first."""
    assert interpreted[case("line", dtype, p)] == [[[k, k + 1] for k in range(8)]]
    assert interpreted[case("simplex", dtype, p)] == [[[0, k] for k in range(1, 8)]]
    assert interpreted[case("all equal", dtype, p)] == [[[0, k] for k in range(1, 7)]]


@pytest.mark.parametrize("shape", [(3, 1, 4), (0, 5, 4)])
def test_without_edges_nothing_is_launched(shape: tuple[int, int, int]) -> None:
    assert triton_prim.merge_edges(torch.zeros(shape), 1.0).shape == (shape[0], shape[1] - 1, 2)


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compile anew each time, and leave the user's cache alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


def compiled(architecture: int, dtype: str, p: float, block: int) -> Any:
    signature = {"columns": f"*{dtype}", "codes": "*i64", "deaths": f"*{dtype}", "b": "i32", "dim": "i32"}
    constants = {"P": p, "BLOCK": block}
    source = ASTSource(triton_prim._prim, signature | dict.fromkeys(constants, "constexpr"), constants)
    target = GPUTarget("cuda", architecture, 32)
    return triton.compile(source, target=target, options=triton_prim.launch_options(block))


@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
@pytest.mark.parametrize(
    ("p", "block"),
    [
        *itertools.product([1.0], [2, 128, 1024, triton_prim.MAX_POINTS]),
        (2.0, 1024),
        (3.0, 1024),
        (math.inf, 1024),
    ],
)
def test_compiles_ahead_of_time(architecture: int, dtype: str, p: float, block: int, tmp_path: Path) -> None:
    kernel = compiled(architecture, dtype, p, block)
    assert f".target sm_{architecture}" in kernel.asm["ptx"]
    cubin = tmp_path / "kernel.cubin"
    cubin.write_bytes(kernel.asm["cubin"])
    assert cubin.read_bytes().startswith(b"\x7fELF")
    if p != 3.0:  # a general power is a library function, which may fuse and spill as it likes
        assert not re.search(r"\bfma\.", kernel.asm["ptx"]), "a fused multiply-add rounds unlike other kernels"
        assert _stack_bytes(cubin) == 0, "the state must fit into registers"


def _stack_bytes(cubin: Path) -> int:
    tool = triton.knobs.nvidia.cuobjdump.path
    usage = subprocess.run([tool, "-res-usage", cubin], capture_output=True, text=True, check=True).stdout
    (stack,) = re.findall(r"STACK:(\d+)", usage)
    return int(stack)
