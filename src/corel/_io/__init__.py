"""Files: atomic writes, arrays, tensors, and telling file types apart."""
