"""Files of long runs: lists and tables to score, manifests and parts of a run, plans and journals."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow import parquet

from corel._io.lines import read_lines
from corel.scale import _manifest, _place, _source
from corel.scale._items import columns_of, encoded, names_of
from corel.sorting._plan import Record
from corel.watching._journal import Journal
from tests.attack.attacked import Attacked, refused_if_none
from tests.attack.pictures import picture

LINES = "corel._io.lines.read_lines"
SORTED = Path("/sorted")
MANIFEST = _manifest.Manifest("a" * 64, 3, "b" * 64, {"rate": 0.05}, 10)


def _table(**columns: Any) -> bytes:
    content = io.BytesIO()
    parquet.write_table(arrow.table(columns), content)
    return content.getvalue()


def _pictures() -> bytes:
    return _table(name=["a", "b", "c"], bytes=[picture("PNG")] * 3)


def _read_table(path: Path) -> object:
    source = _source.find_source([str(path)])
    columns = [columns_of(_source.read_part(part)) for part in source.parts(2)]
    return [(names_of(each), [*encoded(each, str(path.parent)).items]) for each in columns]


def _part() -> bytes:
    content = io.BytesIO()
    table = arrow.table({"verdict": ["known", "stranger", "unreadable"]})
    counts = json.dumps(_manifest.count(table)).encode()
    parquet.write_table(table.replace_schema_metadata({_manifest.KEY: counts}), content)
    return content.getvalue()


def _read_part(path: Path) -> object:
    part = _source.Part(0, ["a", "b", "c"], None)
    return refused_if_none(_manifest._counts(_place.Place(str(path.parent)), part), path)


def _manifest_file() -> bytes:
    return json.dumps({"format": _manifest.FORMAT, "corel": "0.1.0", **vars(MANIFEST)}).encode()


def _read_manifest(path: Path) -> object:
    return vars(_manifest._read(_place.Place(str(path.parent))))


def _listed(path: Path) -> object:
    return _source.find_source([str(path)]).files


def _watch() -> bytes:
    rows = [["2020", "a.png", "known", ["cat"], "cat", 0.5, 0.5, 0.0, False, ""]]
    lines = [
        {"test": {"calibration": "a", "seed": 1}},
        {"files": [["a.png", 1, 2]], "rows": rows, "scores": [0.5], "start": 0, "log_bets": [0.0], "alarmed": False},
        {"ran": "a.png"},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _replay(path: Path) -> object:
    journal = Journal(path.with_name("rows.csv"))
    return sorted(map(repr, journal.seen)), journal.tests, journal.test, journal.scores, sorted(journal.ran)


def _undo_list() -> bytes:
    records = [Record("move", f"/{name}.png", f"{SORTED}/cat/{name}.png", 10, 20) for name in "abc"]
    return "".join(json.dumps(vars(each)) + "\n" for each in records).encode()


def _read_undo_list(path: Path) -> object:
    """Read it as if it lay in the folder that its targets name."""
    return [Record.read(line, SORTED / path.name) for line in read_lines(path)]


RUN_FILES: dict[str, Attacked] = {
    "Parquet of images": Attacked(
        "a.parquet", _pictures, _read_table, ("corel.scale._source._row_count", "corel.scale._source._read_rows")
    ),
    "list of names": Attacked("a.txt", lambda: b"a.png\nb.png\n" * 5, _listed, ("corel.scale._source._listed",)),
    "manifest of a run": Attacked(
        _manifest.MANIFEST, _manifest_file, _read_manifest, ("corel.scale._manifest._read", "corel.scale._place.open")
    ),
    "part of a run": Attacked("part-000000.parquet", _part, _read_part, ("corel.scale._manifest._counts",)),
    "state of a watch": Attacked("rows.csv.state", _watch, _replay, (LINES,)),
    "undo list of a sort": Attacked("undo.jsonl", _undo_list, _read_undo_list, (LINES,)),
}
