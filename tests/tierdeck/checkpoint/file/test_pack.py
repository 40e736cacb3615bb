"""What goes into a file when there is not room for all, and what stays one object across a checkpoint's parts."""

from __future__ import annotations

import random
import sys
import threading
from dataclasses import replace
from types import MappingProxyType

import pytest

from tests.tierdeck.checkpoint.sample import TIGHT, opened, sample
from tierdeck.checkpoint import Checkpoint, Operation, Packed, Unread, load_checkpoint, pack_checkpoint, seal
from tierdeck.checkpoint.file.table import PARTS
from tierdeck.checkpoint.kinds.loss import MAX_ALL_LOSSES
from tierdeck.checkpoint.limits import MB


def loaded(packed: Packed) -> Checkpoint:
    return load_checkpoint(opened(b"".join(seal(packed).pieces)))


@pytest.mark.spec("SPEC-09.21")
def test_a_variable_that_is_the_list_of_messages_still_is_it() -> None:
    messages = [{"role": "user", "content": "x"}]
    found = loaded(
        pack_checkpoint(sample(messages=messages, repl_state={"history": messages, "last": messages[-1]}))
    )
    assert found.repl_state["history"] is found.messages
    assert found.repl_state["last"] is found.messages[0]


def test_a_part_that_is_too_large_is_listed_and_leaves_an_empty_one() -> None:
    limits = replace(TIGHT, section_bytes=5_000)
    packed = pack_checkpoint(sample(messages=["x" * 900] * 20, repl_state={"a": 1}, losses=()), limits=limits)
    assert [(loss.path, loss.kind) for loss in packed.losses] == [("messages", "lost")]
    found = loaded(packed)
    assert found.messages == []
    assert found.repl_state == {"a": 1}
    assert found.working_memory == sample().working_memory


def test_what_is_pending_finds_room_before_the_variables() -> None:
    operation = Operation("op", "tool", "running", request="r" * 40_000)
    state = {f"v{number}": bytes(30_000) for number in range(5)}
    limits = replace(TIGHT, raw_bytes=100_000)
    packed = pack_checkpoint(sample(pending_operations=(operation,), repl_state=state, losses=()), limits=limits)
    assert [loss.path for loss in packed.losses] == ["v1", "v2", "v3", "v4"]
    assert loaded(packed).pending_operations == (operation,)


def test_memory_for_all_variables_together_is_counted_as_it_is_on_reading() -> None:
    state: dict[str, list[list[int]]] = {f"v{number}": [[] for _ in range(20_000)] for number in range(6)}
    limits = replace(TIGHT, memory_bytes=16 * MB)
    packed = pack_checkpoint(sample(repl_state=state, losses=()), limits=limits)
    assert 0 < len(packed.losses) < 6
    assert len(loaded(packed).repl_state) == 6 - len(packed.losses)


def test_a_memory_that_is_no_dict_is_saved_as_one() -> None:
    found = loaded(pack_checkpoint(sample(working_memory=MappingProxyType({"a": 1}), messages=("m",))))
    assert found.working_memory == {"a": 1}
    assert found.messages == ["m"]


def test_the_list_of_losses_has_an_end_and_the_count_has_none() -> None:
    state = {f"v{number}": object() for number in range(MAX_ALL_LOSSES + 5)}
    packed = pack_checkpoint(sample(repl_state=state))
    assert len(packed.losses) == MAX_ALL_LOSSES
    assert packed.summary.lost == MAX_ALL_LOSSES + 6


def test_more_variables_than_a_table_may_hold_are_losses_and_the_others_are_read_again() -> None:
    limits = replace(TIGHT, units=50)
    packed = pack_checkpoint(sample(repl_state={f"v{n}": n for n in range(60)}, losses=()), limits=limits)
    found = load_checkpoint(opened(b"".join(seal(packed).pieces), limits))
    kept = len(found.repl_state)
    assert 50 - 2 * len(PARTS) <= kept <= 50 - len(PARTS)
    assert [loss.variable for loss in found.losses] == [f"v{n}" for n in range(kept, 60)]


def test_what_was_not_understood_counts_too() -> None:
    limits = replace(TIGHT, units=50)
    unread = tuple(Unread("part", f"new{number}", b"\x00" * 900, 0, 7) for number in range(20))
    state = {f"v{n}": n for n in range(60)}
    packed = pack_checkpoint(sample(repl_state=state, unread=unread, losses=()), limits=limits)
    found = load_checkpoint(opened(b"".join(seal(packed).pieces), limits))
    assert len(found.unread) == 20
    assert 30 - 2 * len(PARTS) <= len(found.repl_state) <= 30 - len(PARTS)


def test_a_file_that_does_not_get_smaller_is_no_longer_than_is_read_again() -> None:
    limits = replace(TIGHT, file_bytes=MB, raw_bytes=MB)
    noise = random.Random(5)
    state = {f"v{number}": noise.randbytes(20_000) for number in range(70)}
    packed = pack_checkpoint(sample(repl_state=state, losses=()), limits=limits)
    data = b"".join(seal(packed).pieces)
    found = load_checkpoint(opened(data, limits))
    assert len(found.repl_state) + len(found.losses) == 70
    assert len(data) > 0.9 * MB


def test_a_dict_that_another_thread_changes_is_saved_or_lost_and_takes_no_other_with_it() -> None:
    state: dict[str, object] = {"busy": {n: n for n in range(300)}, "ok": 1}
    busy = state["busy"]
    assert isinstance(busy, dict)
    is_over = threading.Event()

    def change() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            busy[number + 300] = number
            busy.pop(number, None)

    before = sys.getswitchinterval()
    thread = threading.Thread(target=change)
    thread.start()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(300):
            packed = pack_checkpoint(sample(repl_state=state, losses=()))
            names = {unit.facts.name for unit in packed.units} | {loss.variable for loss in packed.losses}
            assert {"ok", "busy"} <= names
    finally:
        sys.setswitchinterval(before)
        is_over.set()
        thread.join()


def test_names_too_long_for_the_table_cost_their_own_variables_and_no_checkpoint() -> None:
    limits = replace(TIGHT, table_bytes=40_000)
    state = {f"{number:03}{'n' * 900}": number for number in range(100)}
    packed = pack_checkpoint(sample(repl_state=state, losses=()), limits=limits)
    found = load_checkpoint(opened(b"".join(seal(packed).pieces), limits))
    assert 10 <= len(found.repl_state) < 20
    assert len(found.repl_state) + len(packed.losses) == 100
    assert found.messages == sample().messages
