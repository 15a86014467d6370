"""Death times of point clouds: corel against its peers, measured side by side in one run.

``python -m benchmarks.persistence`` repeats the paper's runtime study (appendix: unit Gaussian in R^10, L1,
complex construction included), times the topology of one training step and measures peak memory, and writes
``benchmarks/results/persistence.json`` and ``docs/figures/runtime.*``. ``--large`` adds b = 10,000;
``--until 1024`` ends there, in some minutes; ``--machine NAME`` writes ``persistence-NAME.json`` and no figure, beside
what another machine gave; ``--quick`` takes a minute, shows that everything runs, judges and writes nothing.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

import corel
from benchmarks._peers import METHODS, OURS, Method, Points
from benchmarks._report import (
    Measurement,
    Results,
    WholeStep,
    draw,
    judge,
    milliseconds,
    print_memory,
    print_targets,
    print_times,
)
from benchmarks._timing import Turns, peak_memory, take_turns, timed
from corel._terminal import track
from corel.encoders import Autoencoder
from corel.losses import split_branches
from corel.training import TrainConfig, train
from measuring.record import record
from measuring.threads import limited_to

SEED = 0
DIMENSION = 10
ETA = 2.0
CLOUDS, BATCH = 16, 100  # of the paper's training step: branches and batch size
LARGE = 10_000
BUDGET = 10.0  # seconds for each method at each size: slow ones are repeated less often
LIMIT = 60.0  # seconds; a method is skipped where a single call would take longer
TOLERANCE = 1e-5  # relative and absolute, on death times, losses and gradients
RESULTS = Path(__file__).parent / "results"
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "runtime"


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    sizes: tuple[int, ...] = (32, 64, 128, 256, 512, 1024, 2048, 4096)
    repetitions: int = 50
    epochs: int = 6  # of the training whose steps are timed, the first to warm up


def main() -> None:
    """Measure, print, and write what a full run found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.persistence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--large", action="store_true", help="go on to b = 10,000 (about half an hour in all)")
    parser.add_argument("--until", type=int, default=LARGE, metavar="POINTS", help="the largest cloud to time")
    parser.add_argument("--quick", action="store_true", help="small clouds, three repetitions, no files")
    parser.add_argument("--machine", metavar="NAME", help="record this machine's numbers under a name of their own")
    arguments = parser.parse_args()
    plan = Plan()
    if arguments.large:
        plan = Plan(sizes=(*plan.sizes, LARGE))
    plan = replace(plan, sizes=tuple(b for b in plan.sizes if b <= arguments.until))
    if arguments.quick:
        plan = Plan(sizes=plan.sizes[:4], repetitions=3, epochs=2)
    start, out = time.perf_counter(), Console(width=max(110, Console().width))
    results = measure(plan, out)
    if not arguments.quick:
        print_targets(judge(results), out)
        write(plan, results, time.perf_counter() - start, arguments.machine)


def measure(plan: Plan, out: Console) -> Results:
    """Run the whole plan, printing each part as it is done."""
    methods = [method for method in METHODS if method.installed]
    with limited_to(threads=1):  # ours too: what a second brings depends on who else is at work on the machine
        forward, both = training_step(plan, methods)
        columns = {"forward": milliseconds(forward, BATCH), "forward + backward": milliseconds(both, BATCH)}
        print_times(f"A training step's loss: {CLOUDS} clouds of {BATCH} points", columns, out)
        one_cloud = runtime_study(plan, methods)
    print_times(f"One cloud in R^{DIMENSION}, L1", {f"{b:,}": milliseconds(one_cloud, b) for b in plan.sizes}, out)
    megabytes = memory_study(plan, one_cloud)
    print_memory(plan.sizes[-1], megabytes, out)
    return Results(one_cloud, forward, both, whole_step(plan.epochs), megabytes)


def write(plan: Plan, results: Results, seconds: float, machine: str | None) -> None:
    """Results as JSON, and the figure unless they are of a machine with a name."""
    config = {
        **asdict(plan), "budget": BUDGET, "dimension": DIMENSION, "p": 1, "eta": ETA, "clouds": CLOUDS, "batch": BATCH
    }  # fmt: skip
    found = asdict(results) | {
        "targets": [asdict(target) | {"met": target.met} for target in judge(results)],
        "not_installed": [method.name for method in METHODS if not method.installed],
    }
    name = f"persistence-{machine}" if machine else "persistence"
    record(name, config=config, results=found, seed=SEED, seconds=seconds, folder=RESULTS)
    if not machine:
        draw(results.one_cloud, FIGURE)


def runtime_study(plan: Plan, methods: list[Method]) -> list[Measurement]:
    """Every method on one cloud of every size."""
    measurements: list[Measurement] = []
    for method in methods:
        method.deaths(_gaussian(plan.sizes[0], 0))  # import and compile before the clock starts
    for b in plan.sizes:
        slow = {m.name for m in methods if _expected(m.name, b, measurements) > LIMIT}
        measurements += [Measurement(name, b, None, skipped=f"over {LIMIT:.0f} s a call") for name in slow]
        calls = {m.name: m.deaths for m in methods if m.name not in slow}
        clouds = [_gaussian(b, repetition) for repetition in range(plan.repetitions)]
        turns = take_turns(calls, clouds, f"b = {b}", budget=BUDGET)
        measurements += _measurements(turns, b)
    return measurements


