"""The page in a real browser against a real server: what a person does in the first five minutes, and after."""

from __future__ import annotations

import base64
import csv
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests._axe import axe_source
from tests._browser import open_browser
from tests.serve.conftest import halves, picture, pictures
from tests.serve.servers import File, Server

Scheme = Literal["light", "dark"]
PHONE, DESKTOP = 390, 1280
SLOW = 60_000  # milliseconds, on a busy machine
AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .filter(found => ["serious", "critical"].includes(found.impact))
  .map(found => `${found.id}: ${found.nodes.map(node => node.target.join(" ")).join(", ")}`)"""
# A drop as a browser makes it, from files that travel as text.
DROP = """([selector, files]) => {
  const transfer = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name, {type: "image/png"}));
  }
  document.querySelector(selector).dispatchEvent(
    new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
}"""

PASTE = """content => {
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], "pasted.png", {type: "image/png"}));
  document.dispatchEvent(new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true, cancelable: true}));
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Page]:
    """The page at desktop width; a test that leaves a complaint behind fails."""
    yield from opened(browser, server, DESKTOP, "light")


def opened(browser: Browser, server: Server, width: int, scheme: Scheme) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, accept_downloads=True,
        permissions=["clipboard-read"],
    )  # fmt: skip
    page = context.new_page()
    page.set_default_timeout(SLOW)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    local = (server.url, "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(local) else complaints.append(asked.url))
    page.goto(server.url)
    expect(page.get_by_role("heading", level=1, name="Classes")).to_be_visible(timeout=SLOW)
    yield page
    context.close()
    assert complaints == []


def drop(page: Page, files: list[File], onto: str = "main") -> None:
    page.evaluate(DROP, [onto, [[name, base64.b64encode(content).decode()] for name, content in files]])


def recognize(page: Page, files: list[File]) -> None:
    page.get_by_role("link", name="Recognize").click()
    expect(page.get_by_role("heading", level=1, name="Recognize")).to_be_visible()
    drop(page, files)
    expect(page.locator(".photo")).to_have_count(len(files), timeout=SLOW)
    expect(page.locator("[data-verdict=waiting]")).to_have_count(0, timeout=SLOW)


def forget(page: Page, server: Server, name: str) -> None:
    """Forget a class once the page has closed, which may still be loading thumbnails."""
    page.close()
    server.ask("DELETE", f"/v1/classes?name={name}")


def verdicts(page: Page) -> list[str]:
    return [card.get_attribute("data-verdict") or "" for card in page.locator(".photo").all()]


def test_a_class_is_made_by_dropping_photos(tab: Page, server: Server) -> None:
    drop(tab, [*pictures("blue", 3, 100), picture("blue", 100), ("broken.png", b"not an image")])
    tab.get_by_label("What is on the photos?").fill("<b>sea & sky")
    tab.get_by_role("button", name="Enroll 5 photos").click()
    box = tab.get_by_role("dialog")
    expect(box.get_by_text("3 added, 1 duplicate, 1 skipped")).to_be_visible(timeout=SLOW)
    expect(box.get_by_text("duplicate: the class holds this picture already")).to_be_visible()
    expect(box.get_by_text("skipped: is no")).to_be_visible()
    box.get_by_role("button", name="Done").click()
    card = tab.locator(".card", has_text="<b>sea & sky")
    expect(card).to_contain_text("3 exemplars")
    expect(card).to_contain_text("16 more for 5%")
    drop(tab, [picture("blue", 105)], "[data-class='<b>sea & sky']")
    expect(card).to_contain_text("4 exemplars", timeout=SLOW)
    assert server.classes()["<b>sea & sky"] == 4
    forget(tab, server, "%3Cb%3Esea%20%26%20sky")


def test_photos_are_recognized_corrected_and_explained(tab: Page, server: Server, tmp_path: Path) -> None:
    recognize(tab, [*pictures("red", 3, 200), *pictures("blue", 2, 200), ("broken.png", b"x")])
    assert verdicts(tab)[:5] == ["known"] * 3 + ["stranger"] * 2
    assert verdicts(tab)[5] == "unreadable"

    # The table that is downloaded says the same.
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "verdicts.csv")
    rows = list(csv.DictReader((tmp_path / "verdicts.csv").read_text().splitlines()))
    assert [row["verdict"] for row in rows] == verdicts(tab)
    assert [row["class"] for row in rows[:3]] == ["red"] * 3

    # At a high rate more are called strangers; filters follow.
    tab.get_by_label("Rate").focus()
    for _ in range(20):
        tab.keyboard.press("ArrowRight")
    assert verdicts(tab).count("stranger") > 2
    for _ in range(7):
        tab.keyboard.press("ArrowLeft")
    assert verdicts(tab)[:5] == ["known"] * 3 + ["stranger"] * 2
    tab.get_by_role("button", name="Stranger 2").click()
    expect(tab.locator(".photo")).to_have_count(2)
    tab.get_by_role("button", name="All 6").click()

    # Why: exemplars beside the photo, for the likeliest class and for the runner-up.
    tab.get_by_role("button", name="Why? red-200.png").click()
    why = tab.get_by_role("dialog")
    expect(why.get_by_role("heading", name="red")).to_be_visible(timeout=SLOW)
    expect(why.get_by_role("heading", name="green")).to_be_visible()
    expect(why.get_by_text("likeliest, p")).to_be_visible()
    expect(why.get_by_text("runner-up, p")).to_be_visible()
    assert why.locator(".voters img").count() > 0
    tab.keyboard.press("Escape")

    # One click corrects, everything is decided anew, and it can be undone.
    before = server.classes()["green"]
    tab.get_by_role("button", name="Put blue-200.png into green").click()
    expect(tab.get_by_text("blue-200.png put into green.")).to_be_visible(timeout=SLOW)
    expect(tab.locator(".photo").nth(3)).not_to_have_attribute("data-verdict", "stranger", timeout=SLOW)
    assert server.classes()["green"] == before + 1
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".photo").nth(3)).to_have_attribute("data-verdict", "stranger", timeout=SLOW)
    assert server.classes()["green"] == before

    # Several at once become a new class.
    for name in ("blue-200.png", "blue-201.png"):
        tab.get_by_label(f"Select {name}").check()
    tab.get_by_role("button", name="Put into a class…").click()
    tab.get_by_label("Class, new or not").fill("blue")
    tab.get_by_role("button", name="Put into this class").click()
    expect(tab.get_by_text("2 photos put into blue.")).to_be_visible(timeout=SLOW)
    assert server.classes()["blue"] == 2
    forget(tab, server, "blue")


