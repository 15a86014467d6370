"""The parts of the baselines against closed forms, slow oracles and published counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import digamma, logsumexp
from scipy.stats import multivariate_normal
from torch import nn

from corel.baselines._dirichlet import MOST_CONCENTRATED, fit_dirichlet
from corel.baselines._shared import ConvDecoder, ConvEncoder
from corel.baselines.adt import TRANSFORMS, _WideResNet, source_pixels, transform
from corel.baselines.dagmm import Mixture, energies, estimate
from corel.baselines.deep_svdd import away_from_zero, normalize_contrast


def parameters(network: nn.Module) -> int:
    return sum(each.numel() for each in network.parameters())


def test_parameter_counts() -> None:
    """The paper says ≈ 1.4M for the encoder and for the Wide ResNet; the WRN-10-4 of the public code has 1.21M."""
    assert parameters(ConvEncoder(256)) == 1_420_544
    assert parameters(_WideResNet(4)) == 1_214_744
    assert ConvDecoder(256)(torch.zeros(2, 256)).shape == (2, 3, 32, 32)


def reflected(i: int) -> int:
    return -1 - i if i < 0 else 63 - i if i > 31 else i


def moved(image: NDArray[np.int64], mirrored: bool, x: int, y: int, quarters: int) -> NDArray[np.int64]:
    """One pixel at a time."""
    result = np.empty_like(image)
    for r in range(32):
        for c in range(32):
            row, column = r, c
            for _ in range(quarters):  # where a quarter turn to the left takes the pixel from
                row, column = column, 31 - row
            row, column = reflected(row - y), reflected(column - x)
            result[r, c] = image[row, 31 - column if mirrored else column]
    return result


def test_transforms_are_72_distinct_and_as_an_oracle_moves_pixels() -> None:
    sources = source_pixels().numpy()
    assert len(np.unique(sources, axis=0)) == len(TRANSFORMS) == 72
    image = np.arange(1024).reshape(32, 32)
    for source, each in zip(sources, TRANSFORMS, strict=True):
        np.testing.assert_array_equal(source.reshape(32, 32), moved(image, *each))


def test_transforms_without_shift_are_invertible_and_the_others_lose_pixels() -> None:
    images = torch.rand(2, 3, 32, 32)
    for source, (_, x, y, _) in zip(source_pixels(), TRANSFORMS, strict=True):
        if x == y == 0:
            there = transform(images, source[None])
            assert torch.equal(transform(there, source.argsort()[None]), images)
        else:
            assert len(source.unique()) == (32 - abs(x)) * (32 - abs(y))


def test_dirichlet_is_recovered_from_samples() -> None:
    truth = np.array([[0.3, 2.0, 5.0], [40.0, 1.0, 9.0]])
    samples = np.stack([np.random.default_rng(0).dirichlet(alpha, 50_000) for alpha in truth])
    np.testing.assert_allclose(fit_dirichlet(np.log(samples)), truth, rtol=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_dirichlet_likelihood_is_stationary_for_few_samples_of_many_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 4, (1, 72)) + rng.normal(0, 1, (5, 72))
    logs = logits - logsumexp(logits, axis=1, keepdims=True)
    alpha = fit_dirichlet(logs)
    slope = digamma(alpha.sum()) - digamma(alpha) + logs.mean(axis=0)
    np.testing.assert_allclose(slope * alpha, 0, atol=1e-6)  # in the logarithm of α, where all classes weigh alike


def test_dirichlet_of_equal_samples_stops_at_a_finite_concentration() -> None:
    alpha = fit_dirichlet(np.log(np.tile([0.7, 0.2, 0.1], (4, 1))))
    np.testing.assert_allclose(alpha, MOST_CONCENTRATED * np.array([0.7, 0.2, 0.1]), rtol=1e-3)


def test_mixture_is_that_of_numpy_and_its_energy_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    points, component = rng.normal(size=(60, 4)), np.arange(60) % 3
    points[component == 1] += 2
    mixture = estimate(torch.from_numpy(points), torch.eye(3, dtype=torch.float64)[component], jitter=1e-9)
    logs = []
    for k in range(3):
        own = points[component == k]
        np.testing.assert_allclose(mixture.means[k], own.mean(axis=0))
        np.testing.assert_allclose(mixture.covariances[k], np.cov(own.T, bias=True), atol=1e-7)
        logs.append(np.log(1 / 3) + multivariate_normal(own.mean(axis=0), mixture.covariances[k]).logpdf(points))
    np.testing.assert_allclose(energies(torch.from_numpy(points), mixture), -logsumexp(logs, axis=0))


@pytest.mark.parametrize("scale", [0.0, 1e-8, 1e8])
def test_mixture_of_singular_covariance_is_finite_and_differentiable(scale: float) -> None:
    line = (scale * torch.outer(torch.arange(3.0), torch.ones(7))).double().requires_grad_()
    memberships = torch.tensor([[1.0, 0.0]] * 3).double()  # nobody belongs to the second
    value = energies(line, estimate(line, memberships, jitter=1e-6)).sum()
    (slope,) = torch.autograd.grad(value, line)
    assert torch.isfinite(value)
    assert torch.isfinite(slope).all()


def test_energy_of_a_standard_gaussian_at_its_center() -> None:
    standard = Mixture(torch.ones(1), torch.zeros(1, 2), torch.eye(2)[None])
    assert energies(torch.zeros(1, 2), standard).item() == pytest.approx(np.log(2 * np.pi))


def test_center_is_pushed_away_from_zero() -> None:
    center = away_from_zero(torch.tensor([-2.0, -0.05, 0.0, 0.05, 2.0]))
    assert center.tolist() == pytest.approx([-2.0, -0.1, 0.1, 0.1, 2.0])


def test_contrast_is_normalized_image_by_image() -> None:
    images = torch.rand(3, 3, 32, 32) * torch.tensor([1.0, 0.1, 0.0]).reshape(3, 1, 1, 1) + 0.2
    contrast = normalize_contrast(images)
    assert contrast.mean(dim=(1, 2, 3)).tolist() == pytest.approx([0, 0, 0], abs=0.05)
    assert contrast.abs().mean(dim=(1, 2, 3)).tolist()[:2] == pytest.approx([1, 1], abs=1e-4)
    assert torch.isfinite(contrast).all()
