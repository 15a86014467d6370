"""Who may ask: the rules as a table, and the ways in with a real server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from corel.serve import Config
from corel.serve._config import origin_of
from corel.serve._guard import Rules, session
from corel.serve._problems import Refused
from tests.serve.conftest import picture
from tests.serve.servers import Server, form

TOKEN = "correct-horse-battery-staple"
HOST = "127.0.0.1:8420"
BEARER = {"authorization": f"Bearer {TOKEN}"}


def config(**settings: Any) -> Config:
    return Config(Path("x.gallery"), **settings)


LOCAL = config()
TOKENED = config(token=TOKEN)
PROXIED = config(token=TOKEN, public_url="https://studio.example.org")
EVERYWHERE = config(token=TOKEN, host="0.0.0.0")
READ_ONLY = config(read_only=True)
COOKIE = {"cookie": f"other=1; {TOKENED.cookie}={session(TOKENED)}"}

# config, method, path, headers, the status and reason of the refusal or None
CASES: list[tuple[Config, str, str, dict[str, str], tuple[int, str] | None]] = [
    (LOCAL, "GET", "/v1/classes", {"host": HOST}, None),
    (LOCAL, "GET", "/v1/classes", {"host": "localhost:8420"}, None),
    (LOCAL, "GET", "/v1/classes", {"host": "[::1]:8420"}, None),
    (LOCAL, "GET", "/v1/classes", {"host": "LOCALHOST:8420"}, None),
    (LOCAL, "GET", "/v1/classes", {}, (421, "host")),
    (LOCAL, "GET", "/v1/classes", {"host": "127.0.0.1"}, (421, "host")),
    (LOCAL, "GET", "/v1/classes", {"host": "127.0.0.1:8421"}, (421, "host")),
    (LOCAL, "GET", "/v1/classes", {"host": "rebound.example.org:8420"}, (421, "host")),
    (LOCAL, "GET", "/healthz", {"host": "rebound.example.org:8420"}, (421, "host")),
    (LOCAL, "GET", "/v1/classes", {"host": "localhost:8420@evil.example"}, (421, "host")),
    (LOCAL, "POST", "/v1/score", {"host": HOST, "origin": f"http://{HOST}"}, None),
    (LOCAL, "POST", "/v1/score", {"host": HOST}, None),
    (LOCAL, "POST", "/v1/score", {"host": HOST, "origin": "null"}, (403, "origin")),
    (LOCAL, "POST", "/v1/score", {"host": HOST, "origin": "http://evil.example"}, (403, "origin")),
    (LOCAL, "POST", "/v1/score", {"host": HOST, "origin": f"https://{HOST}"}, (403, "origin")),
    (LOCAL, "POST", "/v1/score", {"host": HOST, "origin": "http://localhost:8420"}, (403, "origin")),
    (LOCAL, "GET", "/", {"host": HOST, "sec-fetch-site": "none"}, None),
    (LOCAL, "GET", "/", {"host": HOST, "sec-fetch-site": "same-origin"}, None),
    (LOCAL, "GET", "/", {"host": HOST, "sec-fetch-site": "cross-site"}, (403, "site")),
    (LOCAL, "GET", "/v1/thumbnails", {"host": HOST, "sec-fetch-site": "same-site"}, (403, "site")),
    (TOKENED, "GET", "/healthz", {"host": HOST}, None),
    (TOKENED, "GET", "/readyz", {"host": HOST}, None),
    (TOKENED, "GET", "/", {"host": HOST}, None),
    (TOKENED, "GET", "/page/studio.css", {"host": HOST}, None),
    (TOKENED, "GET", "/metrics", {"host": HOST}, (401, "token")),
    (TOKENED, "GET", "/v1/openapi.json", {"host": HOST}, (401, "token")),
    (TOKENED, "GET", "/v1/classes", {"host": HOST}, (401, "token")),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, **BEARER}, None),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, "authorization": f"bearer {TOKEN}"}, None),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, "authorization": f"Bearer {TOKEN}x"}, (401, "token")),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, "authorization": f"Basic {TOKEN}"}, (401, "token")),
    (TOKENED, "GET", f"/v1/classes?token={TOKEN}", {"host": HOST}, (401, "token")),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, **COOKIE}, None),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, "cookie": f"{TOKENED.cookie}={TOKEN}"}, (401, "token")),
    (TOKENED, "GET", "/v1/classes", {"host": HOST, "cookie": f"{TOKENED.cookie}="}, (401, "token")),
    (TOKENED, "POST", "/v1/exemplars", {"host": HOST, **COOKIE}, (403, "origin")),
    (TOKENED, "POST", "/v1/exemplars", {"host": HOST, **COOKIE, "origin": f"http://{HOST}"}, None),
    (TOKENED, "POST", "/v1/exemplars", {"host": HOST, **BEARER}, None),
    (LOCAL, "GET", "/v1/classes", {"host": HOST, "cookie": f"{LOCAL.cookie}="}, None),
    (PROXIED, "GET", "/v1/classes", {"host": "studio.example.org", **BEARER}, None),
    (PROXIED, "GET", "/v1/classes", {"host": "example.org", **BEARER}, (421, "host")),
    (PROXIED, "POST", "/v1/score", {"host": HOST, **BEARER, "origin": "https://studio.example.org"}, None),
    (PROXIED, "POST", "/v1/score", {"host": HOST, **BEARER, "origin": f"http://{HOST}"}, (403, "origin")),
    (EVERYWHERE, "GET", "/v1/classes", {"host": "192.168.1.7:8420", **BEARER}, None),
    (EVERYWHERE, "GET", "/v1/classes", {"host": "192.168.1.7:99", **BEARER}, (421, "host")),
    (EVERYWHERE, "GET", "/v1/classes", {"host": "rebound.example.org:8420", **BEARER}, (421, "host")),
    (READ_ONLY, "POST", "/v1/score", {"host": HOST}, None),
    (READ_ONLY, "POST", "/v1/explain", {"host": HOST}, None),
    (READ_ONLY, "POST", "/v1/exemplars", {"host": HOST}, (403, "read-only")),
    (READ_ONLY, "POST", "/v1/exemplars/undo", {"host": HOST}, (403, "read-only")),
    (READ_ONLY, "DELETE", "/v1/classes", {"host": HOST}, (403, "read-only")),
    (READ_ONLY, "PATCH", "/v1/classes", {"host": HOST}, (403, "read-only")),
    (READ_ONLY, "PUT", "/v1/classes", {"host": HOST}, (403, "read-only")),
]


@pytest.mark.parametrize(("settings", "method", "path", "headers", "refused"), CASES)
def test_the_rules(
    settings: Config, method: str, path: str, headers: dict[str, str], refused: tuple[int, str] | None
) -> None:
    rules, given = Rules(settings), Headers(headers)
    if refused is None:
        rules.check(method, path, given)
        return
    with pytest.raises(Refused) as found:
        rules.check(method, path, given)
    assert (found.value.status_code, found.value.reason) == refused


def test_two_origins_are_refused() -> None:
    raw = [(b"host", HOST.encode()), (b"origin", f"http://{HOST}".encode()), (b"origin", b"http://evil.example")]
    with pytest.raises(Refused):
        Rules(LOCAL).check("POST", "/v1/score", Headers(raw=raw))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"host": "0.0.0.0"}, "a token is needed"),
        ({"host": "192.168.1.7"}, "a token is needed"),
        ({"host": "studio.example.org"}, "a token is needed"),
        ({"host": "::"}, "a token is needed"),
        ({"token": "short"}, "at least 16"),
        ({"public_url": "studio.example.org"}, "must be an address"),
        ({"public_url": "https://studio.example.org/corel"}, "without a path"),
    ],
)
def test_an_unsafe_server_does_not_start(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        config(**settings)


def test_the_token_is_not_in_what_a_configuration_prints() -> None:
    assert TOKEN not in repr(TOKENED)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://studio.example.org/", "https://studio.example.org"),
        ("https://Studio.example.org:443", "https://studio.example.org"),
        ("http://[fd00::1]:8080", "http://[fd00::1]:8080"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_browsers_log_in_with_the_token(gallery: Path, start: Callable[..., Server]) -> None:
    server = start(gallery, token=TOKEN)
    stranger = Server(server.port, server.pid, server.log)
    origin = {"Origin": server.url}
    assert b"Log in" in stranger.get("/").body
    assert stranger.get("/v1/classes").status == 401
    wrong = stranger.ask("POST", "/login", b"token=something-else-entirely", origin)
    assert (wrong.status, "set-cookie" in wrong.headers) == (401, False)
    right = stranger.ask("POST", "/login", f"token={TOKEN}".encode(), origin)
    cookie = right.headers["set-cookie"]
    assert right.status == 303
    assert cookie.startswith(f"corel_session_{server.port}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    inside = {"Cookie": cookie.split(";")[0]}
    assert b"Log in" not in stranger.get("/", inside).body
    assert stranger.get("/v1/classes", inside).status == 200
    body, kind = form([picture("red", 1)])
    posted = {**inside, "Content-Type": kind}
    assert stranger.ask("POST", "/v1/score", body, posted).status == 403
    assert stranger.ask("POST", "/v1/score", body, {**posted, **origin}).status == 200
    foreign = stranger.ask("POST", "/login", f"token={TOKEN}".encode(), {"Origin": "http://evil.example"})
    assert foreign.status == 403
    out = stranger.ask("POST", "/logout", headers={**inside, **origin})
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert TOKEN not in server.log.read_text()


def test_every_answer_has_the_safe_headers(server: Server) -> None:
    for path in ("/", "/page/studio.css", "/v1/classes", "/nowhere", "/v1/thumbnails?name=x", "/metrics"):
        headers = {name.lower(): value for name, value in server.get(path).headers.items()}
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers
