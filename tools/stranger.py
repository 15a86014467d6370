"""What a stranger tries first after `pip install corel`; run by tools.release in an environment of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

import corel

USER = """
import numpy as np
import torch
import corel

loss: torch.Tensor = corel.ConnectivityLoss(eta=2.0, branches=4)(torch.randn(20, 40))
deaths: torch.Tensor = corel.death_times(torch.randn(4, 20, 10))
with corel.Gallery.open("a.gallery", create=True) as gallery:
    added: dict[str, int] = gallery.enroll("a", np.zeros((3, 32, 32, 3), np.uint8)).added
    verdicts: list[str] = [each.verdict for each in gallery.recognize("new")]
"""


def main() -> None:
    """Loss with a gradient, a gallery of digits, the command line, and types in a project of one's own."""
    z = torch.randn(100, 40, requires_grad=True)
    corel.ConnectivityLoss(eta=2.0, branches=4)(z).backward()
    assert z.grad is not None
    assert bool(torch.isfinite(z.grad).all())
    digits, new = corel.images.open("digits"), corel.images.open("digits", "test")
    with corel.Gallery.open("digits.gallery", create=True) as gallery:
        for name in ("0", "1"):
            gallery.enroll(name, digits.take(digits.labels == digits.classes.index(name)))
        found = gallery.score(new)
    zeros, p_values = new.labels == 0, found.p_values[:, found.classes.index("0")]
    assert np.mean(p_values[zeros] <= 0.05) < 0.15 < 0.5 < np.mean(p_values[~zeros] <= 0.05)
    for command in (["classes", "digits.gallery"], ["demo", "--help"], ["find", "--help"]):
        subprocess.run([sys.executable, "-m", "corel", *command], check=True, stdout=subprocess.DEVNULL)
    Path("user.py").write_text(USER)
    subprocess.run([sys.executable, "-m", "mypy", "--strict", "user.py"], check=True)


if __name__ == "__main__":
    main()