def test_a_class_is_cleaned_renamed_and_forgotten(tab: Page, server: Server) -> None:
    server.enroll("rubies", [*pictures("red", 20, 600), picture("blue", 600)])
    tab.goto(f"{server.url}/#/class/rubies")
    first = tab.locator(".exemplars li").first
    expect(first).to_contain_text("blue-600.png", timeout=SLOW)
    expect(first).to_contain_text("odd")
    first.get_by_role("checkbox").check()
    tab.get_by_role("button", name="Remove 1 exemplar").click()
    expect(tab.get_by_text("1 exemplar of rubies removed.")).to_be_visible(timeout=SLOW)
    expect(tab.locator(".exemplars li")).to_have_count(20)
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".exemplars li")).to_have_count(21, timeout=SLOW)

    tab.get_by_role("button", name="Rename").click()
    tab.get_by_label("New name").fill("jewels / stones")
    tab.locator("dialog").get_by_role("button", name="Rename").click()
    assert tab.get_by_label("New name").evaluate("field => field.validity.patternMismatch")
    tab.get_by_label("New name").fill("jewels")
    tab.locator("dialog").get_by_role("button", name="Rename").click()
    expect(tab.get_by_role("heading", level=1, name="jewels")).to_be_visible(timeout=SLOW)
    expect(tab.locator(".exemplars li")).to_have_count(21, timeout=SLOW)

    tab.get_by_role("button", name="Forget…").click()
    go = tab.get_by_role("button", name="Forget it for good")
    tab.get_by_label("Type the name of the class").fill("jewel")
    expect(go).to_be_disabled()
    tab.get_by_label("Type the name of the class").fill("jewels")
    go.click()
    expect(tab.get_by_role("heading", level=1, name="Classes")).to_be_visible(timeout=SLOW)
    assert "jewels" not in server.classes()


