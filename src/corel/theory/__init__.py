"""Lemmas, corollaries and Remark 2 of the paper as functions, and the diagnosis of a latent space."""

from corel.theory._diagnosis import Consequences as Consequences
from corel.theory._diagnosis import Diagnosis as Diagnosis
from corel.theory._diagnosis import diagnose as diagnose
from corel.theory._statements import annulus_counts as annulus_counts
from corel.theory._statements import annulus_entropy_bound as annulus_entropy_bound
from corel.theory._statements import connectivity_interval as connectivity_interval
from corel.theory._statements import guaranteed_neighbours as guaranteed_neighbours
from corel.theory._statements import is_connected_within as is_connected_within
from corel.theory._statements import is_dense as is_dense
from corel.theory._statements import is_separated as is_separated
from corel.theory._statements import largest_batch_size as largest_batch_size
from corel.theory._statements import metric_entropy as metric_entropy
from corel.theory._statements import separation_sample_size as separation_sample_size
from corel.theory._statements import smallest_dimension as smallest_dimension
