"""Tensors and a JSON document in one safetensors file; reading it runs no code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from corel._io.atomic import write_atomically
from corel._io.filetype import STARTS, kind_of


def write(path: Path, kind: str, version: int, tensors: dict[str, Tensor], document: dict[str, Any]) -> None:
    """Write tensors and what belongs to them; `kind` and `version` say which program may read them."""
    header = {"kind": kind, "version": str(version), "document": json.dumps(document)}
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, safetensors.torch.save(whole, header))


def read(path: Path, kind: str, version: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write` wrote. Anything else gives a sentence: missing, truncated, foreign, or too new."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {kind} at {path}")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except safetensors.SafetensorError as error:
        if (found := kind_of(path)) in STARTS.values():
            raise ValueError(f"{path} is {found}, not a {kind}; check the path") from error
        raise ValueError(
            f"{path} is not a whole safetensors file ({error}); it may have been cut off while copying, get it again"
        ) from error
    if header.get("kind") != kind:
        raise ValueError(f"{path} is a safetensors file, but not a {kind} that corel wrote; give one that it did")
    if not header.get("version", "").isdigit() or int(header["version"]) > version:
        raise ValueError(
            f"{path} has format {header.get('version')} and this corel reads up to {version}; "
            f"upgrade with: pip install --upgrade corel"
        )
    try:
        return tensors, dict(json.loads(header["document"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged or was edited: its document cannot be read; get the file again") from error
