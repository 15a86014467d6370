"""A real browser for tests of pages: one that is here, else Debian's; without any, tests skip, and fail under CI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# A root user has no sandbox to give, and nothing here should call home.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    # A camera that shows a moving picture, and needs no one to allow it.
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
    # A name that is not this machine's own: browsers trust such a page less.
    "--host-resolver-rules=MAP studio.example.org 127.0.0.1",
)  # fmt: skip


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a headless browser."""
    path = _installed() or _install()
    if path is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no Chromium or Chrome here and none could be installed; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def _installed() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _install() -> str | None:
    """Install Debian's package where that is allowed; other test processes may be at it too, so wait for the lock."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return None
    wait = ("-o", "DPkg::Lock::Timeout=300")
    for arguments in (("update",), ("install", "-y", "--no-install-recommends", "chromium")):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([apt, *wait, *arguments], capture_output=True, check=False, env=environment)
    return _installed()
