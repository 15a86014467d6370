"""One module per table or figure of the paper; each writes its numbers to ``experiments/results``."""
