"""The first two minutes: things found in a photograph, windows recognized by a gallery, the loss at work.

`photos` is what ``corel demo`` runs; `digits` is the comparison with and without the loss, ``corel demo digits``.
"""
