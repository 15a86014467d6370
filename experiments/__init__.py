"""The paper's tables and figures, reproduced: ``python -m experiments NAME`` runs one.

`studies` measures, one module per table or figure, and writes `results`; `render` turns results into tables, figures
and model cards; `_lib` holds what studies share; `paper` has the published numbers.
"""
