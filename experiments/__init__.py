"""One module per table or figure of the paper, run by ``python -m experiments NAME``."""
