"""One JSON checkpoint of the family, as its program writes it, and everything else that may lie under its name."""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tierdeck.checkpoint import CheckpointFile, InMemory, load_checkpoint, pack_checkpoint, seal
from tierdeck.checkpoint.family import DEGRADED, read_family_checkpoint
from tierdeck.checkpoint.family.family_file import MAX_FAMILY_BYTES
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError, NewerCheckpointError


def family_json(**changes: Any) -> bytes:
    """A file as its program writes it: every field, `default=str`, an indent of two; `changes` replace fields."""
    fields = {
        "session_id": "sess-1",
        "depth": 1,
        "turn": 5,
        "messages": [{"role": "user", "content": "hello"}],
        "repl_state": {"x": 1},
        "trajectory_events": [{"type": "query"}],
        "working_memory": {"facts": ["a"]},
        "pending_operations": [],
        "cost_so_far": 0.25,
        "timestamp": 1_700_000_000.5,
        "version": "1.1",
        "metadata": {},
    } | changes
    kept = {name: value for name, value in fields.items() if value is not ...}
    return json.dumps(kept, indent=2, default=str).encode()


def iter_nothing() -> Iterator[int]:
    """A generator."""
    yield from ()


def read(data: bytes) -> Any:
    return read_family_checkpoint(data, "sess-1_1700000000.json", changed_at_ns=77).checkpoint


@pytest.mark.spec("SPEC-09.26")
def test_a_file_of_version_1_1_comes_with_all_its_fields_and_is_marked_as_degraded() -> None:
    made = read(family_json())
    assert (made.session_id, made.depth, made.turn) == ("sess-1", 1, 5)
    assert (made.repl_state, made.working_memory) == ({"x": 1}, {"facts": ["a"]})
    assert (made.messages, made.trajectory_events) == ([{"role": "user", "content": "hello"}], [{"type": "query"}])
    assert (made.cost_so_far, made.created_at_ns) == (0.25, 1_700_000_000_500_000_000)
    assert DEGRADED in made.writer
    assert made.losses == ()


@pytest.mark.spec("SPEC-09.26")
def test_a_file_of_version_1_0_may_lack_what_came_later() -> None:
    later = ("working_memory", "pending_operations", "cost_so_far", "timestamp", "version", "metadata")
    read_back = read_family_checkpoint(family_json(**dict.fromkeys(later, ...)), "old.json", changed_at_ns=77)
    assert read_back.version == "1.0"
    made = read_back.checkpoint
    assert (made.working_memory, made.pending_operations, made.cost_so_far) == ({}, (), None)
    assert made.created_at_ns == 77


def test_what_was_read_can_be_saved_and_loaded_again() -> None:
    made = read(family_json(repl_state={"x": [1, {"a": None}], "lock": threading.Lock()}))
    data = b"".join(seal(pack_checkpoint(made)).pieces)
    loaded = load_checkpoint(CheckpointFile(InMemory(data), "x"))
    assert loaded.repl_state["x"] == [1, {"a": None}]
    assert loaded.writer == made.writer
    assert [loss.variable for loss in loaded.losses] == ["lock"]


@pytest.mark.parametrize(
    "thing",
    [threading.Lock(), object(), json, dict, json.dumps, print, sys.stdout, iter_nothing()],
    ids=["lock", "object", "module", "class", "function", "builtin", "file", "generator"],
)
def test_text_that_was_a_thing_is_listed_with_its_path(thing: object) -> None:
    made = read(family_json(repl_state={"state": {"deep": [1, thing]}, "plain": "a < b and c > d"}))
    [loss] = made.losses
    assert (loss.variable, loss.path, loss.kind) == ("state", "state['deep'][1]", "inert")
    assert made.repl_state["state"]["deep"][1] == str(thing)


