"""Speed against peers, measured side by side in one run; numbers are written to ``benchmarks/results``."""
