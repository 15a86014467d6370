"""The one training loop: an objective's loss plus λ times the connectivity loss of its latents."""

from __future__ import annotations

import atexit
import functools
import hashlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from corel import objectives
from corel._compute import bfloat16
from corel._compute.memory import keep_freed_memory
from corel._errors import ArgumentError
from corel._io.arrayfile import load_features
from corel._terminal import counted, progress_bar
from corel._version import __version__
from corel.backbone import Backbone
from corel.encoders import channels_last
from corel.encoders.base import BACKGROUND
from corel.images import ImageSet
from corel.losses import ConnectivityLoss, split_branches
from corel.objectives import Objective
from corel.persistence import death_times
from corel.training._checkpoint import Identity, State
from corel.training._run import Run, stop_requests
from corel.training._run import TrainingInterrupted as TrainingInterrupted
from corel.training._schedule import step_size
from corel.training.config import PRESETS as PRESETS
from corel.training.config import TrainConfig as TrainConfig

POOLED = 2000  # and features, for their covariance: 1.5 MB of 384 in half precision; 4,000 rows gain nothing
DEATHS_EVERY = 20  # steps between two measurements of α̂, ε̂, β̂: enough for a mean, too few to cost anything


def train(
    images: Any,
    config: TrainConfig | None = None,
    *,
    start: Backbone | str | os.PathLike[str] | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    checkpoint_minutes: float = 5.0,
    progress: bool = True,
) -> Backbone:
    """Train an encoder on unlabeled images and give its backbone.

    The same call runs on a CPU, on one GPU, or in each of the processes that `accelerate launch` or `torchrun` start:
    every process takes its own batches of `config.batch_size` and computes the loss on those alone.

    Args:
        images: an `ImageSet`, an array of items, or an .npy or .npz file of vectors; labels are never looked at.
        config: the parameters; the default is the preset ``authors``.
        start: a backbone, its file, or a shipped name: begin with its weights rather than with random ones. Its
            objective, branches and sizes must be those of `config`.
        run_dir: a folder for checkpoints and metrics. Where it holds a checkpoint of the same training, the training
            continues from it, and ends with the weights it would have had without stopping.
        checkpoint_minutes: a checkpoint is written after each epoch, and whenever this much time has passed.
        progress: show a bar, if standard error is a terminal.

    Example:
        >>> import corel
        >>> backbone = corel.train(corel.images.open("digits"), corel.TrainConfig(epochs=1, width=8))
        >>> backbone.deaths.shape
        (16, 3)

    """
    config = config or TrainConfig()
    # Processes on a CPU find each other only if accelerate is told that there is nothing better. Precision is ours to
    # choose: a mixed precision set for `accelerate launch` would scale the loss and not the optimizer.
    accelerator = Accelerator(cpu=not _has_accelerator(), mixed_precision="no")
    if accelerator.num_processes > 1:
        _part_at_exit()
    values, source = _values(images)
    items = torch.from_numpy(np.require(values, requirements=["C", "W"]))
    data = {"source": source, "items": len(items), "sha256": hashlib.sha256(items.numpy().data).hexdigest()}
    config = objectives.find(config.objective).resolved(config, items)
    objective = first_weights(config, tuple(items.shape[1:]))
    objective.observe(items)
    if start is not None:
        data["start"] = _take_weights(objective, config, start if isinstance(start, Backbone) else Backbone.load(start))
    objective.to(accelerator.device)
    run = Run(
        folder=None if run_dir is None else Path(run_dir),
        identity=Identity(config, data, accelerator.num_processes),
        model=objective,
        # Without weight decay, as in the paper, this is Adam.
        optimizer=torch.optim.AdamW(
            objective.parameters(), config.learning_rate, weight_decay=config.weight_decay, fused=True
        ),
        checkpoint_minutes=checkpoint_minutes,
        writes=accelerator.is_main_process,
    )
    names = images.names if isinstance(images, ImageSet) else ()
    _optimize(objective, run, items, names, accelerator, quiet=not progress)
    return _finish(objective, run, items, source)


