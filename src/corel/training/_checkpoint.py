"""The state of a training between two steps, and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from corel._io import tensorfile
from corel._terminal import shown
from corel.training.config import TrainConfig

KIND, VERSION = "corel checkpoint", 1
MOMENTS = {"step": False, "exp_avg": True, "exp_avg_sq": True}  # Adam's state; is it of the parameter's shape?


@dataclass
class State:
    """Where a training stands.

    The order of the images and every other random draw are functions of the seed, the process and `step`, so `step`
    is also the whole random state.

    Attributes:
        step: the steps done.
        sums: of the current epoch, the sum of each measured value.
        counts: of the current epoch, how often each value was measured.
        seconds: spent in the current epoch.
        history: the metrics of the epochs done.

    """

    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)

    def measure(self, values: Mapping[str, float]) -> None:
        """Add values to the means of the epoch."""
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + 1

    def means(self) -> dict[str, float]:
        """Give the means of the epoch so far."""
        return {name: total / self.counts[name] for name, total in self.sums.items()}

    def close_epoch(self) -> dict[str, float]:
        """Move the epoch's means into the history and start the next epoch."""
        metrics = {"epoch": len(self.history) + 1, **self.means(), "seconds": round(self.seconds, 3)}
        self.history.append(metrics)
        self.sums, self.counts, self.seconds = {}, {}, 0.0
        return metrics


@dataclass(frozen=True)
class Identity:
    """What must be the same for a training to be continued: its parameters, its data and its processes."""

    config: TrainConfig
    data: dict[str, Any]
    processes: int

    def require_same(self, stored: dict[str, Any], path: Path) -> None:
        """Raise unless a stored identity is this one.

        More epochs than before continue the same training, unless step or view size depend on the number of epochs.
        """
        # A setting added since the checkpoint was written has a default that does what was done before.
        theirs = {**asdict(TrainConfig()), **stored["config"]}
        timeless = self.config.schedule == "constant" and self.config.view_size is None
        if timeless and theirs["epochs"] <= self.config.epochs:
            theirs["epochs"] = self.config.epochs
        pairs = {
            **{name: (value, theirs.get(name)) for name, value in asdict(self.config).items()},
            # A folder may have been moved: its content decides, not its name.
            **{f"data {name}": (self.data[name], stored["data"].get(name)) for name in ("items", "sha256")},
            "the start": (self.data.get("start"), stored["data"].get("start")),
            "processes": (self.processes, stored["processes"]),
        }
        for name, (here, there) in pairs.items():
            if here != there:
                raise ValueError(
                    f"{path} belongs to another training: {name} was {shown(there)} and is now {here}; "
                    f"continue with the same settings, or start in another folder (--run DIR)"
                )


def save(path: Path, state: State, identity: Identity, model: nn.Module, optimizer: Optimizer) -> None:
    """Write everything a training needs to go on as if it had never stopped; only finite values replace a file."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for number, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
    bad = [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]
    if bad:
        raise FloatingPointError(
            f"after step {state.step} the values of {bad[0]} are not finite; "
            f"the checkpoint {path} is of an earlier step"
        )
    tensorfile.write(path, KIND, VERSION, tensors, {"state": asdict(state), "identity": asdict(identity)})


def restore(path: Path, identity: Identity, model: nn.Module, optimizer: Optimizer) -> State:
    """Put a checkpoint's tensors into `model` and `optimizer` and give the state they belong to."""
    tensors, document = tensorfile.read(path, KIND, VERSION)
    try:
        identity.require_same(document["identity"], path)
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, "it does not say which training it belongs to") from error
    if bad := next((name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()), None):
        raise _damaged(path, f"{bad} is not finite")
    try:
        model.load_state_dict(_under("model.", tensors))
        optimizer.load_state_dict({**optimizer.state_dict(), "state": _moments(optimizer, tensors)})
        state = State(**document["state"])
        _check_state(state, identity)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise _damaged(path, str(error)) from error
    return state


def _moments(optimizer: Optimizer, tensors: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    values: dict[int, dict[str, Tensor]] = {}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for key, tensor in _under("optimizer.", tensors).items():
        number, name = key.split(".")
        parameter = parameters[int(number)]
        if name not in MOMENTS or tensor.shape != (parameter.shape if MOMENTS[name] else ()):
            raise ValueError(f"{key[:80]} is none of Adam's, or of another shape")
        values.setdefault(int(number), {})[name] = _laid_out_like(parameter, tensor)
    if any(moments.keys() != MOMENTS.keys() for moments in values.values()):
        raise ValueError("a moment of Adam is missing")
    return values


def _check_state(state: State, identity: Identity) -> None:
    size, epochs = identity.config.batch_size * identity.processes, len(state.history)
    steps = max(1, int(identity.data["items"]) // size)  # of an epoch
    fits = type(state.step) is int and epochs * steps <= state.step < (epochs + 1) * steps
    if not fits or epochs > identity.config.epochs:
        raise ValueError(f"step {str(state.step)[:20]} does not fit to {epochs} epochs of {steps} steps")
    measured: list[dict[str, float]] = [state.sums, {**state.counts}, *state.history]
    numbers: list[object] = [state.seconds, *(value for part in measured for value in part.values())]
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in numbers):
        raise ValueError("its metrics are not finite numbers")
    if state.sums.keys() != state.counts.keys() or any(count < 1 for count in state.counts.values()):
        raise ValueError("its sums do not fit to its counts")


def _damaged(path: Path, why: str) -> ValueError:
    return ValueError(
        f"{path} is damaged or was edited: {shown(why, 300)}; restore a copy, or start in another folder (--run DIR)"
    )


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _laid_out_like(parameter: Tensor, tensor: Tensor) -> Tensor:
    # A file stores no memory layout, but fused Adam needs the same layout for a parameter and its moments.
    return torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
