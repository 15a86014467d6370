"""The backbone behind a gallery: known by its hash, found by its name.

torch is imported when a backbone is needed: listing and forgetting do without.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from corel.gallery._exemplar import BackboneReference, check_backbone

if TYPE_CHECKING:
    from corel.backbone import Backbone

BackboneLike: TypeAlias = "Backbone | str | os.PathLike[str]"
# A backbone handed over in memory has no name that another process could find it by.
UNNAMED = "unnamed"


def load(path: Path, stored: BackboneReference | None, given: BackboneLike | None) -> tuple[Backbone, str]:
    """Give the backbone for the gallery at `path` and its name: the given one, the stored or the default."""
    from corel.backbone import DEFAULT, Backbone, shipped

    if given is None and stored is not None:
        return _find(path, stored), stored.name
    wanted = DEFAULT if given is None else given
    if isinstance(wanted, Backbone):
        backbone, name = wanted, UNNAMED
    else:
        backbone = Backbone.load(wanted)
        name = str(wanted) if str(wanted) in shipped() else str(Path(wanted).absolute())
    if stored is not None:
        check_backbone(path, stored, refer(backbone, name, stored))
    return backbone, name


def refer(backbone: Backbone, name: str, stored: BackboneReference | None = None) -> BackboneReference:
    """Give the reference to its backbone that a gallery stores; a gallery that stored an older digest keeps it."""
    known = stored is not None and stored.digest in backbone.digests
    digest = stored.digest if stored is not None and known else backbone.digest
    return BackboneReference(name, digest, backbone.branches * backbone.branch_dim)


def _find(path: Path, stored: BackboneReference) -> Backbone:
    from corel.backbone import Backbone, shipped

    for name in dict.fromkeys([stored.name, *shipped()]):
        try:
            candidate = Backbone.load(name)
        except (OSError, ValueError):
            continue
        if refer(candidate, name, stored) == BackboneReference(name, stored.digest, stored.dimension):
            return candidate
    what = "is another one now" if Path(stored.name).is_file() else "is not where it was"
    raise FileNotFoundError(
        f"the backbone of {path}, {stored.name} ({stored.digest[:12]}), {what}; "
        "say where it is with --backbone (backbone= in Python)"
    )