def _optimize(
    objective: Objective, run: Run, items: Tensor, names: Sequence[str], accelerator: Accelerator, *, quiet: bool
) -> None:
    """Algorithm 4, step 1: minimize pretext + λ · connectivity over batches, from the run's state to its last epoch."""
    config, state, optimizer = run.identity.config, run.state, run.optimizer
    device, process, processes = accelerator.device, accelerator.process_index, accelerator.num_processes
    steps = _steps_per_epoch(len(items), config.batch_size, processes)
    connectivity_loss = ConnectivityLoss(
        config.eta, config.branches, config.p, config.branch_reduction, config.zero_bars
    )
    convolutions = torch.autocast(device.type, torch.bfloat16, enabled=_uses_bfloat16(config, device))
    model = accelerator.prepare_model(objective).train()
    if device.type == "cpu":
        keep_freed_memory()
    bar = progress_bar("training", config.epochs * steps, quiet=quiet or process > 0)
    with run.journal() as journal, stop_requests() as stop, bar as advance:
        advance(state.step)
        while state.step < config.epochs * steps:
            started = time.perf_counter()
            epoch, position = divmod(state.step, steps)
            start = (position * processes + process) * config.batch_size
            chosen = _order(config.seed, epoch, len(items))[start : start + config.batch_size]
            draws = _generator(device, config.seed, state.step, process)
            objective.progress = state.step / (config.epochs * steps)

            with convolutions:
                pretext, latents = model(items.index_select(0, chosen).to(device), draws)
            cloud = latents[: config.shaped]  # the order of the batch is random, so this is a sample of it
            try:
                connectivity = connectivity_loss(cloud)
            except ValueError as trouble:  # latents that are not finite, or so large that their distances are not
                raise _diverged(f"the loss is not finite ({trouble})", run, names, chosen) from trouble
            loss = pretext + config.weight * connectivity
            if not math.isfinite(loss.item()):
                raise _diverged(f"the loss is {loss.item()}", run, names, chosen)
            optimizer.zero_grad()
            accelerator.backward(loss)
            for group in optimizer.param_groups:
                group["lr"] = step_size(config, state.step, config.epochs * steps)
            optimizer.step()

            state.step += 1
            state.measure({objective.loss_name: pretext.item(), "connectivity": connectivity.item()})
            if position % DEATHS_EVERY == 0:
                state.measure(_death_metrics(cloud, config))
            state.seconds += time.perf_counter() - started
            advance(note=_note(epoch, config.epochs, state))
            if position + 1 == steps:
                metrics = state.close_epoch()
                run.save()
                journal.write(metrics)
            run.save_if_due()
            if _any_process(stop.is_set(), accelerator):
                run.interrupt()


def _finish(objective: Objective, run: Run, items: Tensor, source: str) -> Backbone:
    """Encode a sample of the data, which becomes the background and shows the death times that were reached."""
    config, network = run.identity.config, objective.network
    network.eval().load_state_dict(network.stored_state())  # what is measured is what a file will hold
    chosen = _order(config.seed, config.epochs, len(items))[: max(BACKGROUND, config.shaped)]
    latents, features = network.embed(objective.inputs(items[chosen]))
    whole = len(latents) // config.shaped * config.shaped
    batches = latents[:whole].reshape(-1, config.shaped, latents.shape[1])
    deaths = torch.stack([_extremes(batch, config) for batch in batches]).mean(dim=0)
    metadata = {
        "config": asdict(config),
        "data": {**run.identity.data, "source": source},
        "processes": run.identity.processes,
        "history": run.state.history,
        "version": __version__,
        "torch": torch.__version__,
    }
    background = latents[:BACKGROUND].half().float().numpy()
    pooled = features[:POOLED].half().float().numpy() if network.own_features else None
    return Backbone(
        network.cpu(), config.objective, config.eta, config.p, config.shaped, deaths.numpy(), background, metadata,
        pooled_background=pooled,
    )  # fmt: skip


@functools.cache
def _part_at_exit() -> None:
    """End the group of processes before the interpreter ends: threads of an open one may abort it then."""
    atexit.register(_part)


