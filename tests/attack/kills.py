"""`python -m tests.attack --kills N`: kill commands at random moments, and check what is left.

Enrolling, forgetting, training, serving, scoring into a file, watching, sorting and unsorting are killed in turn. After
each kill a gallery is as before or as after, a training goes on to the weights it would have had, of results what was
written is whole, a watch that goes on has each image once, and each sorted file is in its old place or in its new one.
"""

from __future__ import annotations

import csv
import importlib
import os
import random
import signal
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import numpy as np
from PIL import Image

from tests.attack.kill_place import Place
from tests.attack.kills_in_folders import sort, unsort, watch
from tests.cli.conftest import hue, tiny_backbone
from tests.cli.forked import classes, wait
from tests.serve.servers import Factory

COMMANDS = ("enroll", "forget", "train", "serve", "score --out", "watch", "sort", "unsort")
IMAGES = 300
TRAINING = ("--epochs", "8", "--branches", "2", "--branch-dim", "3", "--width", "4", "--batch-size", "20",
            "--precision", "float32", "--size", "8", "--checkpoint-minutes", "0", "--quiet")  # fmt: skip


def kill_commands(count: int) -> int:
    """Kill commands `count` times in all and print a table; 1 if anything was lost."""
    # All that a child needs, but no computation: the threads of a parent do not survive a fork.
    for module in ("backbone", "cli", "gallery", "images", "oneclass", "sorting", "training", "watching"):
        importlib.import_module(f"corel.{module}")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), random.Random(0))
        _prepare(place)
        (place.folder / "logs").mkdir()
        turns = [kind(place) for kind in (_enroll, _forget, _train, _serve, _score, watch, sort, unsort)]
        each = -(-count // len(COMMANDS))
        for turn, command in zip(turns, COMMANDS, strict=True):
            while place.killed[command] < each:
                next(turn)
            turn.close()
    print(f"| command | kills | lost |\n|---|--:|--:|\n{_lines(place)}")
    return int(place.lost.total() > 0)


def _lines(place: Place) -> str:
    whole = {command: (place.killed[command], place.lost[command]) for command in COMMANDS}
    whole["all"] = place.killed.total(), place.lost.total()
    return "\n".join(f"| {command} | {killed} | {lost} |" for command, (killed, lost) in whole.items())


def _prepare(place: Place) -> None:
    """Make images, a backbone and a gallery, in a process of its own, since making them computes."""
    if not (process := os.fork()):
        Path(place.images).mkdir()
        for i, pixels in enumerate(hue(2, IMAGES, seed=3)):
            Image.fromarray(pixels).save(Path(place.images, f"{i:03}.png"))
        np.save(place.folder / "train.npy", hue(1, 200, seed=4))
        tiny_backbone(Path(place.backbone))
        os._exit(0)
    assert wait(process) == 0
    for gallery in (place.only, place.gallery):
        place.run("enroll", "enroll", gallery, "first", place.images, "--backbone", place.backbone, "--quiet")


def _enroll(place: Place) -> Generator[None, None, None]:
    journal = Path(f"{place.gallery}-journal")
    for number in range(10**6):
        before, name = classes(place.gallery), f"class {number}"
        after = journal if number % 2 else None
        place.kill("enroll", "enroll", place.gallery, name, place.images, "--quiet", after=after)
        place.note("enroll", whole=classes(place.gallery) in (before, {**before, name: IMAGES}))
        yield


def _forget(place: Place) -> Generator[None, None, None]:
    journal = Path(f"{place.gallery}-journal")
    for number in range(10**6):
        if "gone" not in classes(place.gallery):
            place.run("enroll", "enroll", place.gallery, "gone", place.images, "--quiet")
        before = classes(place.gallery)
        place.kill("forget", "forget", place.gallery, "gone", after=journal if number % 2 else None)
        without = {name: size for name, size in before.items() if name != "gone"}
        place.note("forget", whole=classes(place.gallery) in (before, without))
        yield


def _train(place: Place) -> Generator[None, None, None]:
    """Kill a training again and again; whenever one comes to its end, compare it with one that was never killed."""
    source = str(place.folder / "train.npy")
    whole = place.folder / "whole.safetensors"
    place.run("train", "train", source, "--out", str(whole), *TRAINING)
    for number in range(10**6):
        out = place.folder / f"{number}.safetensors"
        arguments = ("train", source, "--out", str(out), *TRAINING)
        checkpoint = out.with_suffix(".run") / "checkpoint.safetensors"
        for _ in range(3):
            if not place.kill("train", *arguments, after=checkpoint if checkpoint.exists() else None):
                break
            yield
        place.run("train", *arguments)
        left = [*out.parent.glob(".*.tmp"), *checkpoint.parent.glob(".*.tmp")]
        place.note("train", whole=_same_weights(out, whole) and not left)


def _same_weights(one: Path, other: Path) -> bool:
    """Compare two backbones, in a process of its own."""
    if not (process := os.fork()):
        from corel.backbone import Backbone

        os._exit(Backbone.load(one).digest != Backbone.load(other).digest)
    return wait(process) == 0


def _serve(place: Place) -> Generator[None, None, None]:
    """Enroll through a server, image by image, and kill it; each that was acknowledged is there."""
    factory = Factory(place.folder / "logs")
    gallery, number = place.folder / "served.gallery", 0
    acknowledged = 0
    try:
        while True:
            server = factory.start(gallery, backbone=place.backbone).wait_until_ready()
            end = time.monotonic() + place.moments.uniform(0.05, 0.6)
            killer = os.fork()
            if not killer:
                time.sleep(max(0.0, end - time.monotonic()))
                os.kill(server.pid, signal.SIGKILL)
                os._exit(0)
            try:
                while True:
                    content = Path(place.images, f"{number % IMAGES:03}.png").read_bytes()
                    number += 1
                    name = f"class {number // IMAGES}"
                    acknowledged += server.enroll(name, [("a.png", content)]).status == 200
            except (OSError, ValueError):
                pass
            wait(killer)
            factory.wait(server.pid)
            place.killed["serve"] += 1
            found = sum(classes(str(gallery)).values()) if gallery.exists() and gallery.stat().st_size else 0
            # One more at most: it was written, and the kill came before the answer.
            place.note("serve", whole=acknowledged <= found <= acknowledged + 1)
            acknowledged = found
            yield
    finally:
        factory.close()


def _score(place: Place) -> Generator[None, None, None]:
    """Kill a scoring into a file: earlier results stay or the new ones are complete, and a part of them is whole."""
    out = place.folder / "rows.csv"
    arguments = ("score", place.gallery, place.images, "--format", "csv", "--out", str(out), "--quiet")
    place.run("score --out", *arguments)
    complete = out.read_text()
    rows = list(csv.reader(complete.splitlines()))
    partial = Path(f"{out}.partial")
    for number in range(10**6):
        out.write_text("earlier results")
        place.kill("score --out", *arguments, after=partial if number % 2 else None)
        written = partial.read_text().splitlines(keepends=True) if partial.exists() else []
        kept = list(csv.reader(line for line in written if line.endswith("\n")))
        whole = out.read_text() in ("earlier results", complete) and kept == rows[: len(kept)]
        place.note("score --out", whole=whole)
        partial.unlink(missing_ok=True)
        yield
