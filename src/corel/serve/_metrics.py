"""What Prometheus reads: requests, durations, batches, images, rejections."""

from __future__ import annotations

import json
import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
PROBLEM = b"application/problem+json"


class Metrics:
    """One server's numbers, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        common: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter("corel_requests", "Requests", ["method", "route", "status"], **common)
        self.seconds = Histogram("corel_request_seconds", "Seconds until the answer is sent", ["route"], **common)
        self.batch_images = Histogram("corel_batch_images", "Images encoded together", buckets=BATCHES, **common)
        self.batch_requests = Histogram("corel_batch_requests", "Requests in a batch", buckets=BATCHES, **common)
        self.images = Counter("corel_images", "Images by outcome", ["outcome"], **common)
        self.rejections = Counter("corel_rejections", "Requests that were refused", ["reason"], **common)
        self.ready = Gauge("corel_ready", "Whether the encoder is loaded and the server is not stopping", **common)

    def observe_batch(self, requests: int, images: int) -> None:
        """Count a batch."""
        self.batch_requests.observe(requests)
        self.batch_images.observe(images)

    def render(self) -> bytes:
        """Give all numbers in Prometheus's text format."""
        return generate_latest(self.registry)


class Measure:
    """ASGI middleware that counts and times; the labels are routes, never addresses that a client made up."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: frozenset[str]) -> None:
        self.app, self.metrics, self.routes = app, metrics, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Time an HTTP request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen = _Seen(send)
        began = time.perf_counter()
        try:
            await self.app(scope, receive, seen.send)
        finally:
            route = scope["path"] if scope["path"] in self.routes else "other"
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "PATCH", "DELETE") else "other"
            self.metrics.requests.labels(method, route, seen.status).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - began)
            if seen.reason:
                self.metrics.rejections.labels(seen.reason).inc()


class _Seen:
    """Notes the status, and a problem document's reason, of an answer on its way."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status, self.reason, self._is_problem = 0, "", False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._is_problem = (b"content-type", PROBLEM) in message["headers"]
        elif self._is_problem and message.get("body"):
            self.reason = json.loads(message["body"]).get("reason", "")
        await self._send(message)