def _part() -> None:
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _has_accelerator() -> bool:
    # torch.accelerator came with 2.6; before that, CUDA is what accelerate would find.
    return bool(getattr(torch, "accelerator", torch.cuda).is_available())


def first_weights(config: TrainConfig, item_shape: tuple[int, ...]) -> Objective:
    """Give the objective, with its network, as a training on items of this shape begins: the seed decides."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        objective = objectives.find(config.objective)(config, item_shape)
    return channels_last(objective)


def _take_weights(objective: Objective, config: TrainConfig, start: Backbone) -> str:
    """Put a backbone's weights into the objective's network, and give its digest."""
    ours = (config.objective, objective.network.architecture)
    theirs = (start.objective, start.network.architecture)
    if ours != theirs:
        raise ArgumentError("start", f"is of another shape: {_shape(*theirs)}; this training is {_shape(*ours)}")
    objective.network.load_state_dict(start.network.state_dict())
    return start.digest


def _shape(objective: str, architecture: dict[str, int]) -> str:
    return ", ".join([objective, *(f"{name.replace('_', ' ')} {value}" for name, value in architecture.items())])


def _values(images: Any) -> tuple[Any, str]:
    """Give the items to train on, and where they come from, in words."""
    if isinstance(images, ImageSet):
        return images.pixels, images.source
    if isinstance(images, str | os.PathLike):
        return load_features(Path(images).expanduser()), str(images)
    return images, "an array"


def _steps_per_epoch(count: int, batch_size: int, processes: int) -> int:
    if count < batch_size * processes:
        each = f" for each of {processes} processes" if processes > 1 else ""
        raise ArgumentError(
            "batch_size", f"is {batch_size}{each} but there are {counted(count, 'item')}; lower it, or give more items"
        )
    return count // (batch_size * processes)


@functools.lru_cache(maxsize=1)
def _order(seed: int, epoch: int, count: int) -> Tensor:
    return torch.randperm(count, generator=_generator(torch.device("cpu"), seed, epoch, -1))


def _generator(device: torch.device, *key: int) -> torch.Generator:
    """Randomness that depends on the key alone, so that a resumed training needs no stored random state."""
    words = np.random.SeedSequence([part & 0xFFFFFFFF for part in key]).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(words[0]) >> 1)


def _uses_bfloat16(config: TrainConfig, device: torch.device) -> bool:
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return bfloat16.is_fast(device)


def _diverged(what: str, run: Run, names: Sequence[str], chosen: Tensor) -> FloatingPointError:
    batch = ", ".join(names[i] if names else f"item {i}" for i in chosen.tolist())
    return FloatingPointError(
        f"{what} at step {run.state.step + 1}; {run.last_good()}. Lower the learning rate, or look at the batch: "
        f"{batch}"
    )


@torch.no_grad()
def _extremes(latents: Tensor, config: TrainConfig) -> Tensor:
    """Smallest, mean and largest death time of each branch in one batch, ``[B, 3]``."""
    deaths = death_times(split_branches(latents, config.branches), config.p)
    return torch.stack([deaths[:, 0], deaths.mean(dim=1), deaths[:, -1]], dim=1)


def _death_metrics(latents: Tensor, config: TrainConfig) -> dict[str, float]:
    alpha, epsilon, beta = _extremes(latents.detach(), config).mean(dim=0).tolist()
    return {"alpha": alpha, "epsilon": epsilon, "beta": beta}


def _note(epoch: int, epochs: int, state: State) -> str:
    values = "  ".join(f"{_SYMBOLS.get(name, name)} {value:.4g}" for name, value in state.means().items())
    return f"epoch {epoch + 1}/{epochs}  {values}"


_SYMBOLS = {"alpha": "α̂", "epsilon": "ε̂", "beta": "β̂"}


def _any_process(flag: bool, accelerator: Accelerator) -> bool:
    if accelerator.num_processes == 1:
        return flag
    flags = accelerator.reduce(torch.tensor(float(flag), device=accelerator.device), "sum")
    return bool(flags > 0)
