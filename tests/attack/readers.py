"""Which functions of corel read files: found in the source, so that a new one cannot be forgotten."""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import corel

PACKAGE = Path(corel.__file__).parent
# Calls that open a file or parse the content of one, by their last name.
CALLS = {
    "open", "fdopen", "read_bytes", "read_text", "open_regular", "read_regular", "fromfile", "load", "loads", "loadtxt",
    "genfromtxt", "memmap", "safe_open", "load_file", "loadmat", "connect", "ZipFile", "GzipFile", "BZ2File",
    "LZMAFile", "genops", "Unpickler", "load_model_from_string", "InferenceSession", "open_stream", "open_file",
    "ParquetFile", "open_input_file", "open_input_stream", "read_metadata", "read_schema", "read_csv", "read_json",
    "read_parquet", "read_feather", "read_pickle", "read_array", "open_memmap", "mmap", "literal_eval", "safe_load",
    "decompress", "decompressobj", "iterparse", "fromstring", "load_model", "unpack_archive", "run_apart", "Popen",
    "read_table", "reader", "DictReader", "MultipartParser", "urlopen", "hf_hub_download",
}  # fmt: skip
# Calls of corel itself, whose own source is looked through, and those that only share a name.
OWN = {
    "images.open", "Gallery.open", "Backbone.load", "cls.load", "_backbone_lookup.load", "arrayfile.load",
    "_cache.load", "reader", "self.reader", "load", "connect", "self._open", "_open", "self.studio.open",
    "webbrowser.open",
}  # fmt: skip
# Functions that read, but no file of a stranger's.
EXCUSED = {
    "corel._io.regular.open_regular": "opens for the readers that are attacked",
    "corel._io.regular.read_regular": "reads for the readers that are attacked",
    "corel._io.atomic.appearing": "what was just written, to bring it to the disk",
    "corel._io.atomic.sync_folder": "a folder, to bring a new name in it to the disk",
    "corel._io.lines.append_text": "looks for the end of the last line",
    "corel._io.lock.locked": "an empty file that is locked, not read",
    "corel._io.tensorfile._intact": "hashes the bytes of a file",
    "corel._io.hub.download": "leads to a file that `Backbone.load` reads",
    "corel._compute.jit.digest": "our own source",
    "corel.backbone._card.hub_page": "a page that ships with the program",
    "corel.backbone._file.shipped_checksum": "a list that ships with the program",
    "corel.report._write._render": "a page that ships with the program",
    "corel.serve._pages.files": "pages that ship with the program",
    "corel.serve._config.read_token": "the operator's own secret, named on the command line",
    "corel.gallery._packed.of": "what was just written",
    "corel.gallery._store.copy": "a new file",
    "corel.gallery._file._own_schema": "a database in memory",
    "corel.scale._cluster._quiet": "a place where output vanishes",
    "corel.scale._place.read": "reads for the readers that are attacked",
    "corel.scale._source.from_document": "what this very run has written",
    "corel.sorting._carry._copy": "a copy, to bring it to the disk",
    "corel.images.known.download._continue": "bytes that are kept only if their checksum is the official one",
    "corel.images.known.download._md5": "hashes the bytes of a file",
    "corel.gallery._spool.__iter__": "rows that this very process has written",
    "corel.evaluation._labeled._on_disk": "items that this very process has written",
    "corel.serve._metrics.send": "an answer of our own",
    "corel.cli._rows._stream_to_parquet": "rows that this very process has written",
    "corel.encoders.graph_steps._model": "a graph that was checked",
    "corel.encoders.export._traced": "a graph that was just exported",
    "corel.encoders.stock._lite0": "weights that come with a package, read without a pickle's code",
    "corel.images._convert.to_pixels": "reads for the decoder, which is attacked",
    "corel.images._convert.decode": "the pixels of an image that `open_image` opened, which is attacked",
    "corel.encoders.resuming.refuse_other_files": "compares the first bytes",
    "corel.watching._journal._refuse_other_rows": "compares the first bytes",
}


def find_readers() -> set[str]:
    """Give the functions of corel that read files, as ``module.name``."""
    kernels = PACKAGE / "persistence"  # which load registers, and know arrays only
    modules = (path for path in sorted(PACKAGE.rglob("*.py")) if kernels not in path.parents)
    return {reader for path in modules for reader in readers_in(path.read_text(), _module(path))}


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def readers_in(source: str, module: str) -> set[str]:
    """Give the functions of a module that call one of `CALLS` or hand it on; code outside of functions is one, too."""
    tree = ast.parse(source)
    outside = (
        alias
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("corel")
        for alias in node.names
    )
    foreign = {alias.asname or alias.name for alias in outside if alias.name in CALLS}
    found: set[str] = set()

    def visit(node: ast.AST, inside: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = node.name
        if isinstance(node, ast.Call) and _writes(node):
            children: Iterable[ast.AST] = [*node.args, *node.keywords]
        else:
            children = ast.iter_child_nodes(node)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            named = ast.unparse(node)
            if named in foreign or (named.rpartition(".")[2] in CALLS and named not in OWN):
                found.add(f"{module}.{inside}")
        for child in children:
            visit(child, inside)

    visit(tree, "<module>")
    return found


def _writes(call: ast.Call) -> bool:
    given = [
        each.value for each in [*call.args, *(word.value for word in call.keywords)] if isinstance(each, ast.Constant)
    ]
    return any(mode in ("w", "a", "x", "wb", "ab", "xb") for mode in given)


def called_by(action: Callable[[], Any]) -> set[str]:
    """Give the functions of corel that an action runs, in all of its threads, as ``module.name``."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__"))
        if event == "call" and module.startswith("corel."):
            found.add(f"{module}.{frame.f_code.co_name}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found
