"""0-dimensional Vietoris–Rips persistent homology of batches of point clouds, differentiable, with its pairings.

Operators return integers only: with unique pairwise distances the pairing is locally constant (the appendix's first
lemma), so the death times are a gather and a norm, and one gradient covers every kernel. `_fused_l1` is the shortcut
for the loss of a training step.
"""

from corel.persistence._api import Barcode, barcode, death_times, merge_edges
from corel.persistence._plot import plot_barcode

__all__ = ["Barcode", "barcode", "death_times", "merge_edges", "plot_barcode"]
