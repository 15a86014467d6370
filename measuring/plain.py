"""The training loop that one writes first, to compare `corel.train` with in time and in accuracy."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from corel.encoders import Autoencoder
from corel.losses import ConnectivityLoss

BATCH = 100


def plain_training(pixels: NDArray[np.uint8], epochs: int) -> Autoencoder:
    """The loop one writes first: images as float32 in channel order, Adam as it comes, nothing else."""
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous().float() / 255
    model = with_plain_layers(Autoencoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    connectivity = ConnectivityLoss(eta=2.0, branches=16)
    for _ in range(epochs):
        for chosen in torch.randperm(len(images)).view(-1, BATCH):
            batch = images[chosen]
            latents, reconstructed = model(batch)
            loss = (batch - reconstructed).abs().sum(dim=(1, 2, 3)).mean() + 20 * connectivity(latents)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()
    return model


def with_plain_layers(model: Autoencoder) -> Autoencoder:
    """Give the network the transposed convolutions of torch in place of ours, which compute the same faster."""
    for layer in model.decoder:
        if isinstance(layer, nn.ConvTranspose2d):
            layer.__class__ = nn.ConvTranspose2d
    return model
