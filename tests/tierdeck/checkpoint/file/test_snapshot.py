"""What is taken of a checkpoint while the agent waits: nothing in it is the agent's, whatever it does next."""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from tests.tierdeck.checkpoint.every_value import VALUES, decode, same
from tests.tierdeck.checkpoint.sample import TIGHT, opened, sample, variables
from tierdeck.checkpoint import Checkpoint, Record, load_checkpoint, pack, seal, take_snapshot
from tierdeck.checkpoint.kinds.pieces import Long
from tierdeck.checkpoint.values.encode import encode
from tierdeck.checkpoint.values.nodes import Nodes, Source, nodes_of

_UNCHANGING = {int, float, bool, str, bytes, type(None)}


def held_by(nodes: Nodes) -> tuple[list[object], set[int]]:
    """All that stands in the nodes and is no list, and the ids of the lists."""
    pools = [*nodes.shared, *(unit.own for unit in nodes.units if unit.own is not None)]
    todo = [unit.node for unit in nodes.units]
    todo += [part for pool in pools for part in (*pool.heads, *pool.bodies)]
    parts: list[object] = []
    lists: set[int] = set()
    while todo:
        item = todo.pop()
        if type(item) is list:
            lists.add(id(item))
            todo += item
        else:
            parts.append(item.value if type(item) is Long else item)
    return parts, lists


@given(VALUES)
def test_nodes_hold_lists_of_their_own_and_what_nobody_can_change(value: object) -> None:
    parts, lists = held_by(nodes_of([Source("x", value)]))
    assert set(map(type, parts)) <= _UNCHANGING
    assert not lists & set(map(id, _inside(value)))


def test_of_every_type_the_nodes_hold_what_nobody_can_change() -> None:
    nodes = nodes_of([Source(name, value) for name, value in variables().items()])
    assert not any(unit.is_lost for unit in nodes.units)
    assert set(map(type, held_by(nodes)[0])) <= _UNCHANGING


@given(VALUES)
def test_what_is_packed_later_is_what_it_was(value: object) -> None:
    going_on = copy.deepcopy(value)
    nodes = nodes_of([Source("x", going_on)])
    _change_all(going_on)
    assert same(decode(encode(nodes))["x"], value)


@pytest.mark.spec("SPEC-09.21")
def test_an_agent_that_goes_on_at_once_changes_nothing_of_what_is_saved() -> None:
    going_on = sample(repl_state=variables(), losses=())
    wanted = load_checkpoint(opened(_bytes_of(sample(repl_state=variables(), losses=()))))
    snapshot = take_snapshot(going_on, limits=TIGHT)
    for part in (going_on.repl_state, going_on.working_memory, going_on.messages, going_on.trajectory_events):
        _change_all(part)
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(b"".join(seal(pack(snapshot)).pieces)))
    thread.start()
    thread.join()
    back = load_checkpoint(opened(found[0]))
    assert same(_values(back), _values(wanted))


def test_a_snapshot_packed_twice_gives_the_same_bytes() -> None:
    snapshot = take_snapshot(sample(), limits=TIGHT)
    assert seal(pack(snapshot)).pieces == seal(pack(snapshot)).pieces


def _bytes_of(checkpoint: Checkpoint) -> bytes:
    return b"".join(seal(pack(take_snapshot(checkpoint, limits=TIGHT))).pieces)


def _values(checkpoint: Checkpoint) -> dict[str, object]:
    return {
        "state": checkpoint.repl_state,
        "memory": checkpoint.working_memory,
        "messages": checkpoint.messages,
        "events": checkpoint.trajectory_events,
    }


def _inside(value: object) -> Sequence[object]:
    """The value and everything in it that an agent could change."""
    found: dict[int, object] = {}
    todo = [value]
    while todo:
        item = todo.pop()
        if id(item) in found:
            continue
        if isinstance(item, dict):
            todo += [*item, *item.values()]
        elif isinstance(item, list | tuple | set | frozenset | deque):
            todo += item
        elif isinstance(item, Record):
            todo.append(item.fields)
        found[id(item)] = item
    return list(found.values())


def _change_all(value: object) -> None:
    """Change everything in it in place."""
    for item in _inside(value):
        if isinstance(item, list | deque | bytearray | dict | set):
            item.clear()
        elif isinstance(item, np.ndarray) and item.size and item.flags.writeable:
            blank = f"V{item.itemsize}"
            item.view(blank)[...] = np.zeros((), blank)
