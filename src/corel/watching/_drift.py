"""Are new images still like the enrolled ones? A test of exchangeability, valid at every moment.

Each image is ranked among the calibration scores *and all images before it*, ties in random order. If all of these
are exchangeable, the ranks are independent and uniform, whatever the scores are (Vovk, Nouretdinov and Gammerman 2003).
Bets against that multiply a capital of one. Fair bets make the capital a martingale, and by Ville's inequality it ever
reaches 100 with probability at most 1%. Ranked among the calibration scores alone, all images would share the accidents
of one bag: the ranks would depend on each other, and false alarms would be common.

A part of the capital waits. It starts to bet at every image with a part of itself, so that a change after thousands of
quiet images is still bet on with capital that was not lost before.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence

LEVEL = 0.01  # probability of an alarm, ever, while nothing changes
POWERS = (0.25, 0.5, 0.75)  # a bet of power κ pays κ·p^(κ−1); another one the same for 1 − p
LEAST = 1e-12  # p-values are clipped to [LEAST, 1 − LEAST]: at 0 and 1 a bet would pay infinitely


class DriftTest:
    """Bets against the exchangeability of a stream of scores with the calibration scores.

    Attributes:
        count: how many scores came.
        log_bets: the logarithms of the capital of each bet.
        alarmed: whether the capital has ever reached `limit`.

    Example:
        >>> test = DriftTest(range(100), seed=0)
        >>> p_values = [test.update(score) for score in (-1, -9, -3, -5, -2)]
        >>> test.alarmed
        True

    """

    def __init__(self, calibration: Iterable[float], seed: int, limit: float = 1 / LEVEL) -> None:
        self._ascending = sorted(map(float, calibration))
        self._seed = seed
        self.limit = limit
        self.count = 0
        self.log_bets = [-math.inf] * (2 * len(POWERS))
        self.alarmed = False

    def update(self, score: float) -> float:
        """Rank a score among all before it, bet, and give its p-value, which is small for a low score."""
        p_value = self._rank(score)
        insort(self._ascending, score)
        self.bet(p_value)
        return p_value

    def bet(self, p_value: float) -> None:
        """Bet on a p-value; only `update` makes p-values for which the promise holds."""
        begun = math.log((waiting(self.count) - waiting(self.count + 1)) / len(self.log_bets))
        payoffs = log_payoffs(p_value)
        self.log_bets = [_log_sum(bet, begun) + paid for bet, paid in zip(self.log_bets, payoffs, strict=True)]
        self.count += 1
        self.alarmed |= self.log_capital >= math.log(self.limit)

    @property
    def log_capital(self) -> float:
        """The natural logarithm of the capital, all bets and what waits together."""
        return _log_sum(math.log(waiting(self.count)), *self.log_bets)

    def resume(self, scores: Sequence[float], log_bets: Sequence[float], *, alarmed: bool) -> None:
        """Go on after these scores, with the bets as they were."""
        self._ascending = sorted([*self._ascending, *scores])
        self.count, self.log_bets, self.alarmed = len(scores), list(log_bets), alarmed

    def _rank(self, score: float) -> float:
        below, through = bisect_left(self._ascending, score), bisect_right(self._ascending, score)
        # Each image has a random number of its own, which is the same after a restart.
        share = 1.0 - random.Random(f"{self._seed}/{self.count}").random()
        return float((below + share * (through - below + 1)) / (len(self._ascending) + 1))


def waiting(count: int) -> float:
    """The part of the capital that has not begun to bet after so many images: none of it is ever lost for good."""
    return 1.0 / (1.0 + math.log1p(count))


def log_payoffs(p_value: float) -> list[float]:
    """What one unit on each bet becomes, as a logarithm; over uniform p-values its mean is one, so the bet is fair."""
    p = min(max(p_value, LEAST), 1 - LEAST)
    return [math.log(power) + (power - 1) * math.log(each) for each in (p, 1 - p) for power in POWERS]


def _log_sum(*logs: float) -> float:
    """Add numbers that are given as logarithms; the largest may be too large for a float itself."""
    largest = max(logs)
    return largest + math.log(sum(math.exp(each - largest) for each in logs))
