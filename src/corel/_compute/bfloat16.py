"""Whether a device is fast at bfloat16, which is not the same as whether it says so."""

from __future__ import annotations

import functools
import subprocess
import sys

import torch

_PROBE = "import torch; torch.ones(64, 64, dtype=torch.bfloat16) @ torch.ones(64, 64, dtype=torch.bfloat16)"


def is_fast(device: torch.device) -> bool:
    """Say whether convolutions gain from bfloat16: GPUs that have it, and CPUs with working matrix tiles (AMX)."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and _tiles_work()


@functools.cache
def _tiles_work() -> bool:
    # Without tiles a CPU converts to float32 and back, which costs more than it saves.
    if not getattr(torch.cpu, "_is_amx_tile_supported", bool)():
        return False
    # Some virtual machines announce tiles and hide how many there are (leaf 0x1D of cpuid). oneDNN then sets up none,
    # and the first instruction on one ends the process: try it in another one.
    return subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False).returncode == 0
