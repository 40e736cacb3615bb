"""A real HTTP server on loopback that speaks `POST /v1/chat/completions`, answers by a script, and counts.

What it says depends on the conversation alone: a run that was restored wrongly gets other answers.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chat:
    """One request. `turn` is the root model's turn, None for a call without a system message: from a cell."""

    messages: tuple[Message, ...]

    @property
    def turn(self) -> int | None:
        """Of the run, from 1."""
        if self.messages[0]["role"] != "system":
            return None
        turns = [
            found for m in self.messages if (found := re.search(r"^Turn (\d+)/\d+:", m["content"], re.MULTILINE))
        ]
        return int(turns[-1][1])

    @property
    def last(self) -> str:
        """The text of its last message."""
        return self.messages[-1]["content"]

    @property
    def text(self) -> str:
        """The whole conversation."""
        return "\n".join(message["content"] for message in self.messages)

    @property
    def name(self) -> str:
        """`turn 5`, or the prompt of a call from a cell."""
        return self.last if self.turn is None else f"turn {self.turn}"


class ChatServer:
    """Start it with `with`. `before_answer` is called with each request; a ConnectionAbortedError closes the
    connection."""

    def __init__(self, script: Callable[[Chat], str]) -> None:
        self.script = script
        self.chats: list[Chat] = []
        self.before_answer: Callable[[Chat], None] = lambda chat: None
        self.cost: float | None = 0.01
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address for `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def paid(self) -> Counter[str]:
        """How often each call was made."""
        with self._lock:
            return Counter(chat.name for chat in self.chats)

    def take(self, chat: Chat) -> str:
        """Count a request, and answer it."""
        with self._lock:
            self.chats.append(chat)
        self.before_answer(chat)
        return self.script(chat)

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_for(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                text = server.take(Chat(tuple(body["messages"])))
            except ConnectionAbortedError:
                self.close_connection = True
                return
            self._send(_completion(body["model"], text, body["messages"], server.cost))

        def _send(self, answer: Mapping[str, object]) -> None:
            raw = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _completion(model: str, text: str, messages: Sequence[Message], cost: float | None) -> dict[str, object]:
    usage: dict[str, object] = {"prompt_tokens": 10 * len(messages), "completion_tokens": 5}
    usage["total_tokens"] = 10 * len(messages) + 5
    if cost is not None:
        usage["cost"] = cost
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }
