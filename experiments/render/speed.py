"""Tables of speed, drawn from the benchmarks' committed JSON."""

from __future__ import annotations

from typing import Any

from experiments._lib.paths import BENCHMARKS
from experiments._lib.record import read
from experiments.render.tables import markdown

OURS, COUNT, DEFAULT = "corel", "corel, count", "corel, cosine with p-values"
MIDDLE = 128  # points at which every method was timed
STEP_TARGET = 1.4  # times the plain loop, with bfloat16 convolutions
SHARE_TARGET = 3.0  # percent of a step


def speed() -> str:
    """Every method that was measured: a training step's topology, one cloud, memory; times corel's in brackets."""
    found = read("persistence", BENCHMARKS)["results"]
    largest = max(each["points"] for each in found["one_cloud"])
    columns = {
        "loss of a training step, forward and backward": _times(found["forward_backward"]),
        "forward alone": _times(found["forward"]),
        "one cloud of 1,024": _times(found["one_cloud"], 1024),
        f"one cloud of {largest:,}": _times(found["one_cloud"], largest),
    }
    names = sorted(columns["one cloud of 1,024"], key=lambda name: columns["one cloud of 1,024"][name])
    rows = [
        [name, *(_compared(column, name) for column in columns.values()), _size(found["megabytes"].get(name))]
        for name in names
    ]
    return markdown(["", *columns, f"memory at {largest:,}"], rows)


def runtime() -> str:
    """The paper's runtime study: milliseconds of one cloud by its size."""
    measured = read("persistence", BENCHMARKS)["results"]["one_cloud"]
    sizes = sorted({each["points"] for each in measured})
    times = {size: _times(measured, size) for size in sizes}
    names = sorted(times[1024], key=lambda name: times[1024][name])
    rows = [[name, *(_duration(times[size][name]) if name in times[size] else "–" for size in sizes)] for name in names]
    return markdown(["points", *(f"{size:,}" for size in sizes)], rows)


def means() -> str:
    """The same where means were recorded too: median / mean, as the paper's figure shows means."""
    records = [read(path.stem, BENCHMARKS) for path in sorted(BENCHMARKS.glob("persistence*.json"))]
    found = [each for each in records if any(m.get("mean") for m in each["results"]["one_cloud"])]
    if not found:
        return "Not run yet: `python -m benchmarks.persistence`."
    measured = {(m["method"], m["points"]): m for m in found[-1]["results"]["one_cloud"] if m["milliseconds"]}
    sizes = sorted({points for _, points in measured})
    names = sorted({name for name, _ in measured}, key=lambda name: measured[name, MIDDLE]["milliseconds"])
    rows = [[name, *(_both(measured.get((name, size))) for size in sizes)] for name in names]
    return markdown(["points", *(f"{size:,}" for size in sizes)], rows)


def _both(measured: dict[str, Any] | None) -> str:
    return "–" if measured is None else " / ".join(_duration(measured[key] / 1e3) for key in ("milliseconds", "mean"))


def targets() -> str:
    """What was promised before the first line was written, and what became of it, on other machines too."""
    found, others, rows = read("persistence", BENCHMARKS)["results"], _on_other_machines(), []
    for each in found["targets"]:
        promised = f"{'≥' if each['unit'] == '×' else '≤'} {each['target']:g} {each['unit']}"
        verdict = "met" if each["met"] else "**not met**"
        elsewhere = [other.get(each["what"], "–") for other in others.values()]
        rows.append([each["what"], promised, f"{each['measured']:.1f} {each['unit']}", verdict, *elsewhere])
    step, scored = read("train_step", BENCHMARKS)["results"], read("scoring", BENCHMARKS)["results"]["ten_classes"]
    for what, measured, target in (
        ("training step: the plain eager loop", step["speed-up"], STEP_TARGET),
        *((f"scoring: {name}", scored["ratio"][name], target) for name, target in scored["target"].items()),
        *_encoding_target(),
    ):
        verdict = "met" if measured >= target else "**not met**"
        rows.append([what, f"≥ {target:g} ×", f"{measured:.2f} ×", verdict, *["–" for _ in others]])
    for what, measured, limit, unit in (
        ("topology's share, by the benchmark of the step", 100 * step["topology's share"], SHARE_TARGET, "%"),
        *_scoring_limits(),
    ):
        verdict = "met" if measured <= limit else "**not met**"
        rows.append([what, f"≤ {limit:g} {unit}", f"{measured:.1f} {unit}", verdict, *["–" for _ in others]])
    return markdown(["", "target", "measured", "", *others], rows)


def _encoding_target() -> list[tuple[str, float, float]]:
    if not (BENCHMARKS / "encoding.json").exists():
        return []
    found = read("encoding", BENCHMARKS)["results"]
    return [(f"encoding: {name}", found["ratio"][name], value) for name, value in found["target"].items()
            if name in found["ratio"]]  # fmt: skip


def _scoring_limits() -> list[tuple[str, float, float, str]]:
    found = read("scoring", BENCHMARKS)["results"]
    ten, large = found["ten_classes"], found["imagenet_size"]
    return [
        *((f"{name}, to the count", ten["ratio"][name], limit, "×") for name, limit in ten.get("limit", {}).items()),
        *((f"1,000 classes: {name}", large[name]["milliseconds_per_image"], limit, "ms an image")
          for name, limit in large.get("limit", {}).items()),
    ]  # fmt: skip


def encoding() -> str:
    """Milliseconds an image of the default encoder, and how far the latents agree."""
    if not (BENCHMARKS / "encoding.json").exists():
        return "Not run yet: `python -m benchmarks.encoding`."
    found = read("encoding", BENCHMARKS)["results"]
    rows = [
        [name, f"{value:.2f} ms", f"{found['ratio'][name]:.2f}×", f"{found['largest_difference'][name]:.0e}"]
        for name, value in found["milliseconds_per_image"].items()
    ]
    return markdown(["the default encoder", "an image", "corel = 1", "latents differ by"], rows)


