"""Take the pictures of the studio and of an explanation in the docs: `python -m tools.screenshot`, needs Chromium.

A gallery of four things in scikit-learn's two photographs is served, and new windows of these things and of two others
are dropped on the page. New windows overlap with enrolled ones, so it is a picture of the page and no evidence. Writes
docs/figures/studio.png and docs/figures/why.png.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import FilePayload, Page

from corel import Gallery
from corel.demo.photos import STRANGERS, THINGS, Box, UInt8Array, load_photo
from corel.finding import windows_in
from tests._browser import open_browser

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
SIDE, SHOWN = 55, 165  # pixels of a window in the photograph, and as a file
ENROLLED, NEW = 60, 2
SLOW = 60_000  # milliseconds


def windows(photo: str, box: Box, count: int, seed: int) -> UInt8Array:
    """Cut windows out of a box, enlarged to be looked at."""
    return windows_in(load_photo(photo), box, count, size=SHOWN, sides=[SIDE], seed=seed)


def new_files() -> list[FilePayload]:
    """Windows that were not enrolled, as files with names."""
    boxes = {**{name: (thing.photo, thing.box) for name, thing in THINGS.items()}, **STRANGERS}
    return [
        FilePayload(name=f"{name}-{k}.png", mimeType="image/png", buffer=_png(pixels))
        for name, (photo, box) in boxes.items()
        for k, pixels in enumerate(windows(photo, box, NEW, seed=2), start=1)
    ]


def make_gallery(path: Path) -> None:
    """Enroll the demo's four things."""
    with Gallery.open(path, create=True) as gallery:
        for name, thing in THINGS.items():
            gallery.enroll(name, windows(thing.photo, thing.box, ENROLLED, seed=0))


def draw_why(path: Path) -> None:
    """Draw why a new window is taken for the pagoda."""
    thing, new = THINGS["pagoda"], path.with_name("new.png")
    new.write_bytes(_png(windows(thing.photo, thing.box, 1, seed=2)[0]))
    with Gallery.open(path) as gallery:
        explanation = gallery.explain(new)
    explanation.draw().savefig(FIGURES / "why.png", dpi=110)


def take(page: Page, address: str) -> None:
    """Drop the new files on the page and save what it shows."""
    page.set_default_timeout(SLOW)
    page.goto(address)
    page.get_by_role("link", name="Recognize").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Photos").click()
    chooser.value.set_files(new_files())
    page.locator(".photo").nth(len(THINGS) * NEW).wait_for()
    page.locator("[data-verdict=waiting]").first.wait_for(state="detached")
    page.screenshot(path=FIGURES / "studio.png")


def main() -> None:
    """Serve, look, save."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "photos.gallery")
        make_gallery(path)
        draw_why(path)
        command = [sys.executable, "-m", "corel", "serve", str(path), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found, "the server gave no address"
                with open_browser() as browser:
                    take(browser.new_page(viewport={"width": 1100, "height": 1150}, device_scale_factor=1), found[0])
            finally:
                server.terminate()
    print(f"wrote studio.png and why.png into {FIGURES}")


def _png(pixels: UInt8Array) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


if __name__ == "__main__":
    main()
