"""A gateway on loopback that keeps every reply and sends it again for the same request, as caching gateways do."""

from __future__ import annotations

import json
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Self

_HOP_BY_HOP = frozenset({"host", "content-length", "connection", "accept-encoding", "transfer-encoding"})


class CachingProxy:
    """Stands in front of ``base_url``. Use as a context manager; ``is_on`` switches the cache.

    Attributes:
        n_passed: Requests that reached the judge.
        marks: Headers sent with a reply from the cache, as gateways that say so do.
    """

    def __init__(self, base_url: str, *, marks: dict[str, str] | None = None) -> None:
        self.is_on = True
        self.n_passed = 0
        self.marks = marks or {}
        self._upstream = base_url.removesuffix("/v1")
        self._kept: dict[bytes, tuple[int, dict[str, str], bytes]] = {}
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    @property
    def base_url(self) -> str:
        """Address for a judge's settings."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """The kept reply to a request, else the judge's own."""
        key = path.encode() + b"\n" + json.dumps(json.loads(body), sort_keys=True).encode()
        with self._lock:
            kept = self._kept.get(key) if self.is_on else None
        if kept is not None:
            return kept[0], {**kept[1], **self.marks}, kept[2]
        request = urllib.request.Request(self._upstream + path, data=body, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as found:  # loopback only
            reply = found.status, {"content-type": found.headers["content-type"]}, found.read()
        with self._lock:
            self.n_passed += 1
            self._kept[key] = reply
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                sent = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
                status, headers, text = proxy.answer(self.path, sent, body)
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
