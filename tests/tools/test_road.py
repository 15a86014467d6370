"""The tool that follows images: functions that take or return one are on the road, others are not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from PIL import Image

from tools.road import Road

CODE = """
import numpy as np

def named(path): return None
def listed(paths): return None
def read(number): return b"content"
def encoded(rows): return None
def pixels(batch): return None
def settings(rate, weights): return rate
"""


def test_functions_that_take_or_return_an_image_are_on_the_road(tmp_path: Path) -> None:
    package, files = tmp_path / "package", [tmp_path / f"{i}.png" for i in range(3)]
    package.mkdir()
    for file in files:
        file.write_bytes(b"content")
    (package / "module.py").write_text(CODE)
    spec = importlib.util.spec_from_file_location("module", package / "module.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with Road(package, files) as road:
        module.named(files[0])
        module.listed({"files": [str(file) for file in files]})
        module.read(1)
        module.encoded(np.zeros((3, 160)))
        module.pixels((Image.new("RGB", (8, 8)), np.zeros((8, 3, 32, 32))))
        module.settings(0.05, np.zeros((64, 3, 3, 3)))
    assert [name for _, name in road.functions] == ["named", "listed", "read", "encoded", "pixels"]
    assert {file for file, _ in road.functions} == {"module.py"}
