"""A frozen encoder that exists already, kept as an ONNX graph and run by onnxruntime."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from corel.encoders.base import Network
from corel.encoders.feature_head import FeatureHead
from corel.encoders.graph import Graph, check_again, runtime
from corel.encoders.graph_steps import append_head, whiten, whitening_matrix
from corel.encoders.pixels import images_of
from corel.encoders.whitening import Whitening

PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")


class Pretrained(Network):
    """Images in [0, 1] → the vector that the graph gives: one branch at length 1, or the branches of a head.

    The graph is part of the state, as bytes: a backbone's file and digest hold all of the encoder.
    """

    apart = False  # a block of large images may take a gigabyte, and the threads of onnxruntime wait without spinning

    graph: Tensor

    def __init__(self, branches: int, branch_dim: int, image_size: int, graph_bytes: int, head: int = 0) -> None:
        super().__init__()
        self.architecture = {
            "branches": branches, "branch_dim": branch_dim, "image_size": image_size, "graph_bytes": graph_bytes,
        }  # fmt: skip
        if head:  # files without a head have no such entry
            self.architecture["head"] = head
        self.input_shape = (3, image_size, image_size)
        self.register_buffer("graph", torch.zeros(graph_bytes, dtype=torch.uint8))
        self.encoder = GraphRunner(self)

    @classmethod
    def of(cls, checked: Graph, head_branches: int = 0) -> Pretrained:
        """Wrap a checked graph that takes images in [0, 1]; one that ends in a head has so many branches."""
        branches, head = head_branches or 1, int(head_branches > 0)
        network = cls(branches, checked.width // branches, checked.size, len(checked.content), head)
        network.graph.copy_(torch.frombuffer(bytearray(checked.content), dtype=torch.uint8))
        return network

    def whitened(self, whitening: Whitening) -> Pretrained:
        """Give the network that whitens what this one gives, in its graph."""
        content = whiten(self.graph.numpy().tobytes(), *whitening)
        return Pretrained.of(check_again(content, "the whitened graph"))

    @property
    def has_head(self) -> bool:
        """Whether the graph ends in a head, whose branches keep the scale that it was trained to."""
        return bool(self.architecture.get("head"))

    def unwhitened(self, latents: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the centered vectors, at length 1, of which these are the whitened ones."""
        turned = np.linalg.solve(whitening_matrix(self.graph.numpy().tobytes()).T, latents.T.astype(np.float64)).T
        unit: NDArray[np.float32] = normalize(torch.from_numpy(turned)).float().numpy()
        return unit

    def with_head(self, head: FeatureHead) -> Pretrained:
        """Give the network that runs its centered vectors through a head, in its graph."""
        content = append_head(self.graph.numpy().tobytes(), head.encoder)
        return Pretrained.of(check_again(content, "the graph with a head"), head.architecture["branches"])

    def prepare(self, items: Any) -> Tensor:
        """Images as `to_unit_tensor` takes them, of the graph's size."""
        return images_of(self.input_shape, items)


class GraphRunner(nn.Module):
    """Runs the graph of a network; a session of onnxruntime is made when it is first needed, in each process."""

    def __init__(self, owner: Pretrained) -> None:
        super().__init__()
        self._owner = (owner,)  # in a tuple, or the two modules would contain each other
        self._session: tuple[tuple[int, int], Any, Graph] | None = None

    def forward(self, images: Tensor) -> Tensor:
        """Map ``[n, 3, s, s]`` in [0, 1] to vectors ``[n, branches·branch_dim]``."""
        session, checked = self._ready()
        values = np.ascontiguousarray(images.detach().cpu().numpy())
        vectors = run_graph(session, checked, values)
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise ValueError(f"the encoder gives NaN or infinity for image {bad[0]} of a batch; use another encoder")
        found = torch.from_numpy(vectors)
        return found if self._owner[0].has_head else normalize(found)

    def _ready(self) -> tuple[Any, Graph]:
        # Threads do not survive a fork, and their number is torch's, which a caller may change.
        key = os.getpid(), torch.get_num_threads()
        if self._session is None or self._session[0] != key:
            checked = check_again(self._owner[0].graph.numpy().tobytes(), "the backbone's graph")
            self._session = key, start(checked.content), checked
        return self._session[1:]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}  # a session is neither copied nor pickled


def start(content: bytes) -> Any:
    """Make a session of onnxruntime with torch's number of threads, on CUDA where its provider is installed."""
    onnxruntime = runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A thread that waits by spinning takes its core from torch's threads and from decoding.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    providers = [each for each in PROVIDERS if each in onnxruntime.get_available_providers()]
    try:
        return onnxruntime.InferenceSession(content, options, providers=providers)
    except Exception as error:  # its exceptions share no base of their own
        reason = " ".join(str(error).split())[:300]
        raise ValueError(
            f"onnxruntime {onnxruntime.__version__} cannot run the encoder ({reason}); export it for an older operator "
            "set, or: pip install --upgrade onnxruntime"
        ) from error


def run_graph(session: Any, checked: Graph, images: Any) -> Any:
    """Run all images at once, or as many at a time as the graph takes, the last ones filled up with zeros."""
    if not checked.batch:
        return _run(session, checked, images)
    parts = []
    for first in range(0, len(images), checked.batch):
        batch = images[first : first + checked.batch]
        whole = np.zeros((checked.batch, *images.shape[1:]), np.float32)
        whole[: len(batch)] = batch
        parts.append(_run(session, checked, whole)[: len(batch)])
    return np.concatenate(parts) if parts else np.zeros((0, checked.width), np.float32)


def _run(session: Any, checked: Graph, images: Any) -> Any:
    try:
        vectors = session.run(None, {checked.input: images})[0]
    except Exception as error:  # its exceptions share no base of their own
        reason = " ".join(str(error).split())[:300]
        raise ValueError(
            f"the encoder's graph cannot be run on {len(images)} images ({reason}); use another encoder"
        ) from error
    given, wanted = list(vectors.shape), [len(images), checked.width]
    if given != wanted:
        raise ValueError(
            f"the encoder gives {given} for {len(images)} images, not {wanted}; export it with one vector an image"
        )
    return vectors
