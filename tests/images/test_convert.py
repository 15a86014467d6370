"""Every odd image has one documented outcome."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from corel.images import Preparation, _convert
from corel.images._convert import BROKEN, explain


def decode(data: bytes, size: int) -> NDArray[np.uint8]:
    return _convert.decode(data, Preparation(size))


def from_array(image: NDArray[Any], size: int) -> NDArray[np.uint8]:
    return _convert.from_array(image, Preparation(size))


def from_pil(image: Image.Image, size: int) -> NDArray[np.uint8]:
    return _convert.from_pil(image, Preparation(size))


RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, (40, 24, 3), dtype=np.uint8)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def bilinear(samples: NDArray[np.uint8], size: int) -> NDArray[np.float64]:
    """Resize one plane by hand: each target pixel weighs its sources by a triangle as wide as the shrinkage."""

    def weights(n: int) -> NDArray[np.float64]:
        scale = n / size
        width = max(scale, 1.0)
        centers = (np.arange(size)[:, None] + 0.5) * scale
        triangle = np.clip(1 - np.abs(np.arange(n) + 0.5 - centers) / width, 0, None)
        normalized: NDArray[np.float64] = triangle / triangle.sum(1, keepdims=True)
        return normalized

    resized: NDArray[np.float64] = weights(samples.shape[0]) @ samples @ weights(samples.shape[1]).T
    return resized


@pytest.mark.parametrize("shape", [(40, 24), (8, 8), (64, 64), (33, 100)])
def test_resize_is_the_bilinear_filter_without_regard_to_aspect(shape: tuple[int, int]) -> None:
    pixels = RNG.integers(0, 256, (*shape, 3), dtype=np.uint8)
    resized = from_pil(Image.fromarray(pixels), 32).astype(float)
    expected = np.stack([bilinear(pixels[..., c], 32) for c in range(3)], axis=-1)
    assert np.abs(resized - expected).max() < 1.5  # Pillow rounds after each of the two axes


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_lossless_formats_keep_every_pixel(kind: str) -> None:
    square = NOISE[:24]
    assert np.array_equal(decode(encoded(Image.fromarray(square), kind), 24), square)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_lossy_formats_come_close(kind: str) -> None:
    smooth = np.linspace(0, 255, 24 * 24 * 3).reshape(24, 24, 3).astype(np.uint8)
    read = decode(encoded(Image.fromarray(smooth), kind, quality=95), 24)
    assert np.abs(read.astype(int) - smooth).mean() < 4


def test_gray_is_replicated() -> None:
    gray = NOISE[:24, :, 0]
    read = decode(encoded(Image.fromarray(gray), "PNG"), 24)
    assert np.array_equal(read, np.repeat(gray[..., None], 3, axis=-1))


@pytest.mark.parametrize(
    ("orientation", "undo"),
    [(2, np.fliplr), (3, lambda a: np.rot90(a, 2)), (4, np.flipud), (5, lambda a: a.transpose(1, 0, 2)),
     (6, lambda a: np.rot90(a, -1)), (7, lambda a: np.rot90(a, 2).transpose(1, 0, 2)), (8, np.rot90)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "JPEG"])
def test_exif_rotation_is_honored(orientation: int, undo: object, kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.kron(np.array([[0, 80], [160, 240]], np.uint8), np.ones((12, 12), np.uint8))
    stored = np.repeat(stored[..., None], 3, axis=-1)
    read = decode(encoded(Image.fromarray(stored), kind, exif=exif.tobytes()), 24)
    assert callable(undo)
    assert np.abs(read.astype(int) - undo(stored)).max() <= 3  # JPEG rounds


def test_transparent_pixels_show_white_whatever_lies_behind_them() -> None:
    image = np.zeros((8, 8, 4), np.uint8)
    image[..., 0], image[:4, :, 3], image[4:, :, 3] = 200, 255, 0
    read = decode(encoded(Image.fromarray(image), "PNG"), 8)
    assert np.array_equal(read[0, 0], [200, 0, 0])
    assert np.array_equal(read[7, 7], [255, 255, 255])


def test_palette_gives_its_colors_and_its_transparent_entry_white() -> None:
    image = Image.new("P", (8, 8), 1)
    image.putpalette([0, 0, 0, 10, 20, 30])
    image.putpixel((0, 0), 0)
    read = decode(encoded(image, "PNG", transparency=0), 8)
    assert np.array_equal(read[0, 0], [255, 255, 255])
    assert np.array_equal(read[5, 5], [10, 20, 30])


def test_one_bit_gives_black_and_white() -> None:
    image = Image.new("1", (8, 8), 1)
    image.putpixel((0, 0), 0)
    assert set(np.unique(decode(encoded(image, "PNG"), 8))) == {0, 255}


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_becomes_rgb(kind: str) -> None:
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    red, green, blue = decode(encoded(image, kind), 8)[4, 4].astype(int)
    assert (red > 250, green < 5, blue < 5) == (True, True, True)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_gray_keeps_the_high_byte(kind: str) -> None:
    samples = (np.arange(64, dtype=np.uint16) * 1021).reshape(8, 8)
    read = decode(encoded(Image.fromarray(samples), kind), 8)
    assert np.array_equal(read[..., 0], samples // 256)
    assert np.array_equal(read[..., 0], read[..., 2])


def test_sixteen_bit_color_keeps_the_high_byte() -> None:
    samples = RNG.integers(0, 65536, (8, 8, 3))
    assert np.array_equal(decode(png(8, 8, bits=16, kind=2, rows=samples.astype(">u2")), 8), samples // 256)


def test_float_samples_are_refused_with_a_reason() -> None:
    data = encoded(Image.fromarray(np.ones((8, 8), np.float32)), "TIFF")
    with pytest.raises(ValueError, match="no fixed white; save it with 8 or 16 bits"):
        decode(data, 8)


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
def test_of_several_frames_the_first_is_read(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue", "lime")]
    data = encoded(
        frames[0], kind, save_all=True, append_images=frames[1:], **({"lossless": True} if kind == "WEBP" else {})
    )
    assert Image.open(io.BytesIO(data)).n_frames == 3  # type: ignore[attr-defined]
    assert np.array_equal(decode(data, 8)[4, 4], [255, 0, 0])


def png(width: int, height: int, *, bits: int = 8, kind: int = 0, rows: np.ndarray | None = None) -> bytes:
    """Write a PNG by hand, so that its header may lie about the size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    raw = b"".join(b"\0" + row.tobytes() for row in rows) if rows is not None else b"\0\0"
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def test_decompression_bomb_is_refused_by_its_header() -> None:
    with pytest.raises(Image.DecompressionBombError) as caught:
        decode(png(60_000, 60_000), 32)
    assert isinstance(caught.value, BROKEN)
    assert "3600000000 pixels" in explain(caught.value)