def test_fields_that_have_no_place_are_listed_and_not_dropped_in_silence() -> None:
    made = read(family_json(metadata={"source": "test"}, mood="good"))
    assert {(loss.variable, loss.kind) for loss in made.losses} == {("metadata", "lost"), ("mood", "lost")}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("pending", "pending"),
        ("started", "running"),
        ("completed", "done"),
        ("failed", "failed"),
        ("what?", "running"),
        (None, "running"),
        (7, "running"),
    ],
)
@pytest.mark.case("C14")
def test_an_operation_whose_outcome_is_not_told_counts_as_running(status: object, state: str) -> None:
    given = {"op_id": "op1", "query": "analyse", "status": status}
    [operation] = read(family_json(pending_operations=[given])).pending_operations
    assert (operation.op_id, operation.state, operation.has_side_effects) == ("op1", state, True)
    assert operation.request == given


def test_operations_of_any_form_come_each_with_an_id_of_its_own() -> None:
    made = read(family_json(pending_operations=[{"op": "remaining"}, "text", None, {"op_id": 5}]))
    assert [each.op_id for each in made.pending_operations] == [f"imported-{number}" for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("cost", [0.0, 0, -1, "much", None, True, float("nan"), float("inf"), 10**400])
def test_a_cost_that_was_never_told_is_unknown_and_not_nothing(cost: object) -> None:
    assert read(family_json(cost_so_far=cost)).cost_so_far is None


@pytest.mark.parametrize("timestamp", [None, "2024", float("nan"), float("inf"), 1e300, -1e300, True])
def test_a_time_that_is_none_is_the_files_own(timestamp: object) -> None:
    assert read(family_json(timestamp=timestamp)).created_at_ns == 77


def test_the_same_bytes_are_the_same_checkpoint_and_others_are_not() -> None:
    ids = [read(data).checkpoint_id for data in (family_json(), family_json(), family_json(turn=6))]
    assert ids[0] == ids[1] != ids[2]


def test_all_of_a_session_come_to_one_branch_and_another_session_to_another() -> None:
    one, same, other = (read(family_json(**each)).branch for each in ({}, {"turn": 9}, {"session_id": "b"}))
    assert one == same != other


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.case("C12")
@pytest.mark.parametrize("version", ["99", 99, "9.0", 2, "2.0"])
def test_a_newer_version_is_named_as_one(version: object) -> None:
    with pytest.raises(NewerCheckpointError, match=r"newer version \(\d+\.0\); this one reads up to 1\.x"):
        read(family_json(version=version))


@pytest.mark.case("C12")
@pytest.mark.parametrize("version", [None, "abc", "", [], {}, True, "1.1.1", "-1", "0.9", 10**30])
def test_what_is_no_version_is_damaged(version: object) -> None:
    with pytest.raises(DamagedCheckpointError):
        read(family_json(version=version))


def test_a_newer_minor_version_is_read() -> None:
    assert read(family_json(version="1.2", novelty=1)).turn == 5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        family_json()[:-40],
        family_json(session_id=5),
        family_json(session_id=""),
        family_json(turn="5"),
        family_json(turn=-1),
        family_json(turn=True),
        family_json(turn=2**64),
        family_json(depth=1.5),
        family_json(messages={}),
        family_json(repl_state=[]),
        family_json(trajectory_events=...),
        family_json(working_memory=None),
        family_json(pending_operations={}),
    ],
    ids=range(22),
)
def test_anything_else_is_damaged_and_nothing_of_it_is_taken(data: bytes) -> None:
    with pytest.raises(DamagedCheckpointError, match=r"sess-1_1700000000\.json: "):
        read(data)


def test_a_file_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(CheckpointLimitError, match="67,108,864"):
        read(b" " * (MAX_FAMILY_BYTES + 1))


@pytest.mark.case("C17")
def test_a_constructor_in_the_json_stays_the_dict_it_is() -> None:
    spoof = {
        "lc": 1,
        "type": "constructor",
        "id": ["os", "system"],
        "kwargs": {"command": "true"},
        "$type": "tuple",
    }
    assert read(family_json(repl_state={"x": spoof})).repl_state["x"] == spoof


def test_moments_and_sets_are_text_now_as_json_made_them() -> None:
    made = read(family_json(repl_state={"when": dt.date(2024, 1, 2), "some": {1}}))
    assert made.repl_state == {"when": "2024-01-02", "some": "{1}"}