def test_photos_come_from_camera_folder_and_clipboard(tab: Page, server: Server, tmp_path: Path) -> None:
    tab.get_by_role("button", name="New class").click()
    tab.get_by_label("What is on the photos?").fill("by hand")
    dialog = tab.locator("dialog").first
    dialog.get_by_role("button", name="Camera").click()
    expect(tab.locator("video")).not_to_have_js_property("videoWidth", 0)
    tab.get_by_role("button", name="Take a photo").click()
    tab.get_by_role("button", name="Use this photo").click()
    expect(dialog.get_by_role("button", name="Enroll 1 photo")).to_be_visible()

    for name, content in pictures("blue", 2, 900):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "notes.txt").write_text("no photo")
    with tab.expect_file_chooser() as chosen:
        dialog.get_by_role("button", name="Folder…").click()
    chosen.value.set_files(tmp_path)
    expect(tab.get_by_text("1 of 3 files are no images.")).to_be_visible()

    tab.evaluate(PASTE, base64.b64encode(picture("blue", 950)[1]).decode())
    dialog.get_by_role("button", name="Enroll 4 photos").click()
    expect(tab.locator("[data-class='by hand']")).to_be_visible(timeout=SLOW)
    assert server.classes()["by hand"] == 4
    forget(tab, server, "by%20hand")


def test_a_folder_goes_up_in_several_requests(tab: Page, server: Server, tmp_path: Path) -> None:
    for name, content in pictures("blue", 35, 1000):
        (tmp_path / name).write_bytes(content)
    sent: list[str] = []
    tab.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    with tab.expect_file_chooser() as chosen:
        tab.get_by_role("button", name="New class").click()
        tab.locator("dialog").get_by_role("button", name="Folder…").click()
    chosen.value.set_files(tmp_path)
    # The class is called like the folder unless one says otherwise.
    expect(tab.get_by_label("What is on the photos?")).to_have_value(tmp_path.name)
    tab.get_by_label("What is on the photos?").fill("folder")
    tab.get_by_role("button", name="Enroll 35 photos").click()
    expect(tab.locator("[data-class=folder]")).to_contain_text("35 exemplars", timeout=SLOW)
    assert sent == [f"{server.url}/v1/exemplars?name=folder"] * 3
    forget(tab, server, "folder")


def test_a_class_is_shown_before_its_exemplars_are_compared(tab: Page, server: Server) -> None:
    server.enroll("jade", [picture("green", 1200), *pictures("red", 19, 1200)])
    waiting: list[Route] = []
    tab.route("**/v1/audit*", lambda route: waiting.append(route))
    tab.goto(f"{server.url}/#/class/jade")
    items = tab.locator(".exemplars li")
    expect(items).to_have_count(20, timeout=SLOW)
    expect(tab.get_by_text("Comparing the exemplars")).to_be_visible()
    items.nth(3).get_by_role("checkbox").check()
    for route in waiting:
        route.continue_()
    expect(tab.get_by_text("Those that fit worst come first")).to_be_visible(timeout=SLOW)
    expect(items.first).to_contain_text("green-1200.png")
    assert tab.locator(".exemplars input:checked").count() == 1  # what was selected stays so
    tab.unroute("**/v1/audit*")
    forget(tab, server, "jade")


def test_thumbnails_scrolled_out_of_view_are_not_waited_for(tab: Page, server: Server) -> None:
    held: list[Route] = []
    tab.route("**/v1/thumbnails*", lambda route: held.append(route))
    tab.reload()
    tab.wait_for_selector(".card img[src]", state="attached")
    with tab.expect_event("requestfailed", lambda request: "/v1/thumbnails" in request.url):
        tab.goto(f"{server.url}/#/recognize")
    tab.unroute("**/v1/thumbnails*")
    tab.goto(f"{server.url}/#/classes")
    expect(tab.locator(".card img").first).not_to_have_js_property("naturalWidth", 0, timeout=SLOW)


def test_verdicts_are_updated_after_a_change_of_the_gallery(tab: Page, server: Server) -> None:
    recognize(tab, [picture("blue", 1300)])
    assert verdicts(tab) == ["stranger"]
    tab.get_by_role("link", name="Classes").click()
    drop(tab, pictures("blue", 25, 1310))
    tab.get_by_label("What is on the photos?").fill("sapphires")
    tab.get_by_role("button", name="Enroll 25 photos").click()
    expect(tab.locator("[data-class=sapphires]")).to_be_visible(timeout=SLOW)
    tab.get_by_role("link", name="Recognize").click()
    expect(tab.locator(".photo")).to_have_attribute("data-verdict", "known", timeout=SLOW)
    forget(tab, server, "sapphires")


