"""The shape of a head on features, by how many dimensions the features fill."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from corel.training.config import TrainConfig

SAMPLE = 4000  # rows that decide the rank
TABLE = 16  # up to this rank the latents of a table of measurements hold everything
MOST = 160  # numbers of a latent, as the paper's
TABLE_SHAPE = 4, 4, 128  # branches, their dimension, width
BRANCHES = 16


def by_rank(config: TrainConfig, rows: Tensor) -> TrainConfig:
    """Choose the shape of a head, and what its rows are, where a configuration leaves that open."""
    rank = effective_rank(rows)
    table = rank <= TABLE
    branches = config.branches or (TABLE_SHAPE[0] if table else BRANCHES)
    dim = config.branch_dim or (TABLE_SHAPE[1] if table else math.ceil(min(rank, MOST) / branches))
    width = config.width or TABLE_SHAPE[2]
    rows_are = config.rows if config.rows != "auto" else ("measurements" if table else "embeddings")
    return replace(config, branches=branches, branch_dim=dim, width=width, rows=rows_are)


def effective_rank(rows: Tensor) -> int:
    """Give the number of dimensions that standardized features fill: the exponential of their spectrum's entropy.

    Roy and Vetterli, "The effective rank", EUSIPCO 2007, of the covariance of a sample. D equal variances give D.
    """
    sample = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:SAMPLE]].double()
    deviation, mean = torch.std_mean(sample, dim=0, correction=0)
    changes = (sample != sample[0]).any(dim=0)  # because of rounding, a constant has a deviation above zero
    scaled = ((sample - mean) / deviation.where(changes, 1))[:, changes]
    variances = torch.linalg.svdvals(scaled).square()
    shares = variances / variances.sum().clamp(min=torch.finfo(torch.float64).tiny)
    return max(1, round(math.exp(float(torch.special.entr(shares).sum()))))
