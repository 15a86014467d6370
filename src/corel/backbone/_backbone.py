"""A backbone: load, save, wrap, and encode with it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from corel._errors import ArgumentTypeError, renamed
from corel._io import hub, tensorfile
from corel._io.atomic import write_atomically
from corel._terminal import shown
from corel._version import __version__
from corel.backbone._card import describe, hub_page, latent_shape
from corel.backbone._file import (
    HASHES,
    KIND,
    POOLED,
    VERSION,
    check_finite,
    check_shapes,
    default_preparation,
    locate,
    rebuild,
    shipped,
    shipped_checksum,
)
from corel.encoders.base import Embedding, Network
from corel.encoders.export import to_onnx
from corel.encoders.graph import LATENTS
from corel.encoders.graph_steps import name_latents
from corel.encoders.pretrained import Pretrained
from corel.images import WHOLE, ImageSet, Preparation, Rows, from_document, views_of

# The best of the shipped ones on photographs that it was not trained on: experiments/results/stronger.json and
# backbones.json. On other images it is not: experiments/results/domains.json.
DEFAULT = "tiny-imagenet-contrastive-16x10"


@dataclass(eq=False, repr=False)
class Backbone:
    """A trained encoder, its scale, and a background: a sample of other images.

    Attributes:
        network: the trained network; `encode` is the way to use it.
        objective: the name of its training objective.
        eta: the death time that training asked for, and the radius of the paper's score.
        p: the norm of the latent space.
        batch_size: the number of latents at a time whose connectivity was shaped.
        deaths: per branch the mean over batches of the smallest, mean and largest death time, ``[B, 3]``:
            the paper's α̂, ε̂ and β̂.
        background: latents of auxiliary images, float32 ``[k, B·D]``.
        metadata: where it comes from: configuration, data, version, what it was measured on.
        preparation: how an item becomes the network's input; default: stretch to its size, no normalization.
        pooled_background: features of auxiliary images, float32 ``[k, F]``, where a network's features differ from its
            latents; None in older files.
        background_hashes: the hash of each item of the background as the encoder saw it, uint8 ``[k, 32]``; None for
            networks that corel trained.

    Example:
        >>> import corel
        >>> backbone = corel.Backbone.load()
        >>> backbone.encode(corel.images.open("digits").pixels[:4]).shape
        (4, 160)

    """

    network: Network
    objective: str
    eta: float
    p: float
    batch_size: int
    deaths: NDArray[np.float32]
    background: NDArray[np.float32]
    metadata: dict[str, Any]
    preparation: Preparation | Rows = None  # type: ignore[assignment]  # set below
    pooled_background: NDArray[np.float32] | None = None
    background_hashes: NDArray[np.uint8] | None = None

    def __post_init__(self) -> None:
        self.network.eval().requires_grad_(False)
        self.preparation = self.preparation or default_preparation(self.network)

    def __repr__(self) -> str:
        """Give one short line; `describe` says more."""
        shape = " × ".join(map(str, self.network.input_shape))
        return shown(f"<Backbone {self.objective}: {self.preparation.items} {shape} to {latent_shape(self)}>")

    @property
    def branches(self) -> int:
        """The number B of branches."""
        return self.network.architecture["branches"]

    @property
    def branch_dim(self) -> int:
        """The dimension D of each branch."""
        return self.network.architecture["branch_dim"]

    @property
    def digest(self) -> str:
        """A hash of the weights, the scale and the background: latents of equal digests may be compared."""
        return self._hash(self._tensors())

    @property
    def digests(self) -> tuple[str, ...]:
        """The digest and, where the background has pooled features, the digest that the file had without them.

        A gallery that was made before they were added knows the backbone by the latter; its latents are the same.
        """
        tensors = self._tensors()
        pooled = tensors.pop(POOLED, None)
        return (self.digest,) if pooled is None else (self.digest, self._hash(tensors))

    @property
    def background_features(self) -> NDArray[np.float32] | None:
        """Features of auxiliary images ``[k, F]``: what the cosine score compares with; None in older files."""
        return self.pooled_background if self.network.own_features else self.background

    def _hash(self, tensors: dict[str, Tensor]) -> str:
        settings = [self.objective, self.network.architecture, self.eta, self.p, self.batch_size]
        settings += self._stored_preparation().values()  # nothing, for the default: older digests stay
        content = hashlib.sha256(repr(settings).encode())
        for name, tensor in sorted(tensors.items()):
            content.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        return content.hexdigest()

    def encode(self, images: Any, batch_size: int = 512, *, progress: bool = False) -> NDArray[np.float32]:
        """Give the latents ``[n, B·D]`` of uint8 images ``[n, s, s, 3]`` or float images ``[n, 3, s, s]`` in [0, 1].

        An `ImageSet` is taken too; a backbone on vectors takes floats ``[n, features]``.
        """
        latents: NDArray[np.float32] = self.embed(images, batch_size, progress=progress).latents
        return latents

    def embed(self, images: Any, batch_size: int = 512, *, views: str = WHOLE, progress: bool = False) -> Embedding:
        """Give the latents, and the features ``[n, F]`` that the cosine score compares, in one pass.

        The features of a residual network are its stages' means over places; elsewhere they are the latents.
        `views` averages over the image and its mirror image ("mirror", twice the work), or over these and four
        corners likewise ("crops", ten times the work, uint8 images only).
        """
        items = images.pixels if isinstance(images, ImageSet) else images
        if isinstance(self.preparation, Preparation) and not hasattr(items, "shape"):
            raise ArgumentTypeError(
                "images",
                f"must be an array, a tensor or an ImageSet, not {type(items).__name__}; "
                f"corel.images.open(..., size={self.preparation.size}) reads files and pictures",
            )
        options: dict[str, Any] = {"progress": progress, "normalize": self.preparation.normalized}
        seen = [self.network.embed(each, batch_size, **options) for each in views_of(items, views)]
        return Embedding(*(np.mean([part.numpy() for part in parts], axis=0) for parts in zip(*seen, strict=True)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the one file, atomically."""
        document = {
            "objective": self.objective,
            "architecture": self.network.architecture,
            "eta": self.eta,
            "p": self.p,
            "batch_size": self.batch_size,
            "metadata": self.metadata,
            **self._stored_preparation(),
        }
        tensorfile.write(Path(path), KIND, VERSION, self._tensors(), document)

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str] | None = None) -> Backbone:
        """Open a backbone that ships with corel by its name, any other by its path.

        Without a name it is the one that is best on photographs. Loading runs no code from the file.
        """
        path = locate(DEFAULT if name_or_path is None else name_or_path)
        tensors, document = tensorfile.read(path, KIND, VERSION, file_checksum=shipped_checksum(path))
        try:
            check_finite(tensors)
            network = rebuild(document["objective"], document["architecture"], tensors)
            deaths, background = tensors["deaths"].float().numpy(), tensors["background"].float().numpy()
            preparation = from_document(document.get("preparation") or default_preparation(network).document())
            pooled = tensors[POOLED].float().numpy() if POOLED in tensors else None
            hashes = tensors[HASHES].numpy() if HASHES in tensors else None
            backbone = cls(network, document["objective"], document["eta"], document["p"], document["batch_size"],
                           deaths, background, document["metadata"], preparation, pooled, hashes)  # fmt: skip
            check_shapes(backbone)
        except (KeyError, TypeError, ValueError, RuntimeError, OverflowError, AttributeError) as error:
            raise ValueError(f"{path} is damaged or was edited: {shown(error, 300)}; get the file again") from error
        return backbone

    @classmethod
    def from_pretrained(cls, name_or_path: str | os.PathLike[str], revision: str | None = None) -> Backbone:
        """Open a backbone as `load` does, or one in a repository ``owner/name`` on the Hugging Face Hub.

        A shipped name or an existing file never touches the network.
        """
        local = str(name_or_path) in shipped() or Path(name_or_path).exists()
        if local or not hub.is_repository(str(name_or_path)):
            return cls.load(name_or_path)
        return cls.load(hub.download(str(name_or_path), revision))

    def push_to_hub(self, repository: str, *, private: bool = False) -> str:
        """Upload the file and its card to ``owner/name`` on the Hugging Face Hub, and give the address."""
        with tempfile.TemporaryDirectory() as place:
            self.save(Path(place, hub.FILE))
            Path(place, hub.CARD).write_text(hub_page(self, repository))
            return hub.upload(repository, Path(place), private=private)

    @classmethod
    def wrap(
        cls,
        encoder: Any,
        background: Any,
        *,
        size: int | None = None,
        layers: Sequence[str] = (),
        weights: str | os.PathLike[str] | None = None,
        mean: Sequence[float] | None = None,
        deviation: Sequence[float] | None = None,
        interpolation: str | None = None,
        crop: float | None = None,
        channels: str = "rgb",
        shrink: int | None = None,
        partial: str | os.PathLike[str] | None = None,
        encoding: Callable[[Network], AbstractContextManager[int]] = lambda network: nullcontext(1),
        progress: bool = False,
    ) -> Backbone:
        """Make a backbone of a frozen encoder, which runs once over unlabeled items.

        Args:
            encoder: ``lite0``, ``timm:NAME``, ``onnx:FILE`` or a torch module; ``vectors`` for embeddings that exist.
            background: photos of anything but the classes to enroll, as `corel.images.open` takes them; for
                ``vectors`` rows ``[n, D]``, or their .npy or .npz file.
            size: the side of the images; default: the model's own.
            layers: outputs of the encoder to join; default: its pooled output.
            weights: a file of weights for a timm model.
            mean: what is subtracted from colors in [0, 1]; default: the model's own.
            deviation: what they are divided by then.
            interpolation: Pillow's filter that resizes photos; default: the model's own, or bicubic.
            crop: the side of the square that is cut out, as a share of the photo's shorter side; default: the model's
                own, or all of it.
            channels: the order of the colors that the encoder takes: ``rgb`` or ``bgr``.
            shrink: the side in pixels to which the background's photos are shrunk first. For encoding images that are
                this small: the background should be as sharp as they are.
            partial: a file in which an interrupted run leaves what it has; the same call continues from it.
            encoding: gives a context in which the network encodes, such as `corel.scale.encoding_on_ray`.
            progress: show a bar on a terminal.

        Example:
            >>> import numpy as np, corel
            >>> rows = np.random.default_rng(0).normal(size=(200, 8))
            >>> corel.Backbone.wrap("vectors", rows).encode(rows[:3]).shape
            (3, 8)

        """
        from corel.encoders import wrapping

        file = None if weights is None else Path(weights)
        how = wrapping.Wrapping(size, layers, file, mean, deviation, interpolation, crop, channels)
        place = None if partial is None else Path(partial)
        with renamed(source="background", images="background"):
            found = wrapping.find_encoder(encoder, background, how)
            with encoding(found.network) as workers:
                options: Any = {"batch_size": wrapping.ENCODED * workers, "shrink": shrink, "progress": progress}
                seen = wrapping.run(found.network, found.preparation, found.source, partial=place, **options)
        data = {"source": seen.source, "items": seen.items, **({} if shrink is None else {"shrunk to": shrink})}
        return cls(
            seen.network, found.kind, seen.radius, 1.0, seen.batch, seen.deaths, seen.latents,
            {"encoder": found.provenance, "data": data, "version": __version__}, found.preparation,
            background_hashes=seen.hashes,
        )  # fmt: skip

    def background_rows(self, hashes: Iterable[str]) -> dict[str, int]:
        """Find the rows of the background whose items have these hashes, as a gallery computes them."""
        return {each: self._numbered[each] for each in hashes if each in self._numbered}

    @cached_property
    def _numbered(self) -> dict[str, int]:
        stored = () if self.background_hashes is None else self.background_hashes
        return {row.tobytes().hex(): number for number, row in enumerate(stored)}

    def describe(self) -> str:
        """Give a card to read: what the backbone is, where it comes from and what it was measured on."""
        return describe(self)

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the encoder as ONNX: float32 in, latents ``[n, B·D]`` out, any n.

        The input is called "images" and is ``[n, 3, s, s]`` in [0, 1], or "vectors" and is ``[n, d]``.
        """
        if isinstance(self.network, Pretrained):  # it has a graph already
            content = self.network.graph.numpy().tobytes()
            write_atomically(Path(path), name_latents(content, unit=not self.network.has_head))
            return
        example = torch.zeros(2, *self.network.input_shape)
        content = to_onnx(self.network.encoder, example, self.preparation.items, [LATENTS])
        write_atomically(Path(path), content)

    def _stored_preparation(self) -> dict[str, Any]:
        """Give what the file says of the preparation; nothing, where it is the default."""
        stored = self.preparation.document()
        return {} if stored == default_preparation(self.network).document() else {"preparation": stored}

    def _tensors(self) -> dict[str, Tensor]:
        weights = {f"network.{name}": tensor for name, tensor in self.network.stored_state().items()}
        # Half precision is plenty for a background: its rounding is far below the spread of the latents.
        background = torch.from_numpy(self.background).half()
        tensors = {**weights, "deaths": torch.from_numpy(self.deaths), "background": background}
        if self.pooled_background is not None:
            tensors[POOLED] = torch.from_numpy(self.pooled_background).half()
        if self.background_hashes is not None:
            tensors[HASHES] = torch.from_numpy(self.background_hashes)
        return tensors
