"""Tensors and a JSON document in one safetensors file with a checksum; reading it runs no code."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from corel._io.atomic import write_atomically
from corel._io.filetype import STARTS, file_type
from corel._io.regular import open_regular
from corel._terminal import shown

_ENTRIES = {"kind", "version", "document", "sha256"}


def write(path: Path, kind: str, version: int, tensors: dict[str, Tensor], document: dict[str, Any]) -> None:
    """Write tensors and a document; `kind` and `version` say what the file is and which versions can read it."""
    header = {"kind": kind, "version": str(version), "document": json.dumps(document)}
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header["sha256"] = _checksum(header, whole)
    write_atomically(path, safetensors.torch.save(whole, header))


def read(
    path: Path, kind: str, version: int, *, file_checksum: str | None = None
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write` wrote. Raises if the file is missing, truncated, changed, foreign or too new.

    The tensors are copies: what happens to the file afterwards does not reach them. A file from before there were
    checksums has none inside; `file_checksum`, if given, is the SHA-256 of all of such a file.
    """
    header, tensors = _content(path, kind)
    if header.get("kind") != kind:
        raise ValueError(f"{path} is a safetensors file, but not a {kind} that corel wrote; check the path")
    found = header.get("version", "")
    if not (found.isascii() and found.isdigit() and len(found) < 5) or int(found) > version:
        raise ValueError(
            f"{path} has format {found[:20] or None} and this corel reads up to {version}; "
            f"upgrade with: pip install --upgrade corel"
        )
    if not _intact(path, header, tensors, file_checksum):
        raise ValueError(f"{path} was changed since it was written: its checksum does not match; get the file again")
    try:
        return tensors, dict(json.loads(header["document"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or was edited: its document cannot be read; get the file again") from error


def _content(path: Path, kind: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no {kind} at {path}")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            # A tensor that is not copied stays mapped to the file, and dies or changes with it.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a dict)
            return file.metadata() or {}, tensors
    except (safetensors.SafetensorError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        if (found := file_type(path)) in STARTS.values():
            raise ValueError(f"{path} is {found}, not a {kind}; check the path") from error
        raise ValueError(
            f"{path} is not a whole safetensors file ({shown(error)}); it may have been cut off while copying, "
            "get it again"
        ) from error


def _intact(path: Path, header: dict[str, str], tensors: dict[str, Tensor], file_checksum: str | None) -> bool:
    if not header.keys() <= _ENTRIES:  # damage may hit the name of the checksum's own entry
        return False
    if "sha256" in header:
        return header["sha256"] == _checksum(header, tensors)
    if file_checksum is None:
        return True
    with open_regular(path) as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == file_checksum


def _checksum(header: dict[str, str], tensors: dict[str, Tensor]) -> str:
    """Hash everything that a reader acts on, each part with its length before it."""
    digest = hashlib.sha256()
    for name in ("kind", "version", "document"):
        text = header.get(name, "").encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    for name, tensor in sorted(tensors.items()):
        what = json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode()
        digest.update(len(what).to_bytes(8, "big") + what)
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
