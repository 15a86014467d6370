"""Take the pictures of docs/studio.md: ``python -m tools.studio_pictures``.

It cuts squares out of two photographs that come with scikit-learn, enrolls and recognizes them by the page in Chromium,
as a person would, and writes docs/figures/studio-*.jpg.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from corel.demo.photos import STRANGERS, THINGS, Box, load_photo
from experiments._lib.paths import FIGURES

VIEW: ViewportSize = {"width": 1180, "height": 800}
ENROLLED, NEW = 30, 3  # squares of each thing
SMALLEST, LARGEST = 44, 72  # pixels of a square's side; flat things are cut smaller
PATIENCE = 60_000  # milliseconds


def cut(photo: str, box: Box, count: int, random: np.random.Generator) -> list[Image.Image]:
    """Cut squares out of a box at random places."""
    left, top, width, height = box
    picture, squares = Image.fromarray(load_photo(photo)), []
    for _ in range(count):
        side = min(int(random.integers(SMALLEST, LARGEST)), width, height)
        x, y = left + int(random.integers(width - side + 1)), top + int(random.integers(height - side + 1))
        squares.append(picture.crop((x, y, x + side, y + side)).resize((240, 240), Image.Resampling.BICUBIC))
    return squares


def write_photos(folder: Path) -> None:
    """Write a folder of squares for each thing, one wrong among them, and one of new squares."""
    random = np.random.default_rng(0)
    new = folder / "new"
    new.mkdir()
    for name, thing in THINGS.items():
        (folder / name).mkdir()
        for i, square in enumerate(cut(thing.photo, thing.box, ENROLLED, random)):
            square.save(folder / name / f"{name}-{i:02}.jpg")
        for i, square in enumerate(cut(thing.photo, thing.box, NEW, random)):
            square.save(new / f"{name}-new-{i}.jpg")
    for name, (photo, box) in STRANGERS.items():
        for i, square in enumerate(cut(photo, box, 2, random)):
            square.save(new / f"{name}-{i}.jpg")
    wrong = cut(THINGS["blossom"].photo, THINGS["blossom"].box, 1, random)
    wrong[0].save(folder / "pagoda" / "pagoda-30.jpg")


def enroll(page: Page, folder: Path) -> None:
    """Make a class of a folder."""
    page.get_by_role("button", name="New class").click()
    with page.expect_file_chooser() as chosen:
        page.locator("dialog").get_by_role("button", name="Folder…").click()
    chosen.value.set_files(folder)
    page.get_by_role("button", name="Enroll ").click()
    expect(page.locator(f"[data-class={folder.name}] .count")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("dialog")).to_have_count(0)


def take_pictures(page: Page, url: str, folder: Path) -> None:
    """Go through the page and take a picture of each part."""
    page.goto(url)
    for name in THINGS:
        enroll(page, folder / name)
    save(page, "classes")
    page.get_by_role("link", name="Recognize").click()
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Photos…").click()
    chosen.value.set_files(sorted((folder / "new").iterdir()))
    expect(page.locator("[data-verdict=waiting]")).to_have_count(0, timeout=PATIENCE)
    page.get_by_label("Sort by").select_option("class")
    save(page, "recognize")
    page.get_by_role("button", name="Why? pagoda-new-0.jpg").click()
    expect(page.locator(".voters img").first).to_be_visible(timeout=PATIENCE)
    save(page, "why")
    page.keyboard.press("Escape")
    page.goto(f"{url}/#/class/pagoda")
    expect(page.get_by_text("Those that fit worst come first")).to_be_visible(timeout=PATIENCE)
    page.locator(".exemplars input").first.check()
    save(page, "class")


def save(page: Page, name: str) -> None:
    """Write what the page shows once its pictures are there."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(1_000)
    page.screenshot(path=FIGURES / f"studio-{name}.jpg", quality=82, type="jpeg")


def main() -> None:
    """Start a server on a new gallery, and visit it."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # asking for help must not overwrite pictures
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        write_photos(Path(place))
        command = [sys.executable, "-m", "corel", "serve", f"{place}/photos.gallery", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            take_pictures(browser.new_page(viewport=VIEW), url.rstrip("/"), Path(place))
            browser.close()
            server.terminate()


if __name__ == "__main__":
    main()
