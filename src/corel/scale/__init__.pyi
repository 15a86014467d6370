from ._cluster import cluster as cluster
from ._encoding import encoding_on_ray as encoding_on_ray
from ._manifest import Counts as Counts
from ._run import score as score
from ._scorer import Scorer as Scorer
