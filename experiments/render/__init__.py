"""Committed results as tables, figures, sections of the documentation and model cards."""
