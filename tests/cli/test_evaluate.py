"""Commands that measure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from cli.conftest import Corel
from corel.backbone import Backbone
from corel.theory import diagnose


def test_diagnose_measures_the_background_or_images(corel: Corel, backbone_file: Path, photos: Path) -> None:
    backbone = Backbone.load(backbone_file)
    expected = diagnose(backbone.background, backbone.eta, 4, 100, batches=20, seed=1)
    asked = ("diagnose", backbone_file, "--batches", 20, "--seed", 1)
    assert corel(*asked).stdout == f"{expected}\n"
    found = json.loads(corel(*asked, "--json").stdout)
    np.testing.assert_allclose(found["mean"], expected.mean)
    np.testing.assert_allclose(found["near_eta"], expected.near_eta)
    too_few = corel(*asked, "--images", photos / "classes", exits=2)
    assert "65" in too_few.stderr
    digits = json.loads(corel(*asked, "--images", "digits", "--json").stdout)
    assert digits["mean"] != found["mean"]
