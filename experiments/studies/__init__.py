"""One module per table or figure; each has a `main` that takes its arguments and writes a record."""
