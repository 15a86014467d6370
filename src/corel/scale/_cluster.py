"""A Ray cluster: an existing one by its address, or one on this machine that ends with the block."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Set before Ray is imported: no usage reports; workers at normal priority; a log level that hides an error which Ray
# Data causes for every pool of actors (ray-project/ray#53727). Failures are still raised.
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
PATIENCE = 10.0  # seconds, for a machine to answer
LOCAL = "local"  # Ray's word for a new cluster on this machine, whatever $RAY_ADDRESS says


@contextmanager
def cluster(address: str | None = None, *, cpus: int | None = None) -> Iterator[Any]:
    """Give `ray`, connected: to the cluster that this process uses already, to `address`, or to a new local one."""
    ray = _imported()
    if ray.is_initialized():
        yield ray
        return
    started = {"num_cpus": cpus, "include_dashboard": False} if address is None else {}
    try:
        if address is not None:
            _knock(address)
        with _quiet():
            ray.init(address or LOCAL, log_to_driver=False, logging_level=logging.ERROR, **started)
    except (OSError, OverflowError) as error:
        raise ConnectionError(
            f"there is no Ray cluster at {address} ({error}); start one: ray start --head; if it asks for a token, set "
            "RAY_AUTH_MODE=token"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise if nothing listens at ``host:port``: Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard standard error: Ray's C++ code writes to it at any log level. Errors are still raised."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def workers_for(ray: Any, threads: int) -> int:
    """Say how many workers of so many threads the cluster has room for."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


def _imported() -> Any:
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError("a cluster needs Ray; run `pip install 'corel[ray]'`") from error
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray
