"""The Hub's own client against a server on this machine; local files without any network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from corel.backbone import Backbone
from corel.backbone._card import hub_page

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    Backbone.load("tiny-imagenet-16x10").save(path)
    return path


@pytest.fixture
def hub(small: Path) -> Iterator[str]:
    """Serve one file as the Hub does: its size, hash and commit in the headers."""
    content = small.read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()
            self.wfile.write(content)

        def _answer(self) -> None:
            found = self.path.startswith("/someone/encoder/resolve/")
            self.send_response(200 if found else 404)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def received() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Take uploads as the Hub does, all of them inside the commit; gives the address and the files by name."""
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self._body()
            answers = {
                "/api/repos/create": {"url": f"{address}/someone/encoder"},
                "/api/validate-yaml": {"warnings": [], "errors": []},
                "/api/models/someone/encoder/preupload/main": {"files": _modes(content)},
                "/api/models/someone/encoder/commit/main": {
                    "commitUrl": f"{address}/someone/encoder/commit/{COMMIT}",
                    "commitOid": COMMIT,
                },
            }
            if self.path.endswith("/commit/main"):
                parts = [json.loads(line) for line in content.splitlines()]
                added = [part["value"] for part in parts if part["key"] == "file"]
                files.update({each["path"]: base64.b64decode(each["content"]) for each in added})
            answer = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _body(self) -> bytes:
            if "Content-Length" in self.headers:
                return self.rfile.read(int(self.headers["Content-Length"]))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield address, files
        server.shutdown()


def _modes(content: bytes) -> list[dict[str, object]]:
    """Answer for each file in a request, if it has some, that it may be part of the commit."""
    asked = json.loads(content.splitlines()[0]).get("files", [])
    return [{"path": each["path"], "uploadMode": "regular", "shouldIgnore": False} for each in asked]


def run(code: str, place: Path, endpoint: str = "http://127.0.0.1:9") -> subprocess.CompletedProcess[str]:
    """In a process of its own: the client reads its settings when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(place / "hub"), "HF_HUB_DISABLE_XET": "1"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_a_repository_is_downloaded_once(hub: str, small: Path, tmp_path: Path) -> None:
    code = "import corel; print(corel.Backbone.from_pretrained('someone/encoder').digest)"
    first = run(code, tmp_path, hub)
    assert first.stdout.strip() == Backbone.load(small).digest, first.stderr


def test_a_missing_repository_is_a_clear_error(hub: str, tmp_path: Path) -> None:
    asked = run("import corel; corel.Backbone.from_pretrained('someone/else')", tmp_path, hub)
    assert "cannot get backbone.safetensors of someone/else from the Hub" in asked.stderr


def test_an_upload_has_the_file_and_its_card(
    received: tuple[str, dict[str, bytes]], small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_none")
    address, files = received
    code = f"import corel; print(corel.Backbone.load({str(small)!r}).push_to_hub('someone/encoder'))"
    done = run(code, tmp_path, address)
    assert done.stdout.strip() == f"{address}/someone/encoder", done.stderr
    assert set(files) == {"README.md", "backbone.safetensors"}
    (tmp_path / "again.safetensors").write_bytes(files["backbone.safetensors"])
    assert Backbone.load(tmp_path / "again.safetensors").digest == Backbone.load(small).digest
    assert b"# tiny-imagenet-16x10" in files["README.md"]


@pytest.mark.parametrize("name", ["tiny-imagenet-16x10", "small.safetensors", "below/small.safetensors"])
def test_local_names_never_import_the_client(
    name: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "small.safetensors").write_bytes(small.read_bytes())
    monkeypatch.chdir(tmp_path)
    code = f"import sys, corel; corel.Backbone.from_pretrained({name!r}); print('huggingface_hub' in sys.modules)"
    assert run(code, tmp_path).stdout.strip() == "False"


def test_the_card_shows_how_to_load_it(small: Path) -> None:
    backbone = Backbone.load(small)
    assert "# tiny-imagenet-16x10" in hub_page(backbone, "me/mine")  # a shipped one brings its own
    backbone.eta = 3.0
    card = hub_page(backbone, "me/mine")
    assert 'from_pretrained("me/mine")' in card
    assert backbone.describe() in card
