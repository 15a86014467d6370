"""Which CPUs train in bfloat16."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
import torch

from corel._compute import bfloat16

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    bfloat16._multiplied_natively.cache_clear()
    yield
    bfloat16._multiplied_natively.cache_clear()


@pytest.mark.parametrize(
    ("tiles", "dot_products", "probe", "expected"),
    [
        (False, False, 0, False),
        (False, True, 0, True),
        (True, True, 0, True),
        (True, True, -4, False),  # announced, but the first tile instruction ends the process
    ],
)
def test_a_cpu_is_fast_if_it_multiplies_bfloat16_itself(
    tiles: bool, dot_products: bool, probe: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: tiles, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: dot_products, raising=False)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], probe))
    assert bfloat16.is_fast(CPU) is expected


def test_an_old_torch_that_cannot_ask_stays_with_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    for feature in ("amx_tile", "avx512_bf16"):
        monkeypatch.delattr(torch.cpu, f"_is_{feature}_supported", raising=False)
    assert not bfloat16.is_fast(CPU)
