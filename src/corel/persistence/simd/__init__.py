"""The hand-vectorised part of persistence: Prim's algorithm on rows of sixteen lanes."""
