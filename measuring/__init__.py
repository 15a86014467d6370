"""What experiments and benchmarks share: records of results, the plain training loop, a fixed number of threads."""
