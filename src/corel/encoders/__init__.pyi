from .autoencoder import Autoencoder as Autoencoder
from .base import Network as Network
from .base import channels_last as channels_last
from .branched import BranchedLinear as BranchedLinear
from .feature_head import FeatureHead as FeatureHead
from .pixels import images_of as images_of
from .pixels import to_unit_tensor as to_unit_tensor
from .residual import ResidualNetwork as ResidualNetwork
