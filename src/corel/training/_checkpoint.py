"""The state of a training between two steps, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from corel._io import tensorfile
from corel.training.config import TrainConfig

KIND, VERSION = "corel checkpoint", 1


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

        More epochs than before are a longer run of the same training, unless step or view size depend on their number.
        """
        # A parameter that is younger than the checkpoint has a default that does what was done before it.
        theirs = {**asdict(TrainConfig()), **stored["config"]}
        timeless = self.config.schedule == "constant" and self.config.view_size is None
        if timeless and theirs["epochs"] <= self.config.epochs:
            theirs["epochs"] = self.config.epochs
        pairs = {
            **{name: (value, theirs.get(name)) for name, value in asdict(self.config).items()},
            # A folder may have been moved: its content decides, not its name.
            **{f"data {name}": (self.data[name], stored["data"].get(name)) for name in ("items", "sha256")},
            "processes": (self.processes, stored["processes"]),
        }
        for name, (here, there) in pairs.items():
            if here != there:
                raise ValueError(
                    f"{path} belongs to another training: {name} was {there} and is now {here}; "
                    f"continue with the same settings, or start in another folder (--run DIR)"
                )


def save(path: Path, state: State, identity: Identity, model: nn.Module, optimizer: Optimizer) -> None:
    """Write everything a training needs to go on as if it had never stopped; weights must be finite to replace any."""
    weights = model.state_dict()
    bad = [name for name, tensor in weights.items() if not torch.isfinite(tensor).all()]
    if bad:
        raise FloatingPointError(
            f"after step {state.step} the weights {bad[0]} are not finite; the checkpoint {path} is of an earlier step"
        )
    tensors = {f"model.{name}": tensor for name, tensor in weights.items()}
    for number, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
    tensorfile.write(path, KIND, VERSION, tensors, {"state": asdict(state), "identity": asdict(identity)})


def restore(path: Path, identity: Identity, model: nn.Module, optimizer: Optimizer) -> State:
    """Put a checkpoint's tensors into `model` and `optimizer` and give the state they belong to."""
    tensors, document = tensorfile.read(path, KIND, VERSION)
    identity.require_same(document["identity"], path)
    model.load_state_dict(_under("model.", tensors))
    values: dict[int, dict[str, Tensor]] = {}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for key, tensor in _under("optimizer.", tensors).items():
        number, name = key.split(".")
        values.setdefault(int(number), {})[name] = _laid_out_like(parameters[int(number)], tensor)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": values})
    return State(**document["state"])


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _laid_out_like(parameter: Tensor, tensor: Tensor) -> Tensor:
    # A file knows no memory order, but fused Adam walks a parameter and its moments through memory in step.
    return torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
