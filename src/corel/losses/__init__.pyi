from ._connectivity import ConnectivityLoss as ConnectivityLoss
from ._connectivity import connectivity_loss as connectivity_loss
from ._connectivity import split_branches as split_branches
