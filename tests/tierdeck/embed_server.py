"""A real HTTP server on loopback that speaks `POST /v1/embeddings`, and fails as it is told to.

It answers in base64 when that is asked for, as the openai package does, so NaN and infinities can be sent too.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

Item = dict[str, object]


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that is no vector. `status` 0 closes the connection without a word."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "as the test wants it"
    code: str | None = None
    raw_body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came in."""

    inputs: tuple[str, ...]
    model: str
    dimensions: int | None
    encoding_format: str | None
    authorization: str | None


def letters_vector(text: str, dimensions: int) -> list[float]:
    """A vector that depends on nothing but the text, never zero, unlike those of other texts."""
    seed = blake2b(text.encode(), digest_size=64).digest() * (dimensions // 16 + 1)
    return [int.from_bytes(seed[4 * i : 4 * i + 2], "little") / 65_536 - 0.4 for i in range(dimensions)]


class EmbedServer:
    """Start it with `with`. Everything public may be changed while it runs.

    `script` holds faults for the next requests, first in, first out. `fault_for` gives the fault of a request that
    holds that text, `max_inputs` refuses larger requests with 400, `vector_of` chooses vectors, `reshape` changes
    the answer's items, `delay_s` is waited before each answer, `on_request` is called with each request's texts.
    """

    def __init__(self, dimensions: int = 8) -> None:
        self.calls: list[Call] = []
        self.script: deque[Fault] = deque()
        self.fault_for: Callable[[str], Fault | None] = lambda text: None
        self.max_inputs: int | None = None
        self.vector_of: Callable[[str], Sequence[float]] = lambda text: letters_vector(text, dimensions)
        self.reshape: Callable[[list[Item]], list[Item]] = lambda items: items
        self.delay_s = 0.0
        self.on_request: Callable[[Sequence[str]], None] = lambda texts: None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address for `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def inputs(self) -> list[str]:
        """Every text that came in, in order."""
        return [text for call in self.calls for text in call.inputs]

    def __enter__(self) -> EmbedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, object], authorization: str | None) -> Fault | dict[str, object]:
        """What to say to one request."""
        asked = body["input"]
        texts = (
            [asked] if isinstance(asked, str) else [str(text) for text in asked] if isinstance(asked, list) else []
        )
        dimensions, encoding = body.get("dimensions"), body.get("encoding_format")
        call = Call(
            inputs=tuple(texts),
            model=str(body.get("model")),
            dimensions=dimensions if isinstance(dimensions, int) else None,
            encoding_format=encoding if isinstance(encoding, str) else None,
            authorization=authorization,
        )
        with self._lock:
            self.calls.append(call)
            scripted = self.script.popleft() if self.script else None
        self.on_request(texts)
        if self.delay_s:
            time.sleep(self.delay_s)
        if scripted is not None:
            return scripted
        if self.max_inputs is not None and len(texts) > self.max_inputs:
            return Fault(400, message=f"at most {self.max_inputs} inputs")
        for text in texts:
            fault = self.fault_for(text)
            if fault is not None:
                return fault
        items: list[Item] = [
            {"object": "embedding", "index": at, "embedding": _encoded(self.vector_of(text), encoding)}
            for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "model": call.model, "data": self.reshape(items), "usage": usage}


def dead_url() -> str:
    """An address on loopback where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def _encoded(vector: Sequence[float], encoding: object) -> object:
    if encoding != "base64":
        return list(vector)
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _handler_for(owner: EmbedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's acknowledgement

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.path != "/v1/embeddings":
                self._send(404, {}, b'{"error": {"message": "no such path"}}')
                return
            answer = owner.answer(json.loads(raw), self.headers.get("Authorization"))
            if not isinstance(answer, Fault):
                self._send(200, {}, json.dumps(answer).encode())
            elif answer.status == 0:
                self.close_connection = True
            else:
                error = {"error": {"message": answer.message, "type": "test", "code": answer.code}}
                body = json.dumps(error).encode() if answer.raw_body is None else answer.raw_body
                self._send(answer.status, answer.headers, body)

        def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: stderr belongs to the test run."""

    return Handler
