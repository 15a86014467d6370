"""Frames without a subject: blank, flat and noise frames of many kinds, drawn at random.

`DEVELOPED` are the kinds that the limits of `corel.images.photographic` were chosen with. `HELD_OUT` were named before
anything was measured on them, and judge the limits. `NOT_CLAIMED` have edges or areas as photographs do; nobody claims
that they are stopped, and the study says how many are.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Pixels = NDArray[np.uint8]
Doubles = NDArray[np.float64]
Frame = Callable[[np.random.Generator, int], Pixels]

SIDES = (32, 64, 200, 640)  # pixels of the frames before they are resized


def resized_frames(frame: Frame, count: int, size: int, seed: int) -> Pixels:
    """Make frames of several sizes and bring them to one ``[count, size, size, 3]``."""
    rng = np.random.default_rng(seed)
    made = [Image.fromarray(frame(rng, int(rng.choice(SIDES)))) for _ in range(count)]
    return np.stack([np.asarray(each.resize((size, size), Image.Resampling.BILINEAR)) for each in made])


def clipped(values: NDArray[Any]) -> Pixels:
    """Bring values into the range of pixels."""
    return np.asarray(np.clip(values, 0, 255).astype(np.uint8))


def _black_or_white(rng: np.random.Generator, side: int) -> Pixels:
    return np.full((side, side, 3), rng.choice([0, 255]), np.uint8)


def _flat(rng: np.random.Generator, side: int) -> Pixels:
    return np.broadcast_to(rng.integers(0, 256, 3).astype(np.uint8), (side, side, 3)).copy()


def _flat_with_noise(rng: np.random.Generator, side: int) -> Pixels:
    return clipped(_flat(rng, side) + rng.normal(0, rng.uniform(0.5, 6), (side, side, 3)))


def _color_noise(rng: np.random.Generator, side: int) -> Pixels:
    return clipped(rng.normal(rng.uniform(60, 200), rng.uniform(15, 80), (side, side, 3)))


def _gray_noise(rng: np.random.Generator, side: int) -> Pixels:
    gray = rng.normal(rng.uniform(60, 200), rng.uniform(15, 80), (side, side, 1))
    return clipped(gray.repeat(3, axis=2))


def _noise(rng: np.random.Generator, side: int) -> Pixels:
    return (_color_noise, _gray_noise)[rng.integers(2)](rng, side)


def _salt_and_pepper(rng: np.random.Generator, side: int) -> Pixels:
    frame, dice, share = _flat(rng, side), rng.random((side, side)), rng.uniform(0.05, 0.5)
    frame[dice < share / 2], frame[dice > 1 - share / 2] = 0, 255
    return frame


def _ramp(rng: np.random.Generator, side: int) -> Doubles:
    """A linear or a radial ramp from 0 to 1."""
    x, y = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    angle = rng.uniform(0, 2 * np.pi)
    ramp = np.hypot(x - 0.5, y - 0.5) if rng.random() < 0.3 else x * np.cos(angle) + y * np.sin(angle)
    return np.asarray((ramp - ramp.min()) / np.ptp(ramp))


def _between_colors(rng: np.random.Generator, share: Doubles) -> Doubles:
    first, last = rng.uniform(0, 255, (2, 3))
    return np.asarray(first + (last - first) * share[..., None])


def _gradient(rng: np.random.Generator, side: int) -> Pixels:
    return clipped(_between_colors(rng, _ramp(rng, side)))


def _blurred_noise(rng: np.random.Generator, side: int) -> Pixels:
    return _blurred(_noise(rng, side), rng.uniform(0.5, 3) * side / 64)


def _blurred(pixels: Pixels, radius: float) -> Pixels:
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))


def _compressed_noise(rng: np.random.Generator, side: int) -> Pixels:
    return _compressed(_noise(rng, side), int(rng.integers(5, 60)))


def _compressed(pixels: Pixels, quality: int) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file).convert("RGB"))


def _lens_cap(rng: np.random.Generator, side: int) -> Pixels:
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    center = rng.uniform(-1, 1, 2)
    leak = rng.uniform(0, 10) * np.exp(-((x - center[0]) ** 2) - (y - center[1]) ** 2)
    return clipped(rng.uniform(0, 12, 3) + leak[..., None] + rng.normal(0, rng.uniform(1, 8), (side, side, 3)))


def _banded_noise(rng: np.random.Generator, side: int) -> Pixels:
    """Rows and columns of a sensor have offsets of their own, pixels have noise."""
    bands = rng.normal(0, rng.uniform(1, 8), (side, 1, 1)) + rng.normal(0, rng.uniform(0, 4), (1, side, 1))
    return clipped(rng.uniform(5, 120) + bands + rng.normal(0, rng.uniform(2, 12), (side, side, 3)))


def _vignette(rng: np.random.Generator, side: int, least: float, most: float) -> Doubles:
    """Light at each pixel, 1 in the middle, by the fourth power of a cosine; `least` to `most` is lost in a corner."""
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    corner = (1 - rng.uniform(least, most)) ** -0.5 - 1  # tan² of the angle there
    return np.asarray((1 + corner * (x**2 + y**2) / 2) ** -2.0)


def _vignetted_wall(rng: np.random.Generator, side: int) -> Pixels:
    light = rng.uniform(60, 230, 3) * _vignette(rng, side, 0.1, 0.6)[..., None]
    return clipped(light + rng.normal(0, rng.uniform(1, 6), (side, side, 3)))


def _vignetted_lens_cap(rng: np.random.Generator, side: int) -> Pixels:
    light = rng.uniform(4, 40) * _vignette(rng, side, 0.3, 0.9)[..., None]
    return clipped(light + rng.normal(0, rng.uniform(1, 8), (side, side, 3)))


def _dithered_gradient(rng: np.random.Generator, side: int) -> Pixels:
    """A gradient of 4 to 32 levels, dithered at random."""
    step = 255 / (rng.integers(4, 33) - 1)
    values = _between_colors(rng, _ramp(rng, side))
    return clipped(np.floor(values / step + rng.random((side, side, 1))) * step)


def _shot_noise(rng: np.random.Generator, side: int) -> Pixels:
    """A few photons a pixel, amplified."""
    photons, color = rng.uniform(1, 30), rng.uniform(40, 200, 3)
    return clipped(rng.poisson(photons, (side, side, 3)) / photons * color)


def _television_static(rng: np.random.Generator, side: int) -> Pixels:
    dots = rng.choice([rng.uniform(0, 60), rng.uniform(180, 255)], (side, side, 1))
    return clipped(dots.repeat(3, axis=2))


def _noise_blurred_otherwise(rng: np.random.Generator, side: int) -> Pixels:
    """By 0.3 to 8 pixels, whatever the size of the frame."""
    return _blurred(_noise(rng, side), rng.uniform(0.3, 8))


def _strongly_compressed_noise(rng: np.random.Generator, side: int) -> Pixels:
    made = _shot_noise(rng, side) if rng.random() < 0.3 else _noise(rng, side)
    return _compressed(made, int(rng.integers(1, 11)))


def _demosaiced_noise(rng: np.random.Generator, side: int) -> Pixels:
    """Noise of a Bayer sensor: a value of one color a pixel; the other colors come from the neighbors."""
    raw = rng.normal(rng.uniform(20, 160), rng.uniform(5, 50), (side, side))
    even = np.arange(side) % 2 == 0
    red, blue = np.outer(even, even), np.outer(~even, ~even)
    return clipped(np.stack([_filled_in(raw, own) for own in (red, ~(red | blue), blue)], axis=2))


def _filled_in(raw: Doubles, own: NDArray[np.bool_]) -> Doubles:
    """Mean of the `own` pixels among each pixel's 3 × 3 neighbors; the pixel itself where it is one."""
    padded, known = (np.pad(each, 1, mode="wrap") for each in (raw * own, own.astype(float)))
    windows = [np.lib.stride_tricks.sliding_window_view(each, (3, 3)).sum(axis=(2, 3)) for each in (padded, known)]
    return np.where(own, raw, windows[0] / windows[1])


