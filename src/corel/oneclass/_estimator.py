"""One class from a handful of latents, under scikit-learn's contract for outlier detectors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from corel._errors import ArgumentError, ArgumentIndexError, ArgumentTypeError
from corel.oneclass._backbone_settings import Space, backbone_settings
from corel.oneclass._bank import ClassBank, check_support
from corel.oneclass._checks import Latents, Method, Seed, Ties, check_rate
from corel.oneclass._explain import Votes
from corel.oneclass._kernel import Doubles, Points

Initializer = TypeVar("Initializer", bound=Callable[..., None])


def _refusing_the_former_name(init: Initializer) -> Initializer:
    """Name the new argument where the former one is given; scikit-learn sees the arguments of what is wrapped."""

    @functools.wraps(init)
    def checked(self: OneClass, *arguments: Any, **settings: Any) -> None:
        if "score" in settings:
            old = settings["score"]
            raise ArgumentTypeError("score", f"is called method now; write OneClass(method={old!r})")
        init(self, *arguments, **settings)

    return cast("Initializer", checked)


class OneClass(OutlierMixin, BaseEstimator):
    """Recognize one class from m latents of it: Eq. 6 of the paper, contrasted, calibrated and explained.

    Args:
        branches: The parts B into which the columns `[n, B·D]` of a latent are split.
        radius: L1 distance within which exemplars count; the η the encoder was trained for.
        method: `"count"`, the paper's Σ_j |{i : ‖z^j − z_i^j‖₁ ≤ radius}|; `"contrast"`, per branch the log-ratio of
            the class's rate of neighbors, weighed by their distance, to the background's, summed; `"cosine"`, on
            whitened unit vectors the log of the mean exp(cos/τ) to the exemplars, and to one more that is like the
            background, over the same to the background, for which branches and radius mean nothing; `"auto"`, contrast
            where a background is given, else count.
        background: Latents `[G, B·D]` of images of anything, such as the encoder's training images.
        rate: The false-alarm rate of `predict`: the share of in-class points it may reject.

    Attributes:
        exemplars_: The latents that define the class `[m, B·D]`, in order of arrival.
        offset_: `predict` rejects below this score.

    `predict` and `p_values` keep their rate in finite samples, without any anomaly to learn from, when a test
    point of the class and the exemplars are exchangeable given the encoder and the background.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> model = OneClass(branches=2, rate=0.1).fit(rng.normal(size=(50, 4)))
        >>> model.predict([[0.0, 0.0, 0.0, 0.0], [9.0, 9.0, 9.0, 9.0]])
        array([ 1, -1])

    """

    @_refusing_the_former_name
    def __init__(
        self,
        branches: int = 1,
        radius: float = 2.0,
        method: Method = "auto",
        background: Latents | None = None,
        rate: float = 0.05,
    ) -> None:
        self.branches = branches
        self.radius = radius
        self.method = method
        self.background = background
        self.rate = rate

    @classmethod
    def from_backbone(cls, backbone: Space, **settings: Any) -> OneClass:
        """Take branches, radius and background from a backbone; `settings` override them.

        Fit it to `Backbone.encode`'s latents, or with ``method="cosine"`` to the features of `Backbone.embed`.
        """
        return cls(**{**backbone_settings(backbone, settings.get("method", "auto")), **settings})

    def fit(self, X: ArrayLike, y: object = None) -> OneClass:
        """Enroll the rows of `X [m, B·D]`; nothing is optimized."""
        return self._enroll(validate_data(self, X, dtype=[np.float64, np.float32]))

    def partial_fit(self, X: ArrayLike, y: object = None) -> OneClass:
        """Add exemplars after those already enrolled: the same as fitting on all of them."""
        if not hasattr(self, "bank_"):
            return self.fit(X, y)
        more = validate_data(self, X, dtype=self.exemplars_.dtype, reset=False)
        return self._enroll(np.concatenate([self.exemplars_, more]))

    def forget(self, indices: ArrayLike) -> OneClass:
        """Drop the exemplars at these positions of `exemplars_`: the same as never having enrolled them.

        Later exemplars move up, so positions are those of before the call, all at once.
        """
        check_is_fitted(self)
        rows = np.atleast_1d(np.asarray(indices))
        m = len(self.exemplars_)
        if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= m):
            raise ArgumentIndexError("indices", f"must be integers from 0 to {m - 1}, the {m} exemplars; got {rows}")
        kept = np.delete(self.exemplars_, rows.astype(np.int64), axis=0)
        if not len(kept):
            raise ArgumentError("indices", f"are all {m} exemplars, which leaves no class; drop the estimator instead")
        return self._enroll(kept)

    def score_samples(self, X: ArrayLike) -> Doubles:
        """Score each row of `X`; higher = more in-class."""
        return self._bank.scores(self._latents(X))[:, 0]

    def decision_function(self, X: ArrayLike) -> Doubles:
        """`score_samples` − `offset_`: negative where `predict` rejects."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """+1 in class, −1 out; in-class points are rejected at most at `rate`."""
        check_support(self.rate, [len(self._bank.exemplars)])
        if self._bank.are_apart:
            warnings.warn(
                f"no two exemplars are within the radius {self.radius:g} of each other, so nothing will be rejected. "
                "Choose a radius that fits the latents, such as their mean death time (corel.death_times).",
                stacklevel=2,
            )
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: ArrayLike, ties: Ties = "conservative", seed: Seed = None) -> Doubles:
        """Exact full-conformal p-value of each row: small = unlike the class.

        The point joins the bag and every member is scored against the others. With `ties="conservative"` an
        exchangeable point has P(p ≤ a) ≤ a for every a; with `"random"`, drawn from `seed`, P(p ≤ a) = a.
        """
        return self._bank.p_values(self._latents(X), ties, seed)[:, 0]

    def explain(self, X: ArrayLike) -> list[Votes]:
        """Give, per row and branch, the count, the background's rate, and the exemplars in the ball, nearest first."""
        return self._bank.explain(self._latents(X))

    @property
    def exemplars_(self) -> Points:
        """The enrolled latents `[m, B·D]`."""
        return self._bank.exemplars

    @property
    def offset_(self) -> float:
        """The ⌊rate·(m + 1)⌋-th smallest leave-one-out score of the exemplars."""
        return float(self._bank.thresholds(self.rate)[0])

    @property
    def _bank(self) -> ClassBank:
        check_is_fitted(self)
        bank: ClassBank = self.bank_
        return bank

    def _latents(self, X: ArrayLike) -> Points:
        latents: Points = validate_data(self, X, dtype=self._bank.exemplars.dtype, reset=False)
        return latents

    def _enroll(self, exemplars: Points) -> OneClass:
        check_rate(self.rate)
        settings = {"branches": self.branches, "radius": self.radius, "method": self.method}
        self.bank_ = ClassBank.of([exemplars], background=self.background, **settings)
        return self
