"""Kills of commands that follow or change folders of images: `watch`, `sort` and `unsort`."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Generator
from pathlib import Path

from corel.sorting import LIST
from tests.attack.kill_place import Place

KILLED_IN_A_ROW = 3  # then the command runs to its end


def watch(place: Place) -> Generator[None, None, None]:
    """Kill a watch again and again; when one comes to its end, each image has one row, as in a watch never killed."""
    options = ("--once", "--settle", "0", "--seed", "1", "--quiet")
    whole = place.folder / "whole.jsonl"
    place.run("watch", "watch", place.only, place.images, "--out", str(whole), *options)
    for number in range(10**6):
        out = place.folder / f"watched {number}.jsonl"
        arguments = ("watch", place.only, place.images, "--out", str(out), *options)
        state = Path(f"{out}.state")
        for attempt in range(KILLED_IN_A_ROW):
            if not place.kill("watch", *arguments, after=state if attempt % 2 else None):
                break
            yield
        place.run("watch", *arguments)
        place.note("watch", whole=_rows(out) == _rows(whole))


def _rows(out: Path) -> list[dict[str, object]]:
    """Read rows without their time, and by name: images of one batch come in any order of age."""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return sorted(({**row, "time": ""} for row in rows), key=lambda row: str(row["image"]))


def sort(place: Place) -> Generator[None, None, None]:
    """Kill a sort that moves; no file is lost, and the same command completes it."""
    photos, into, arguments = _folders(place)
    place.run("sort", *arguments)
    for number in range(10**6):
        _begin(place, photos, into)
        before = _contents(photos)
        undo_list = into / LIST
        for attempt in range(KILLED_IN_A_ROW):
            if not place.kill("sort", *arguments, after=undo_list if (number + attempt) % 2 else None):
                break
            place.note("sort", whole=set(_contents(photos, into)) == set(before))
            yield
        place.run("sort", *arguments)
        place.note("sort", whole=_contents(into) == before and not _contents(photos) and not _left(into))


def unsort(place: Place) -> Generator[None, None, None]:
    """Kill an unsort; no file is lost, and the same command completes it."""
    photos, into, arguments = _folders(place)
    undo_list = str(into / LIST)
    while True:
        _begin(place, photos, into)
        before = _contents(photos)
        place.run("sort", *arguments)
        for _ in range(KILLED_IN_A_ROW):
            if not place.kill("unsort", "unsort", undo_list, "--quiet"):
                break
            place.note("unsort", whole=set(_contents(photos, into)) == set(before))
            yield
        if Path(undo_list).exists():
            place.run("unsort", "unsort", undo_list, "--quiet")
        place.note("unsort", whole=_contents(photos) == before and not _contents(into) and not _left(into))


def _folders(place: Place) -> tuple[Path, Path, tuple[str, ...]]:
    photos, into = place.folder / "photos", place.folder / "sorted"
    _begin(place, photos, into)
    return photos, into, ("sort", place.only, str(photos), "--into", str(into), "--how", "move", "--quiet")


def _begin(place: Place, photos: Path, into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    shutil.rmtree(photos, ignore_errors=True)
    shutil.copytree(place.images, photos)


def _contents(*folders: Path) -> Counter[bytes]:
    return Counter(each.read_bytes() for folder in folders for each in folder.rglob("*.png"))


def _left(into: Path) -> list[Path]:
    return list(into.rglob(".*.sorting"))
