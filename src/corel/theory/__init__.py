"""The statements of the paper as functions, the tight interval of a given set, and the diagnosis of latents."""

from typing import Any as _Any

from corel._errors import warn_renamed
from corel.theory._diagnosis import Consequences as Consequences
from corel.theory._diagnosis import Diagnosis as Diagnosis
from corel.theory._diagnosis import diagnose as diagnose
from corel.theory._exact import BetaBounds as BetaBounds
from corel.theory._exact import Interval as Interval
from corel.theory._exact import beta_bounds as beta_bounds
from corel.theory._exact import diameter_bound as diameter_bound
from corel.theory._exact import exact_interval as exact_interval
from corel.theory._exact import stability_radius as stability_radius
from corel.theory._statements import annulus_counts as annulus_counts
from corel.theory._statements import annulus_entropy_bound as annulus_entropy_bound
from corel.theory._statements import connectivity_interval as connectivity_interval
from corel.theory._statements import guaranteed_neighbors as guaranteed_neighbors
from corel.theory._statements import is_connected_within as is_connected_within
from corel.theory._statements import is_dense as is_dense
from corel.theory._statements import is_separated as is_separated
from corel.theory._statements import largest_batch_size as largest_batch_size
from corel.theory._statements import metric_entropy as metric_entropy
from corel.theory._statements import separation_sample_size as separation_sample_size
from corel.theory._statements import smallest_dimension as smallest_dimension


def __getattr__(name: str) -> _Any:
    if name == "guaranteed_neighbours":
        warn_renamed("corel.theory.guaranteed_neighbours", "guaranteed_neighbors")
        return guaranteed_neighbors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
