"""A one-class support vector machine on the codes of a convolutional autoencoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import OneClassSVM
from torch import Tensor, nn
from torch.nn import functional

from corel.baselines._shared import Baseline, ConvDecoder, ConvEncoder, Doubles, symmetric

CODE = 256


@dataclass(kw_only=True, eq=False)
class OCSVM(Baseline):
    """OC-SVM (CAE): an autoencoder of the class's images, and a radial one-class SVM on its codes in [−1, 1].

    The published numbers chose `nu` and `gamma` by the test AUC, which is impossible without the test labels.
    The defaults here are a choice that can be made beforehand; `codes` lets an experiment measure the other.

    Attributes:
        nu: the share of training images that may lie outside.
        gamma: the kernel's inverse squared width; ``"scale"`` takes it from the variance of the codes.

    """

    nu: float = 0.1
    gamma: float | str = "scale"
    _machine: Any = field(init=False, repr=False)

    def codes(self, images: Any) -> NDArray[np.float32]:
        """Give the autoencoder's codes ``[n, 256]`` of images."""
        return self._encode(self._checked(images))

    def _learn(self, pixels: Tensor) -> None:
        self._placed(nn.Sequential(ConvEncoder(CODE, nn.Tanh()), ConvDecoder(CODE)))
        images = symmetric(pixels.to(self._device()))

        def reconstruction_error(rows: Tensor) -> Tensor:
            return functional.mse_loss(self._network(images[rows]), images[rows])

        self._minimize(self._network, reconstruction_error, len(images))
        self._machine = OneClassSVM(nu=self.nu, gamma=self.gamma).fit(self._encode(pixels))

    def _score(self, pixels: Tensor) -> Doubles:
        scores: Doubles = self._machine.score_samples(self._encode(pixels))
        return scores

    def _encode(self, pixels: Tensor) -> NDArray[np.float32]:
        encoder = self._network.get_submodule("0")
        codes: NDArray[np.float32] = self._map(lambda batch: encoder(symmetric(batch)), pixels, "encoding").numpy()
        return codes
