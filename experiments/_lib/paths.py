"""Where results, figures and weights lie in the repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"
BENCHMARKS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "figures"
SHIPPED = ROOT / "src" / "corel" / "backbones"
