"""The studio's page on a large gallery: 300 classes and 20,100 exemplars, in a real browser.

``python -m benchmarks.studio`` starts a server and measures in Chromium how long the page needs for its first view, to
open a class, to recognize sixteen photos and to decide anew after a correction, and the longest pause of the page while
all classes are scrolled through and while the rate moves; it writes ``results/studio.json``. ``--quick`` uses a small
gallery and shows that everything runs.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from corel.gallery import Exemplar, Gallery
from measuring.record import record

RESULTS = Path(__file__).parent / "results"
CLASSES, EXEMPLARS, PHOTOS = 300, 67, 16
WHEN = "2026-01-01T00:00:00+00:00"
WHEEL = 600  # pixels a turn
FLAGS = ("--no-sandbox", "--disable-gpu")  # a root user has no sandbox
# The longest gap between two drawn frames while the list is scrolled, in milliseconds.
WATCH = """() => { let last = performance.now(); window.longest = 0;
  const step = now => {
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step); }"""


def picture(random: np.random.Generator, side: int, kind: str) -> bytes:
    """A blurred picture of noise."""
    content = io.BytesIO()
    small = Image.fromarray(random.integers(0, 255, (6, 6, 3), dtype=np.uint8))
    small.resize((side, side), Image.Resampling.BICUBIC).save(content, kind)
    return content.getvalue()


def make_gallery(path: Path, classes: int) -> None:
    """Classes of random points: what they are does not change the time, so none is encoded."""
    random = np.random.default_rng(0)
    with Gallery.open(path, create=True) as gallery:
        backbone = gallery.backbone
        assert backbone.background_features is not None
        latents, features = backbone.background, backbone.background_features
        gallery.enroll("class 000", random.integers(0, 255, (EXEMPLARS, 32, 32, 3), dtype=np.uint8))
        for number in range(1, classes):
            rows = random.integers(0, len(features), EXEMPLARS)
            gallery.restore([
                Exemplar(
                    f"class {number:03}", random.bytes(32).hex(), f"photo-{number}-{i}.jpg", WHEN,
                    latents[row] + random.normal(0, 0.1, latents.shape[1:]).astype(np.float32),
                    picture(random, 96, "WEBP"),
                    features[row] + random.normal(0, 0.1, features.shape[1:]).astype(np.float32),
                )
                for i, row in enumerate(rows)
            ])  # fmt: skip


def seconds(run: Callable[[], object]) -> float:
    """Time a step."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def visit(page: Page, url: str, folder: Path) -> dict[str, float]:
    """Do what a person does right after the start of a server, and time each step."""
    found = {"first view, s": seconds(lambda: (page.goto(url), page.wait_for_selector(".card img")))}
    page.evaluate(WATCH)
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    for _ in range(height // WHEEL):
        page.mouse.wheel(0, WHEEL)
        page.wait_for_timeout(50)
    found["longest pause while scrolling, ms"] = float(page.evaluate("window.longest"))
    while page.request.get(f"{url}/readyz").status != HTTPStatus.OK:
        page.wait_for_timeout(100)
    open_class = seconds(lambda: (page.goto(f"{url}/#/class/class 007"), page.wait_for_selector(".exemplars img")))
    sort_class = seconds(lambda: page.get_by_text("Those that fit worst come first").wait_for())
    found |= {"a class opened, s": open_class, "its odd ones first, s": open_class + sort_class}
    page.goto(f"{url}/#/recognize")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Photos…").click()

    def recognize() -> None:
        chosen.value.set_files(sorted(folder.glob("*.jpg")))
        page.wait_for_selector(f".photo:nth-child({PHOTOS})")
        page.locator("[data-verdict=waiting]").last.wait_for(state="detached")

    def correct() -> None:
        with page.expect_response(lambda answer: "/v1/score" in answer.url):
            page.locator("button.plus").first.click()

    found[f"{PHOTOS} photos recognized, s"] = seconds(recognize)
    found["a correction, all decided anew, s"] = seconds(correct)
    page.evaluate(WATCH)
    page.get_by_label("Rate").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    found["longest pause while the rate moves, ms"] = float(page.evaluate("window.longest"))
    return found


def serve(gallery: Path, folder: Path) -> dict[str, float]:
    """Start a server on the gallery, and visit it."""
    command = [sys.executable, "-m", "corel", "serve", str(gallery), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        url = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        try:
            return visit(browser.new_page(), url.rstrip("/"), folder)
        finally:
            browser.close()
            server.terminate()


def main() -> None:
    """Make the gallery, visit it, print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small gallery; writes nothing")
    quick, began = parser.parse_args().quick, time.perf_counter()
    classes = 12 if quick else CLASSES
    with tempfile.TemporaryDirectory() as place:
        folder, gallery = Path(place), Path(place) / "large.gallery"
        make_gallery(gallery, classes)
        random = np.random.default_rng(1)
        for number in range(PHOTOS):
            (folder / f"{number}.jpg").write_bytes(picture(random, 640, "JPEG"))
        found = serve(gallery, folder)
    table = Table("step", "value", title=f"{classes} classes, {classes * EXEMPLARS:,} exemplars")
    for name, value in found.items():
        table.add_row(name, f"{value:.3g}")
    Console().print(table)
    if not quick:
        config = {"classes": classes, "exemplars of each class": EXEMPLARS, "photos": PHOTOS}
        record("studio", config=config, results=found, seed=0, seconds=time.perf_counter() - began, folder=RESULTS)


if __name__ == "__main__":
    main()
