"""The hand-vectorized part of persistence, fenced behind one function: `merge_edges` for L1 on float32.

Nothing outside this folder uses another name of it. Its plain-numba twin is `prim.merge_plainly`, which takes over
wherever this one stops; a test compares the two bit by bit. So the folder may be deleted at the cost of speed alone:
replace the call in `prim` by 0.
"""

from corel.persistence.simd.lanes import merge_edges as merge_edges

__all__ = ["merge_edges"]