def many() -> str:
    """Scores against 1,000 classes of 120."""
    found = read("scoring", BENCHMARKS)["results"]["imagenet_size"]
    rows = []
    for name, each in found.items():
        if isinstance(each, dict) and "how" in each:
            once = found.get(f"{name.split(', ')[0]}, seconds to prepare")  # older records have none
            prepared = _duration(once) if once else "–"
            rows.append([name.replace("p_values", "with p-values"), f"{each['milliseconds_per_image']:.2f} ms",
                         f"{each['seconds_for_50000']:.0f} s, {each['how']}", prepared])  # fmt: skip
    return markdown(["1,000 classes of 120", "an image", "50,000 images", "prepared once in"], rows)


def _on_other_machines() -> dict[str, dict[str, str]]:
    """By machine, and by what was promised, what was measured there; in bold where that misses the target."""
    records = {path.stem: read(path.stem, BENCHMARKS) for path in sorted(BENCHMARKS.glob("persistence-*.json"))}
    return {
        name.removeprefix("persistence-"): {
            each["what"]: f"{each['measured']:.1f} {each['unit']}" if each["met"] else
            f"**{each['measured']:.1f} {each['unit']}**"
            for each in found["results"]["targets"]
        }
        for name, found in records.items()
    }  # fmt: skip


def _times(measured: list[dict[str, Any]], points: int | None = None) -> dict[str, float]:
    """Seconds by method."""
    timed = [each for each in measured if each["milliseconds"] and points in (None, each["points"])]
    return {each["method"]: each["milliseconds"] / 1e3 for each in timed}


def _compared(column: dict[str, float], name: str) -> str:
    if name not in column:
        return "–"
    duration, ratio = _duration(column[name]), column[name] / column[OURS]
    return duration if name == OURS else f"{duration} ({ratio:,.{1 if ratio < 9.95 else 0}f}×)"


def _duration(seconds: float) -> str:
    return f"{_digits(seconds)} s" if seconds >= 1 else f"{_digits(seconds * 1e3)} ms"


def _size(megabytes: float | None) -> str:
    if megabytes is None:
        return "–"
    if megabytes < 2:  # a page or two more or less is chance
        return "< 2 MB"
    return f"{_digits(megabytes / 1e3)} GB" if megabytes >= 1e3 else f"{_digits(megabytes)} MB"


def _digits(value: float) -> str:
    """Two significant digits below 100, none after the point above."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def step() -> str:
    """A whole training step."""
    found = read("train_step", BENCHMARKS)["results"]
    milliseconds = found["milliseconds a step"]
    rows = [[name, f"{value:.3g} ms"] for name, value in milliseconds.items()]
    share = found["topology's share"]
    rows += [["speed-up", f"{found['speed-up']:.2f}×, {_rounds(found)}"], ["topology's share", f"{share:.1%}"]]
    return markdown(["a training step, batch 100", ""], rows)


def scoring() -> str:
    """Scores of ten thousand images against ten classes, and of an ImageNet-sized gallery."""
    found = read("scoring", BENCHMARKS)["results"]
    seconds, ratio = _seconds(found["ten_classes"]), found["ten_classes"]["ratio"]
    rows = [[name, _duration(value), f"{ratio[name]:.1f}×"] for name, value in seconds.items()]
    return markdown([f"{found['ten_classes']['points']:,} images, 10 classes of 120", "", "corel's count = 1"], rows)


def costs() -> str:
    """What else takes time: a whole training step, and scoring, each against the way one would write it first."""
    step, points = read("train_step", BENCHMARKS)["results"], read("scoring", BENCHMARKS)["results"]["ten_classes"]
    steps = {name: value / 1e3 for name, value in step["milliseconds a step"].items()}
    plain = "plain eager float32"
    rows = [
        ["training step, batch 100", _duration(steps["corel.train"]),
         _against(steps, plain, step["speed-up"], _rounds(step))],
        [f"– of which topology, {_why_slower()}", _duration(steps["topology"]), ""],
        *_scored(points),
    ]  # fmt: skip
    return markdown(["", "corel", "others"], rows)


def _scored(points: dict[str, Any]) -> list[list[str]]:
    """The score that others can give too, and what `corel score` gives unless told otherwise."""
    scores, others = _seconds(points), ("torch.cdist, chunked", "scikit-learn, radius neighbors")
    compared = ", ".join(_against(scores, other, points["ratio"][other]) for other in others)
    what = f"scoring {points['points']:,} images against 10 classes of 120"
    return [
        [f"{what}: count, no p-values", _duration(scores[COUNT]), compared],
        *(["– the default: cosine with p-values", _duration(scores[name]), ""] for name in scores if name == DEFAULT),
    ]


def _why_slower() -> str:
    """Why this is more than the first column of `speed`, which times the same work."""
    alone = _times(read("persistence", BENCHMARKS)["results"]["forward_backward"])[OURS]
    return f"right after the network has run (alone, as above, on the Xeon: {_duration(alone)})"


def _rounds(step: dict[str, Any]) -> str:
    ratios = step["speed-up of each round"]
    return f"rounds {_digits(min(ratios))} to {_digits(max(ratios))}"


def _seconds(found: dict[str, Any]) -> dict[str, float]:
    return {name: value / 1e3 for name, value in found["milliseconds"].items()}


def _against(times: dict[str, float], other: str, ratio: float, *more: str) -> str:
    return f"{other}: {_duration(times[other])} ({', '.join([f'{ratio:.1f}×', *more])})"
