"""Small pictures in every format that is read."""

from __future__ import annotations

import io

from PIL import Image


def picture(kind: str, **options: object) -> bytes:
    """Encode a gradient of 24 × 16 pixels."""
    file = io.BytesIO()
    Image.linear_gradient("L").resize((24, 16)).convert("RGB").save(file, kind, **options)
    return file.getvalue()
