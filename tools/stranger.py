"""What a stranger tries first after `pip install corel`; run by tools.release in an environment of its own."""

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import torch
from PIL import Image

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
PORT = "18420"


def run(*command: str) -> None:
    """Run `corel` in this environment; its output is of no interest here."""
    subprocess.run([sys.executable, "-m", "corel", *command], check=True, stdout=subprocess.DEVNULL)


def try_loss() -> None:
    """The loss has a finite gradient."""
    z = torch.randn(100, 40, requires_grad=True)
    corel.ConnectivityLoss(eta=2.0, branches=4)(z).backward()
    assert z.grad is not None
    assert bool(torch.isfinite(z.grad).all())


def try_gallery() -> None:
    """A gallery of two digits accepts the one and not the others."""
    digits, new = corel.images.open("digits"), corel.images.open("digits", "test")
    with corel.Gallery.open("digits.gallery", create=True) as gallery:
        for name in ("0", "1"):
            gallery.enroll(name, digits.take(digits.labels == digits.classes.index(name)))
        found = gallery.score(new)
    zeros, p_values = new.labels == 0, found.p_values[:, found.classes.index("0")]
    assert np.mean(p_values[zeros] <= 0.05) < 0.15 < 0.5 < np.mean(p_values[~zeros] <= 0.05)
    Path("new").mkdir()
    for number, pixels in enumerate(new.pixels[:20]):
        Image.fromarray(pixels).save(f"new/{number}.png")


def try_commands() -> None:
    """Scores as Parquet, a photograph searched, a training of one epoch, the encoder as ONNX."""
    run("classes", "digits.gallery")
    run("score", "digits.gallery", "new", "--format", "parquet", "--out", "rows.parquet")
    photo = np.random.default_rng(0).integers(0, 255, (96, 96, 3), np.uint8)
    Image.fromarray(photo).save("photo.png")
    run("find", "photo.png", "--box", "0,0,48,48", "--out", "found.png")
    run("train", "new", "--out", "mine.safetensors", "--epochs", "1", "--batch-size", "10")
    run("backbone", "export", "mine.safetensors", "--onnx", "mine.onnx")
    import onnxruntime

    session = onnxruntime.InferenceSession("mine.onnx")
    (latents,) = session.run(None, {"images": np.zeros((3, 3, 32, 32), np.float32)})
    assert latents.shape == (3, 160)


def answers(address: str) -> bool:
    """Ask a server whether it is ready."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def try_page() -> None:
    """The studio answers within two minutes."""
    server = subprocess.Popen([sys.executable, "-m", "corel", "serve", "digits.gallery", "--port", PORT])
    try:
        end = time.monotonic() + 120
        while not answers(f"http://127.0.0.1:{PORT}/readyz"):
            assert time.monotonic() < end, "the page does not answer"
            time.sleep(1)
    finally:
        server.terminate()
        server.wait(60)


def try_types() -> None:
    """Types hold in a project of one's own."""
    Path("user.py").write_text(USER)
    subprocess.run([sys.executable, "-m", "mypy", "--strict", "user.py"], check=True)


if __name__ == "__main__":
    for each in (try_loss, try_gallery, try_commands, try_page, try_types):
        each()
        print(each.__name__.replace("_", " "), "– fine", flush=True)