def _finger(rng: np.random.Generator, side: int) -> Pixels:
    """A finger on the lens: dark red, brighter toward one side, with sensor noise."""
    color = np.array([rng.uniform(40, 160), rng.uniform(5, 40), rng.uniform(5, 30)])
    light = (1 - rng.uniform(0.2, 0.8) * _ramp(rng, side))[..., None]
    return clipped(color * light + rng.normal(0, rng.uniform(1, 8), (side, side, 3)))


def _clouds(rng: np.random.Generator, side: int) -> Pixels:
    """Gaussian noise with an amplitude of 1/f, stretched to full contrast."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None])
    spectrum = np.fft.rfft2(rng.normal(size=(side, side))) / np.maximum(frequency, 1 / side)
    field = np.fft.irfft2(spectrum, s=(side, side))
    return clipped(128 + 45 * ((field - field.mean()) / field.std())[..., None].repeat(3, axis=2))


def _mosaic(rng: np.random.Generator, side: int) -> Pixels:
    """Noise of 4 to 12 cells a side, enlarged."""
    cells = Image.fromarray(_color_noise(rng, int(rng.integers(4, 13))))
    return np.asarray(cells.resize((side, side), Image.Resampling.NEAREST))


def _saturated_gradient(rng: np.random.Generator, side: int) -> Pixels:
    """A gradient of which 30 to 70% are white."""
    share = rng.uniform(0.3, 0.7)
    return clipped(np.minimum(_ramp(rng, side) / share, 1)[..., None].repeat(3, axis=2) * 255)


DEVELOPED: dict[str, Frame] = {
    "black or white": _black_or_white, "one color": _flat, "one color with noise": _flat_with_noise,
    "color noise": _color_noise, "gray noise": _gray_noise, "salt and pepper": _salt_and_pepper,
    "gradient": _gradient, "blurred noise": _blurred_noise, "compressed noise": _compressed_noise,
    "lens cap with sensor noise": _lens_cap,
}  # fmt: skip
HELD_OUT: dict[str, Frame] = {
    "banded sensor noise": _banded_noise, "demosaiced sensor noise": _demosaiced_noise, "shot noise": _shot_noise,
    "television static": _television_static, "noise blurred by 0.3 to 8 pixels": _noise_blurred_otherwise,
    "noise as JPEG of quality 1 to 10": _strongly_compressed_noise, "dithered gradient": _dithered_gradient,
    "wall with a vignette": _vignetted_wall, "lens cap with a vignette": _vignetted_lens_cap,
    "finger on the lens": _finger,
}  # fmt: skip
NOT_CLAIMED: dict[str, Frame] = {
    "clouds of 1/f noise": _clouds, "mosaic of large cells": _mosaic, "half-saturated gradient": _saturated_gradient,
}  # fmt: skip
