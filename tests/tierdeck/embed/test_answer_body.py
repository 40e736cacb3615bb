"""An answer is read no further than an honest one goes, and what is no vector in it is an error of ours."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tierdeck.embed.answer_body import longest_answer_bytes, read_body, vectors_of
from tierdeck.embed.remote import RemoteEmbedder
from tierdeck.errors import ProviderError

PATIENCE_S = 3.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"


@contextmanager
def server_that_sends(pieces: Iterator[bytes]) -> Iterator[str]:
    """A raw server on loopback: takes one request, then sends the pieces until they end or nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            listener.settimeout(PATIENCE_S)
            conn, _ = listener.accept()
            with conn:
                conn.recv(100_000)
                try:
                    for piece in pieces:
                        conn.sendall(piece)
                    conn.shutdown(socket.SHUT_WR)
                    conn.settimeout(PATIENCE_S)  # a client may keep the connection for its next request
                    while conn.recv(100_000):  # closing with something unread would reset the connection
                        continue
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join()


def drip() -> Iterator[bytes]:
    yield HEAD
    for _ in range(10_000):  # each piece comes well within the timeout, all of them would take minutes
        time.sleep(0.02)
        yield b" "


@pytest.mark.case("E12")
@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (drip(), "was not whole after 0.3 s"),
        (iter([HEAD, b"[" * 1_000_000]), "longer than"),
        (iter([HEAD.replace(b"1000000", b"90000"), b"[" * 90_000]), "nested too deeply"),
        (iter([HEAD, b'{"data": [']), "no answer"),
        (iter([HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), b"x" * 50]), "no answer"),
    ],
    ids=["dripping", "endless", "deep", "cut short", "no gzip"],
)
def test_a_body_that_no_honest_server_sends_is_given_up(pieces: Iterator[bytes], said: str) -> None:
    with server_that_sends(pieces) as url:
        embedder = RemoteEmbedder("m", 8, api_key="key", base_url=url, timeout_s=0.3)
        with pytest.raises(ProviderError, match=said) as caught:
            embedder.embed(["a"])
    assert caught.value.is_retryable


def test_a_body_is_read_up_to_the_limit_and_in_time() -> None:
    later = time.monotonic() + 60
    assert read_body([b"ab", b"c"], limit_bytes=3, until_s=later) == b"abc"
    with pytest.raises(ValueError, match="longer than 2 bytes"):
        read_body([b"ab", b"c"], limit_bytes=2, until_s=later)
    with pytest.raises(TimeoutError):
        read_body([b"ab"], limit_bytes=3, until_s=time.monotonic() - 1)


def test_the_longest_honest_answer_is_within_the_limit() -> None:
    number = "-0.0123456789012345678, "
    vector = f'{{"object": "embedding", "index": 2047, "embedding": [{number * 8_192}0]}}, '
    assert len(vector) * 2_048 < longest_answer_bytes(2_048, 8_192)


def test_vectors_come_as_numbers_or_in_base64() -> None:
    body = b'{"data": [{"index": 1, "embedding": [1, 2.5]}, {"index": 0, "embedding": "AACAPwAAAEA="}]}'
    [(one, numbers), (zero, coded)] = vectors_of(body)
    assert (one, zero) == (1, 0)
    assert (numbers.tolist(), coded.tolist()) == ([1.0, 2.5], [1.0, 2.0])
    assert numbers.dtype == coded.dtype == np.float32


@pytest.mark.parametrize(
    "embedding",
    ["null", "{}", "[]", '""', '"!!!!"', '"AAA="', '["a"]', "[[1]]", '[{"a": 1}]', "5", "true"],
)
def test_what_is_no_vector_is_refused(embedding: str) -> None:
    with pytest.raises(ValueError, match=r"vector|convert|buffer|NoneType|float"):
        vectors_of(f'{{"data": [{{"index": 0, "embedding": {embedding}}}]}}'.encode())


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'"x"', b"{}", b'{"data": {}}', b'{"data": "\xff"}', b"<html>"]
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"list of vectors|Expecting value|codec"):
        vectors_of(body)


def test_a_number_that_float32_can_not_hold_becomes_infinite_without_a_warning() -> None:
    [(_, vector)] = vectors_of(b'{"data": [{"index": 0, "embedding": [1e308, -1e308]}]}')
    assert np.isinf(vector).all()
