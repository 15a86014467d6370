"""How numbers are computed: compiled kernels, threads, memory, precision."""
