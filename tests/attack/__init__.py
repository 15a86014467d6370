"""Damaged and hostile files against every reader: each gives a sentence, in bounded memory and time."""
