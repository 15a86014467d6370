"""A small object store on the loopback address: what pyarrow's clients ask of Amazon's S3 and of Google's storage."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET, PAGE, WHEN = "photos", 7, "2026-01-01T00:00:00.000Z"  # small pages, so that listings have several
GOOGLE = re.compile(r"(?:/upload)?/storage/v1/b/([^/]+)(?:/o(?:/(.+))?)?")


class Store(ThreadingHTTPServer):
    """The objects of the bucket by their names, and uploads that have begun."""

    daemon_threads = True

    def __init__(self, key: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.key, self.objects, self.uploads = key, dict[str, bytes](), dict[str, dict[int, bytes]]()

    def handle_error(self, *about: Any) -> None:
        """Pass over clients that hang up."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*about)

    def page(self, asked: dict[str, str], mark: str) -> tuple[list[str], list[str], str | None]:
        """Give names, folders and the mark of the next page."""
        prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter")
        names = [each for each in sorted(self.objects) if each.startswith(prefix)]
        cut = {each: each[len(prefix) :].partition("/") for each in names}
        folders = sorted({prefix + head + "/" for head, slash, _ in cut.values() if delimiter and slash})
        here = [each for each in names if not (delimiter and cut[each][1]) and each > asked.get(mark, "")]
        return here[:PAGE], folders, here[PAGE - 1] if len(here) > PAGE else None


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    server: Store

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _handle(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        body = self._body()
        if found := GOOGLE.fullmatch(url.path):
            self._google(found[1], unquote(found[2] or ""), asked, body)
        elif f"Credential={self.server.key}/" not in self.headers.get("Authorization", ""):
            self._answer(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        else:
            bucket, _, name = unquote(url.path).lstrip("/").partition("/")
            self._amazon(bucket, name, asked, body)

    do_GET = do_HEAD = do_PUT = do_POST = _handle  # noqa: N815

    def _body(self) -> bytes:
        """Read what was sent: Amazon's client cuts it into chunks, and HTTP those into chunks again."""
        chunked = "chunked" in self.headers.get("Transfer-Encoding", "")
        body = _joined(self.rfile) if chunked else self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return _joined(io.BytesIO(body)) if self.headers.get("Content-Encoding") == "aws-chunked" else body

    def _amazon(self, bucket: str, name: str, asked: dict[str, str], body: bytes) -> None:
        objects, uploads = self.server.objects, self.server.uploads
        if bucket != BUCKET:
            self._answer(404, b"<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>")
        elif not name:
            self._answer(200, self._amazon_listing(asked))
        elif "uploads" in asked:
            uploads[name] = {}
            self._answer(200, b"<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
        elif self.command == "PUT" and "partNumber" in asked:
            uploads[name][int(asked["partNumber"])] = body
            self._answer(200, b"", ETag='"1"')
        elif self.command == "PUT":
            objects[name] = body
            self._answer(200, b"", ETag='"1"')
        elif self.command == "POST":
            parts = uploads.pop(name)
            objects[name] = b"".join(parts[number] for number in sorted(parts))
            self._answer(200, b"<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>")
        elif name in objects:
            self._content(objects[name])
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>")

    def _amazon_listing(self, asked: dict[str, str]) -> bytes:
        names, folders, following = self.server.page(asked, "continuation-token")
        objects = self.server.objects
        items = "".join(
            f"<Contents><Key>{escape(each)}</Key><LastModified>{WHEN}</LastModified><Size>{len(objects[each])}</Size>"
            "</Contents>"
            for each in names
        )
        items += "".join(f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in folders)
        more = f"<NextContinuationToken>{escape(following)}</NextContinuationToken>" if following else ""
        state = f"<IsTruncated>{str(bool(following)).lower()}</IsTruncated><KeyCount>{len(names)}</KeyCount>"
        return f"<ListBucketResult>{items}{state}{more}</ListBucketResult>".encode()

    def _google(self, bucket: str, name: str, asked: dict[str, str], body: bytes) -> None:
        objects = self.server.objects
        if bucket != BUCKET or (name and name not in objects and self.command == "GET"):
            self._json({"error": {"code": 404, "message": "no such thing"}}, 404)
        elif "upload_id" in asked:
            self._google_upload(asked["upload_id"], body)
        elif self.command == "POST":
            target = f"http://{self.headers['Host']}/upload/storage/v1/b/{bucket}/o?upload_id={quote(asked['name'])}"
            self._answer(200, b"", Location=target)
        elif asked.get("alt") == "media":
            self._content(objects[name])
        elif name:
            self._json(self._described(name))
        elif self.path.partition("?")[0].endswith("/o"):
            names, folders, following = self.server.page(asked, "pageToken")
            found = {"kind": "storage#objects", "items": [self._described(each) for each in names], "prefixes": folders}
            self._json({**found, "nextPageToken": following} if following else found)
        else:
            self._json({"kind": "storage#bucket", "name": bucket, "timeCreated": WHEN, "updated": WHEN})

    def _google_upload(self, name: str, body: bytes) -> None:
        """Take some megabytes of an object; it appears with the last ones, which tell its size."""
        parts = self.server.uploads.setdefault(name, {})
        parts[len(parts)] = body
        if self.headers["Content-Range"].endswith("/*"):
            self._answer(308, b"", Range=f"bytes=0-{sum(map(len, parts.values())) - 1}")
        else:
            self.server.objects[name] = b"".join(self.server.uploads.pop(name).values())
            self._json(self._described(name))

    def _described(self, name: str) -> dict[str, str]:
        size = str(len(self.server.objects[name]))
        times = {"timeCreated": WHEN, "updated": WHEN}
        return {"kind": "storage#object", "bucket": BUCKET, "name": name, "generation": "1", "size": size, **times}

    def _json(self, content: Any, status: int = 200) -> None:
        self._answer(status, json.dumps(content).encode())

    def _content(self, content: bytes) -> None:
        """Give an object, or the bytes of it that were asked for."""
        if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(found[1]), min(int(found[2] or len(content)), len(content) - 1)
            where = f"bytes {first}-{last}/{len(content)}"
            self._answer(206, content[first : last + 1], **{"Content-Range": where})
        else:
            self._answer(200, content)

    def _answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _joined(chunks: io.BufferedIOBase) -> bytes:
    """Read chunks, each after its size in hexadecimal digits, and the trailing headers."""
    parts = []
    while size := int(chunks.readline().partition(b";")[0], 16):
        parts.append(chunks.read(size))
        chunks.readline()
    while chunks.readline().strip():
        pass
    return b"".join(parts)


@contextmanager
def object_store(key: str) -> Iterator[str]:
    """Serve an empty bucket to those who have the key; gives the address.

    The server has a process of its own: pyarrow holds Python's lock while Google's client waits for an answer.
    """
    command = [sys.executable, "-m", __name__, key]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


if __name__ == "__main__":
    with Store(sys.argv[1]) as store:
        print(f"http://127.0.0.1:{store.server_port}", flush=True)
        store.serve_forever()
