"""A gallery with its backbone as bytes: what travels to another process or machine."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from corel.gallery._gallery import Gallery

GALLERY, BACKBONE = "packed.gallery", "backbone.safetensors"


@dataclass(frozen=True)
class Packed:
    """A gallery as it was at one moment; later changes of its file do not reach it.

    Attributes:
        gallery: the content of the gallery's file.
        backbone: the content of the backbone's file.
        digest: a hash of all that decides a verdict: classes, exemplars, settings and backbone. When and from where
            something was enrolled does not count.

    Example:
        >>> import corel
        >>> with corel.Gallery.open("digits.gallery", create=True) as gallery:
        ...     done = gallery.enroll("zero", corel.images.open("digits").pixels[:20])
        ...     packed = Packed.of(gallery)
        >>> with packed.unpacked("elsewhere") as other:
        ...     other.classes()
        {'zero': 20}

    """

    gallery: bytes
    backbone: bytes
    digest: str

    @classmethod
    def of(cls, gallery: Gallery) -> Packed:
        """Read an open gallery, whatever other processes do meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            place, backbone = Path(folder, GALLERY), Path(folder, BACKBONE)
            gallery._store.copy(place)
            gallery.backbone.save(backbone)
            with Gallery.open(place, gallery.backbone) as copied:
                digest = _digest(copied)
            return cls(place.read_bytes(), backbone.read_bytes(), digest)

    def unpacked(self, folder: str | Path) -> Gallery:
        """Write both files to a folder and open the gallery."""
        place, backbone = Path(folder, GALLERY), Path(folder, BACKBONE)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.gallery)
        backbone.write_bytes(self.backbone)
        return Gallery.open(place, backbone)


def _digest(gallery: Gallery) -> str:
    content = [gallery.backbone.digest, gallery.settings, gallery.hashes()]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
