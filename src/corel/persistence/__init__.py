"""0-dimensional Vietoris–Rips persistent homology of batches of point clouds, differentiable, with its pairings.

Kernels return integers only. With unique pairwise distances the pairing is locally constant (the appendix's first
lemma), so the death times are a gather and a norm, and one gradient covers every kernel.

Other rooms use these names and the modules without an underscore: `api`, `ops` (the operators that torch sees),
`direct_l1` (L1 on the CPU without them), `checks`, `lengths`, and the kernels `prim`, `boruvka`, `triton_prim`,
`reduction`.
"""

from corel.persistence._plot import plot_barcode
from corel.persistence.api import Barcode, barcode, death_times, merge_edges

__all__ = ["Barcode", "barcode", "death_times", "merge_edges", "plot_barcode"]