def test_a_phone_elsewhere_logs_in_and_uses_its_own_camera(
    browser: Browser, gallery: Path, start: Callable[..., Server], tmp_path: Path
) -> None:
    """Without TLS and by another name than localhost a browser gives no live picture."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, token = f"http://studio.example.org:{port}", "correct-horse-battery-staple"
    start(gallery, port=port, token=token, public_url=address)
    context = browser.new_context(viewport={"width": PHONE, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    page.get_by_label("The token").fill("something-else-entirely")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("The token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Recognize").click()
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Camera").click()
    assert chosen.value.element.get_attribute("capture") == "environment"
    (tmp_path / "taken.png").write_bytes(picture("red", 1)[1])
    chosen.value.set_files(tmp_path / "taken.png")
    expect(page.locator(".photo")).to_have_attribute("data-verdict", "known", timeout=SLOW)
    assert token not in page.url
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("The token")).to_be_visible()
    context.close()


def test_a_thing_is_found_by_drawing_a_box(tab: Page) -> None:
    tab.get_by_role("link", name="Find").click()
    expect(tab.get_by_role("heading", level=1, name="Find")).to_be_visible()
    drop(tab, [halves(), picture("green", 3)])
    canvas = tab.locator(".finds canvas").first
    place = canvas.bounding_box()
    assert place is not None
    tab.mouse.move(place["x"] + 0.05 * place["width"], place["y"] + 0.1 * place["height"])
    tab.mouse.down()
    tab.mouse.move(place["x"] + 0.4 * place["width"], place["y"] + 0.9 * place["height"])
    tab.mouse.up()
    assert int(tab.get_by_label("width").input_value()) > 20
    tab.get_by_role("button", name="Find it").click()
    expect(tab.locator(".finds li").first).to_contain_text("of the photo", timeout=SLOW)
    first, second = (float(each.get_attribute("data-share") or "nan") for each in tab.locator(".finds li").all())
    assert 0.25 < first < 0.75
    assert second < first
    # The same by keyboard.
    for side, value in {"left": 2, "top": 2, "width": 40, "height": 40}.items():
        tab.get_by_label(side).fill(str(value))
    tab.get_by_role("button", name="Find it").click()
    expect(tab.locator(".finds li").first).to_contain_text("of the photo", timeout=SLOW)
    tab.get_by_label("Look for").select_option("green")
    tab.get_by_role("button", name="Find it").click()
    expect(tab.locator(".finds li").nth(1)).to_contain_text("of the photo", timeout=SLOW)
    assert float(tab.locator(".finds li").nth(1).get_attribute("data-share") or "nan") > 0.5


@pytest.mark.parametrize(
    ("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light"), (PHONE, "light"), (DESKTOP, "dark")]
)
def test_every_section_fits_and_is_accessible(browser: Browser, server: Server, width: int, scheme: Scheme) -> None:
    source = axe_source()
    for page in opened(browser, server, width, scheme):
        page.evaluate(source)
        found = {"classes": page.evaluate(AXE)}
        page.goto(f"{server.url}/#/class/red")
        expect(page.locator(".exemplars img").first).to_be_visible(timeout=SLOW)
        found["class"] = page.evaluate(AXE)
        recognize(page, [picture("red", 1), picture("blue", 1), ("broken.png", b"x")])
        found["recognize"] = page.evaluate(AXE)
        page.get_by_role("button", name="Why?").first.click()
        expect(page.locator(".voters img").first).to_be_visible(timeout=SLOW)
        found["why"] = page.evaluate(AXE)
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Find").click()
        expect(page.get_by_role("heading", level=1, name="Find")).to_be_visible()
        drop(page, [halves()])
        expect(page.locator(".finds canvas")).to_be_visible()
        found["find"] = page.evaluate(AXE)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(f"{server.url}/#/classes")
        page.get_by_role("button", name="New class").click()
        found["new class"] = page.evaluate(AXE)
        assert not any(found.values()), found


def test_the_api_is_shown_by_a_page_of_ours(tab: Page, server: Server) -> None:
    tab.goto(f"{server.url}/v1/docs")
    expect(tab.get_by_role("heading", name="POST /v1/score")).to_be_visible(timeout=SLOW)


def test_a_read_only_gallery_offers_no_changes(browser: Browser, gallery: Path, start: Callable[..., Server]) -> None:
    server = start(gallery, read_only=True)
    for page in opened(browser, server, DESKTOP, "light"):
        expect(page.get_by_text("(read-only)")).to_be_visible()
        expect(page.get_by_role("button", name="New class")).to_be_hidden()
        recognize(page, [picture("red", 1)])
        assert verdicts(page) == ["known"]
        expect(page.get_by_role("button", name="Put red-1.png into red")).to_have_count(0)
