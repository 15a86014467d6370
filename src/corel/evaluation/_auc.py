"""The paper's measure: how well each class is told from all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score


def one_vs_all_auc(labels: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Each class's AUC `[C]`: the chance that an item of it scores higher for it than another item, ties one half.

    Args:
        labels: the class of each item `[n]`, a position in the columns of `scores`.
        scores: one column a class `[n, C]`, higher is more in-class.

    Example:
        >>> one_vs_all_auc([0, 0, 1], [[3.0, 1.0], [1.0, 1.0], [2.0, 1.0]]).tolist()
        [0.5, 0.5]

    """
    truth, values = np.asarray(labels), np.asarray(scores)
    return np.array([roc_auc_score(truth == label, values[:, label]) for label in range(values.shape[1])])
