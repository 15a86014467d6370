"""A small residual network into branches; what it learns is its objective's business."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from corel.encoders.base import Embedding, Network
from corel.encoders.branched import BranchedLinear
from corel.encoders.folding import Folding
from corel.encoders.pixels import images_of

if TYPE_CHECKING:
    from typing_extensions import Self


class ResidualNetwork(Network):
    """Four stages of 3×3 convolutions with batch norm, three of them halving, then a mean over places and the branches.

    Every branch sees all the features: they are few, and no decoder needs them apart. The file holds the weights in
    half precision, as training leaves them: the 2 million of 16 × 10 branches fit into 4 megabytes.

    Example:
        >>> import numpy as np
        >>> ResidualNetwork().eval().encode(np.zeros((5, 32, 32, 3), np.uint8)).shape
        torch.Size([5, 160])

    """

    half_weights = True
    own_features = True

    def __init__(
        self, branches: int = 16, branch_dim: int = 10, width: int = 32, channels: int = 3, image_size: int = 32
    ) -> None:
        super().__init__()
        self.architecture = {
            "branches": branches, "branch_dim": branch_dim, "width": width,
            "channels": channels, "image_size": image_size,
        }  # fmt: skip
        self.encoder = nn.Sequential(
            _convolution(channels, width),
            nn.ReLU(inplace=True),
            *(HalvingStage(width * 2**stage) for stage in range(3)),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            BranchedLinear(8 * width, branches * branch_dim, branches=1),
        )
        self.input_shape = (channels, image_size, image_size)
        self._folding = Folding()

    def train(self, mode: bool = True) -> Self:
        """Set the mode, and forget the folded copy; `eval` calls this too.

        Weights changed through ``.data`` or a numpy view are used in eval mode only after a call of `train` or `eval`.
        """
        self._folding.forget()
        return super().train(mode)

    @property
    def feature_count(self) -> int:
        """The channels of the second and third halving stage: 128 + 256 at a width of 32."""
        return 12 * self.architecture["width"]

    def embed_batch(self, prepared: Tensor) -> Embedding:
        """Give the latents, and the means over places of what the second and third stage return."""
        pooled = []
        values = prepared
        for layer in (self.encoder if self.training else self._folding.of(self.encoder)).children():
            values = layer(values)
            if isinstance(layer, HalvingStage):
                pooled.append(values.mean(dim=(2, 3)))
        return Embedding(values, torch.cat(pooled[1:], dim=1))

    def prepare(self, items: Any) -> Tensor:
        """Images as `to_unit_tensor` takes them, of this network's channels and size."""
        return images_of(self.input_shape, items)


class Residual(nn.Module):
    """relu(x + f(x)) with f two convolutions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.change = nn.Sequential(_convolution(width, width), nn.ReLU(inplace=True), _convolution(width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[n, width, s, s]`` to the same shape."""
        return self.change(x).add_(x).relu_()  # type: ignore[no-any-return]


class HalvingStage(nn.Sequential):
    """Half the side, twice the channels, then a residual block."""

    def __init__(self, width: int) -> None:
        super().__init__(_convolution(width, 2 * width, stride=2), nn.ReLU(inplace=True), Residual(2 * width))


def _convolution(inputs: int, outputs: int, stride: int = 1) -> nn.Module:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)  # batch norm has one
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))
