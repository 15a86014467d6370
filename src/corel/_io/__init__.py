"""Files: atomic writes, locks, arrays, tensors, rows, lines, their types, reading in a process apart, the Hub."""
