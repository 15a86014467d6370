"""The methods that the paper's Table 1 compares with, one file each, all behind one contract.

Each learns one class from its images alone and scores others, higher where an image looks more like the class:

    >>> import corel
    >>> from corel.baselines import DSEBM
    >>> digits = corel.images.open("digits")
    >>> threes = digits.take(digits.labels == 3)
    >>> DSEBM(epochs=1).fit(threes.take(range(20))).score_samples(digits.take(range(5))).shape
    (5,)

The defaults are the published settings, read in the public code of Golan & El-Yaniv (NeurIPS 2018) and, for Deep-SVDD,
of Ruff et al. (ICML 2018).
"""

from corel.baselines._shared import Baseline as Baseline
from corel.baselines.adt import ADT as ADT
from corel.baselines.dagmm import DAGMM as DAGMM
from corel.baselines.deep_svdd import DeepSVDD as DeepSVDD
from corel.baselines.dsebm import DSEBM as DSEBM
from corel.baselines.ocsvm import OCSVM as OCSVM

__all__ = ["ADT", "DAGMM", "DSEBM", "OCSVM", "Baseline", "DeepSVDD"]