def _expected(name: str, b: int, measurements: list[Measurement]) -> float:
    """Seconds a call will take: from the size before, by the growth seen in peers, b^2.5."""
    last = [m for m in measurements if m.method == name][-1:]
    return sum(m.milliseconds / 1e3 * (b / m.points) ** 2.5 if m.milliseconds else float("inf") for m in last)


def _gaussian(b: int, repetition: int) -> Points:
    return np.random.default_rng([SEED, b, repetition]).standard_normal((b, DIMENSION)).astype(np.float32)


def _measurements(turns: Mapping[str, Turns], points: int) -> list[Measurement]:
    ours = turns[OURS].value
    return [
        Measurement(name, points, *_median(t.seconds), len(t.seconds), _deviation(name, t.value, ours),
                    mean=1e3 * statistics.mean(t.seconds))
        for name, t in turns.items()
    ]  # fmt: skip


def _median(seconds: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The median in milliseconds, and the quartiles around it."""
    low, middle, high = (1e3 * float(value) for value in np.quantile(seconds, (0.25, 0.5, 0.75)))
    return middle, (low, high)


def _deviation(name: str, values: Any, ours: Any) -> float:
    """Largest difference between a method's values and ours; beyond the tolerance the run ends."""
    values, ours = np.asarray(values), np.asarray(ours)
    if values.shape != ours.shape or not np.allclose(values, ours, rtol=TOLERANCE, atol=TOLERANCE):
        raise RuntimeError(f"{name} and {OURS} differ by more than {TOLERANCE}: {values} against {ours}")
    return float(np.abs(values - ours).max())


def training_step(plan: Plan, methods: list[Method]) -> tuple[list[Measurement], list[Measurement]]:
    """The connectivity loss of one batch, forward and forward + backward; values and gradients must agree.

    Both take turns with each other as well: ripser's forward is compared with our forward and backward.
    """
    generator = torch.Generator().manual_seed(SEED)
    batches = list(torch.randn(plan.repetitions, CLOUDS, BATCH, DIMENSION, generator=generator))
    forward = {m.name: functools.partial(_forward, m) for m in methods}
    both = {m.name: functools.partial(_gradient, m) for m in methods if m.differentiable}
    calls: dict[str, Callable[[Any], Any]] = {**forward, **{_with_backward(name): call for name, call in both.items()}}
    for call in calls.values():
        call(batches[0])  # import and compile before the clock starts
    turns = take_turns(calls, batches, "a training step's loss")
    return (
        _measurements({name: turns[name] for name in forward}, BATCH),
        _measurements({name: turns[_with_backward(name)] for name in both}, BATCH),
    )


def _with_backward(name: str) -> str:
    return f"{name}, with backward"


def _forward(method: Method, z: Tensor) -> float:
    if method.name == OURS:
        return float(corel.connectivity_loss(z, ETA, branch_reduction="sum", zero_bars="keep"))
    return float(sum(np.abs(method.deaths(cloud) - ETA).sum() for cloud in z.numpy()))


def _gradient(method: Method, z: Tensor) -> Tensor:
    z = z.detach().requires_grad_()
    if method.name == OURS:
        loss = corel.connectivity_loss(z, ETA, branch_reduction="sum", zero_bars="keep")
    else:
        loss = torch.stack([(method.cloud_deaths(cloud) - ETA).abs().sum() for cloud in z]).sum()
    (gradient,) = torch.autograd.grad(loss, z)
    return gradient


def whole_step(epochs: int) -> WholeStep:
    """A step of the paper's training, and its topology with the caches as the network leaves them."""
    steps = 20
    images = np.random.default_rng(SEED).integers(0, 256, (steps * BATCH, 32, 32, 3), dtype=np.uint8)
    warm = train(images, TrainConfig(epochs=epochs), progress=False).metadata["history"][1:]
    network, topology = Autoencoder(), []
    for batch in np.split(images, steps) * epochs:
        latents, reconstructed = network(network.prepare(batch))
        reconstructed.sum().backward()
        clouds = split_branches(latents.detach(), CLOUDS)
        topology.append(timed(functools.partial(_gradient, METHODS[0]), clouds)[1])
    step = statistics.median(epoch["seconds"] / steps for epoch in warm)
    return WholeStep(step * 1e3, statistics.median(topology) * 1e3)


def memory_study(plan: Plan, one_cloud: list[Measurement]) -> dict[str, float]:
    """Megabytes each method adds at its peak for the largest cloud, where it was not too slow to be timed."""
    names = milliseconds(one_cloud, plan.sizes[-1])
    return {name: peak_memory(functools.partial(_prepare, name, plan.sizes[-1])) for name in track(names, "memory")}


def _prepare(name: str, b: int) -> Callable[[], Any]:
    method = next(method for method in METHODS if method.name == name)
    method.deaths(_gaussian(32, 0))
    return functools.partial(method.deaths, _gaussian(b, 0))


if __name__ == "__main__":
    main()
