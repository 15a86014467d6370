from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from corel.encoders import Autoencoder, BranchedLinear, to_unit_tensor


@settings(max_examples=25)
@given(branches=st.integers(1, 5), inputs=st.integers(1, 4), outputs=st.integers(1, 4), n=st.integers(0, 3))
def test_branched_linear_is_the_block_diagonal_linear_layer(branches: int, inputs: int, outputs: int, n: int) -> None:
    layer = BranchedLinear(branches * inputs, branches * outputs, branches)
    matrix = torch.from_numpy(scipy.linalg.block_diag(*layer.weight.detach().numpy()))
    x = torch.randn(n, branches * inputs)
    torch.testing.assert_close(layer(x), x @ matrix + layer.bias.detach().flatten())


def test_branches_do_not_see_each_other() -> None:
    layer = BranchedLinear(12, 6, branches=3)
    x = torch.randn(1, 12)
    jacobian = torch.func.jacrev(layer)(x)[0, :, 0]
    for i in range(3):
        for j in range(3):
            block = jacobian[2 * i : 2 * i + 2, 4 * j : 4 * j + 4]
            assert block.abs().min() > 0 if i == j else block.abs().max() == 0


def test_branched_linear_draws_from_the_full_fan_in() -> None:
    layer = BranchedLinear(2048, 160, branches=16)
    bound = 2048**-0.5
    for parameter in layer.parameters():
        assert 0.9 * bound < parameter.abs().max() <= bound


def test_branched_linear_stays_in_float32_under_autocast() -> None:
    layer, x = BranchedLinear(8, 4, 2), torch.randn(3, 8)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x.bfloat16()).dtype == torch.float32
        torch.testing.assert_close(layer(x), layer(x.double().float()), rtol=0, atol=0)


def test_the_decoder_computes_transposed_convolutions_and_their_gradients() -> None:
    ours = Autoencoder().decoder[-1]
    theirs = torch.nn.ConvTranspose2d(32, 3, 3, stride=2, padding=1, output_padding=1)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(4, 32, 16, 16)
    expected, found = theirs(x), ours(x)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for layer, image in ((ours, found), (theirs, expected)):
        image.pow(2).sum().backward()
        assert layer.bias.grad is not None
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-4, atol=1e-2)  # sums of thousands of products


def test_parameters_are_as_many_as_the_authors_really_use() -> None:
    autoencoder = Autoencoder()
    assert sum(p.numel() for p in autoencoder.encoder.parameters()) == 113_888
    assert sum(p.numel() for p in autoencoder.parameters()) == 229_539


@pytest.mark.parametrize(
    ("branches", "branch_dim", "width", "channels", "size"), [(16, 10, 32, 3, 32), (2, 3, 4, 1, 8)]
)
def test_shapes(branches: int, branch_dim: int, width: int, channels: int, size: int) -> None:
    autoencoder = Autoencoder(branches, branch_dim, width, channels, size)
    images = torch.rand(5, channels, size, size)
    latents, reconstructed = autoencoder(images)
    assert latents.shape == (5, branches * branch_dim)
    assert reconstructed.shape == images.shape


def test_a_branch_reads_its_own_channels_in_full() -> None:
    """The flattening is channel-major: with 16 branches each sees 8 whole channels of the last 128."""
    *_, flatten, branched = Autoencoder().encoder.children()
    features = torch.zeros(2, 128, 4, 4).contiguous(memory_format=torch.channels_last)
    features[1, 8:16] = 1
    silent, heard = branched(flatten(features))
    latents = heard - silent
    assert (latents.view(16, 10).abs().sum(dim=1) > 0).tolist() == [j == 1 for j in range(16)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"image_size": 20}, "image_size is 20; three halvings need a multiple of 8"),
        ({"branches": 3}, "branches is 3, which does not divide 2048 inputs and 30 outputs"),
        ({"branch_dim": 0}, "must be at least 1"),
    ],
)
def test_impossible_shapes_are_refused(arguments: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Autoencoder(**arguments)


def test_to_unit_tensor_scales_and_moves_the_channels() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3), np.uint8)
    tensor = to_unit_tensor(pixels)
    np.testing.assert_array_equal(tensor.numpy(), np.float32(pixels.transpose(0, 3, 1, 2)) / np.float32(255))
    assert tensor.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(to_unit_tensor(tensor.double()), tensor)


@pytest.mark.parametrize(
    ("images", "error", "sentence"),
    [
        (np.zeros((32, 32, 3), np.uint8), ValueError, "a single image needs a leading dimension"),
        (np.zeros((1, 32, 32, 3), np.int64), TypeError, "must be uint8"),
        (np.full((1, 3, 32, 32), 255.0), ValueError, r"must lie in \[0, 1\], got 255 to 255"),
        (np.full((1, 3, 32, 32), np.nan), ValueError, "got nan to nan"),
        (["a.png"], ValueError, "got list"),
        (np.zeros((1, 16, 16, 3), np.uint8), ValueError, r"images must have 3 channels and 32×32 pixels"),
        (np.zeros((1, 3, 32, 32), np.uint8), ValueError, r"\[1, 32, 3, 32\]"),
    ],
)
def test_other_input_than_images_is_refused(images: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        Autoencoder().encode(images)


def test_images_with_negative_strides_are_taken() -> None:
    """Mirror images, or channels in the other order, as views of an array: torch knows no negative strides."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), np.uint8)
    for view in (pixels[:, :, ::-1], pixels[..., ::-1]):
        torch.testing.assert_close(to_unit_tensor(view), to_unit_tensor(view.copy()))


def test_encode_batches_by_itself() -> None:
    autoencoder = Autoencoder(2, 3, 4, 3, 8)
    pixels = np.random.default_rng(0).integers(0, 256, (7, 8, 8, 3), np.uint8)
    pixels.flags.writeable = False  # as an array mapped from a file is
    whole = autoencoder.encoder(to_unit_tensor(pixels)).detach()
    latents = autoencoder.encode(pixels, batch_size=3)
    assert latents.dtype == torch.float32
    assert not latents.requires_grad
    torch.testing.assert_close(latents, whole)
    assert autoencoder.encode(pixels[:0]).shape == (0, 6)
