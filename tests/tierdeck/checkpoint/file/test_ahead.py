"""Sections made ahead on another thread: what whoever asks gets, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.tierdeck.checkpoint.sample import sample
from tierdeck.checkpoint import AGENT_LIMITS, CheckpointFile, InMemory, load_checkpoint, pack_checkpoint, seal
from tierdeck.checkpoint.file.ahead import ROOM_BYTES, Ahead
from tierdeck.checkpoint.limits import MB
from tierdeck.errors import DamagedCheckpointError

_SIZE = 1 << 20


def _text(number: int) -> str:
    return "".join(f"{number} {line} of a text that compresses\n" for line in range(40_000))


def test_what_is_taken_is_what_was_made_and_is_given_once() -> None:
    begun = threading.Event()

    def make(number: int) -> bytes:
        begun.set()
        return bytes([number]) * _SIZE

    with Ahead(lambda: [(1, _SIZE)], make) as ahead:
        begun.wait(10)
        assert ahead.take(1) == b"\1" * _SIZE
        assert ahead.take(1) is None


def test_no_more_is_held_than_there_is_room_for() -> None:
    held: list[int] = []
    full = threading.Event()

    def make(number: int) -> bytes:
        held.append(number)
        if len(held) * _SIZE == ROOM_BYTES:
            full.set()
        return bytes(_SIZE)

    count = 2 * ROOM_BYTES // _SIZE
    with Ahead(lambda: [(number, _SIZE) for number in range(count)], make) as ahead:
        assert full.wait(10)
        assert len(held) == ROOM_BYTES // _SIZE
        assert ahead.take(0) is not None
    assert len(held) <= ROOM_BYTES // _SIZE + 1


def test_one_that_is_asked_for_before_it_is_begun_is_made_by_who_asks_and_not_twice() -> None:
    go_on, done = threading.Event(), threading.Event()
    made: list[int] = []

    def plan() -> Iterator[tuple[int, int]]:
        go_on.wait(10)
        yield 1, _SIZE
        yield 2, _SIZE
        done.set()

    def make(number: int) -> bytes:
        made.append(number)
        return bytes(_SIZE)

    with Ahead(plan, make) as ahead:
        assert ahead.take(1) is None
        go_on.set()
        assert done.wait(10)
        assert ahead.take(2) == bytes(_SIZE)
    assert made == [2]


def test_what_can_not_be_made_ahead_is_left_to_who_asks() -> None:
    def make(_number: int) -> bytes:
        raise DamagedCheckpointError("read checkpoint: it is damaged")

    with Ahead(lambda: [(1, _SIZE)], make) as ahead:
        assert ahead.take(1) is None


@pytest.mark.spec("SPEC-09.23")
def test_a_large_checkpoint_loads_as_it_was_and_a_changed_byte_anywhere_is_damage() -> None:
    state: dict[str, object] = {f"text{number}": _text(number) for number in range(3)}
    shared = [_text(9), "x"]
    saved = sample(repl_state=state | {"a": shared, "b": shared})
    data = b"".join(seal(pack_checkpoint(saved)).pieces)
    found = load_checkpoint(CheckpointFile(InMemory(data), "large", limits=AGENT_LIMITS))
    assert found.repl_state == saved.repl_state
    assert found.repl_state["a"] is found.repl_state["b"]
    assert CheckpointFile(InMemory(data), "large").head.summary.raw_bytes > MB
    for at in range(100, len(data), len(data) // 40):
        changed = bytearray(data)
        changed[at] ^= 4
        with pytest.raises(DamagedCheckpointError):
            load_checkpoint(CheckpointFile(InMemory(bytes(changed)), "large", limits=AGENT_LIMITS))