@pytest.mark.parametrize("data", [b"not an image", b"<svg/>"])
def test_files_of_other_formats_are_refused(data: bytes) -> None:
    with pytest.raises(BROKEN) as caught:
        decode(data, 8)
    assert explain(caught.value).startswith("is no JPEG, PNG, WebP, BMP, TIFF, GIF")


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "is an empty file"), (b"%PDF-1.4", "is PDF, which is not read; convert it to PNG or JPEG")],
)
def test_empty_files_and_documents_are_called_that(data: bytes, reason: str) -> None:
    with pytest.raises(BROKEN) as caught:
        decode(data, 8)
    assert explain(caught.value) == reason


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "TIFF"])
def test_truncated_file_is_refused(kind: str) -> None:
    data = encoded(Image.fromarray(NOISE), kind)
    with pytest.raises(BROKEN):
        decode(data[: len(data) // 2], 32)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of corrupt metadata; here it is corrupt on purpose
@settings(max_examples=150)
@given(kind=st.sampled_from(["JPEG", "PNG", "WEBP", "BMP", "TIFF"]), data=st.data())
def test_damage_gives_an_image_or_a_reason_and_never_another_error(kind: str, data: st.DataObject) -> None:
    whole = bytearray(encoded(Image.fromarray(NOISE[:16]), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(*BROKEN):
        assert decode(bytes(whole), 8).shape == (8, 8, 3)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (np.full((8, 8), 0.5), 128),
        (np.full((8, 8, 1), 7, np.int64), 7),
        (np.full((3, 8, 8), 1.0, np.float32), 255),
        (np.full((8, 8, 3), 513, np.uint16), 2),
        (np.ones((8, 8), bool), 255),
    ],
)
def test_arrays_of_other_types_become_bytes(image: np.ndarray, expected: int) -> None:
    assert np.array_equal(from_array(image, 8), np.full((8, 8, 3), expected))


def test_channels_first_is_the_same_image_as_channels_last() -> None:
    assert np.array_equal(from_array(NOISE.transpose(2, 0, 1), 16), from_array(NOISE, 16))


@pytest.mark.parametrize(
    "image",
    [np.full((8, 8), 1.5), np.full((8, 8), -1), np.full((8, 8), 256), np.full((8, 8), np.nan), np.full((8, 8), "a")],
)
def test_values_outside_the_pixel_range_are_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"give uint8, or floats in \[0, 1\]"):
        from_array(image, 8)


@pytest.mark.parametrize("shape", [(8,), (5, 8, 8), (8, 8, 2), (2, 3, 8, 8)])
def test_shapes_that_are_no_image_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="an image must be"):
        from_array(np.zeros(shape, np.uint8), 8)


@pytest.mark.parametrize("shape", [(0, 8, 3), (8, 0, 3), (0, 8)])
def test_an_image_without_pixels_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="shows nothing"):
        from_array(np.zeros(shape, np.uint8), 8)
    with pytest.raises(ValueError, match="shows nothing"):
        from_pil(Image.new("RGB", (shape[1], shape[0])), 8)
