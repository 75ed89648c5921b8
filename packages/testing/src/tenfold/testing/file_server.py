"""A file server on this machine that can resume, refuse, redirect and drop connections, for tests of downloads."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclasses.dataclass
class FileServer:
    """What it serves, how it behaves, and the Range header of every request."""

    url: str
    folder: Path
    ranges: list[str | None] = dataclasses.field(default_factory=list)
    resumes: bool = True
    drops: int = 0  # so many answers break off half way
    busy: int = 0  # so many answers are 503
    chunked: bool = False  # answers come in chunks, without a length
    tag: str | None = None  # the ETag of what is served; a Range with another If-Range is answered with the whole file
    lies: bool = False  # a resumed answer is another part than was asked for
    requests: list[dict[str, str]] = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[FileServer]:
    """Serve the files of a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.ranges.append(self.headers.get("Range"))
            state.requests.append(dict(self.headers))
            if state.busy > 0:
                state.busy -= 1
                self.send_error(503)
                return
            if self.path.startswith("/redirect/"):
                self.send_response(302)
                self.send_header("Location", self.path.removeprefix("/redirect"))
                self.end_headers()
                return
            path = folder / self.path.lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            self.answer(path.read_bytes())

        def answer(self, data: bytes) -> None:
            asked = self.headers.get("Range")
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.resumes else 0
            start = 0 if self.headers.get("If-Range", state.tag) != state.tag else start
            if start and start >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(data)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = data[start:]
            self.send_response(206 if start else 200)
            if start:
                first = 0 if state.lies else start
                self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
            if state.tag:
                self.send_header("ETag", state.tag)
            self.send_header(*(("Transfer-Encoding", "chunked") if state.chunked else ("Content-Length", str(len(body)))))
            self.end_headers()
            if state.chunked:
                body = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
            if state.drops > 0:
                state.drops -= 1
                body = body[: len(body) // 2]
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = FileServer(f"http://127.0.0.1:{server.server_port}/", folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def file_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server of the files in its folder, and downloads that do not wait long before they try again."""
    monkeypatch.delenv("TENFOLD_OFFLINE_FOLDER", raising=False)
    monkeypatch.setattr("tenfold.data.download.PAUSE_S", 0.01)
    with serving(tmp_path / "served") as server:
        yield server


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty offline folder, in force."""
    monkeypatch.delenv("TENFOLD_OFFLINE_FOLDER", raising=False)
    folder = tmp_path / "offline"
    folder.mkdir()
    monkeypatch.setattr("tenfold.data.download._offline_folder", folder)
    return folder
