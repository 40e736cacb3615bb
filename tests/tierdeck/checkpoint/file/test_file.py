"""A checkpoint as a file: all of it comes back, one variable is read alone, and every change is found."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import msgpack
import pytest

from tests.tierdeck.checkpoint.every_value import same
from tests.tierdeck.checkpoint.sample import TIGHT, file_bytes, forged, opened, sample, variables
from tierdeck.checkpoint import (
    CheckpointFile,
    InMemory,
    Limits,
    Loss,
    Placeholder,
    Unread,
    load_checkpoint,
    pack_checkpoint,
    read_losses,
    seal,
)
from tierdeck.checkpoint.file.header import HEAD_BYTES
from tierdeck.checkpoint.limits import MB
from tierdeck.errors import (
    CheckpointError,
    CheckpointKeyError,
    CheckpointLimitError,
    DamagedCheckpointError,
    InvalidValueError,
    NotFoundError,
)


class Counted(InMemory):
    """Bytes in memory that count what is read of them."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.read_bytes = 0

    def read(self, offset: int, length: int) -> bytes:
        found = super().read(offset, length)
        self.read_bytes += len(found)
        return found


@pytest.mark.spec("SPEC-09.21", "SPEC-09.22")
def test_all_of_a_checkpoint_comes_back() -> None:
    saved = sample()
    found = load_checkpoint(opened(file_bytes(saved)))
    assert list(found.repl_state) == list(saved.repl_state)
    assert same(list(found.repl_state.values()), list(variables().values()))
    assert found.pending_operations == saved.pending_operations
    for name in ("working_memory", "trajectory_events", "messages", "cells"):
        assert same(getattr(found, name), getattr(saved, name))
    compared: dict[str, Any] = {"repl_state": {}, "losses": (), "pending_operations": (), "working_memory": {}}
    compared |= dict.fromkeys(("trajectory_events", "messages", "cells"), ())
    assert replace(found, **compared) == replace(saved, **compared)


@pytest.mark.spec("SPEC-09.21")
def test_unknown_cost_and_tokens_are_not_nothing() -> None:
    found = load_checkpoint(opened(file_bytes(sample(cost_so_far=None, tokens=None))))
    assert (found.cost_so_far, found.tokens) == (None, None)
    assert load_checkpoint(opened(file_bytes(sample(cost_so_far=0, tokens=0)))).cost_so_far == 0.0


def test_the_summary_counts_what_is_inside() -> None:
    data = file_bytes(sample(repl_state={"x": 1, "lock": TIGHT, "f": file_bytes, "bad": object()}))
    summary = opened(data).head.summary
    assert (summary.variables, summary.messages, summary.events) == (3, 2, 2)
    assert (summary.lost, summary.inert) == (2, 2)  # `bad` and the one lost before; a record and a function
    assert summary.pending == {"done": 1, "running": 1}
    assert summary.session_id == "agent/../ses:1\ud800"


def test_losses_are_read_without_the_values_and_carried_on_by_the_next_save() -> None:
    data = file_bytes(sample(repl_state={"x": [object()]}))
    losses = read_losses(opened(data))
    assert [(loss.path, loss.kind) for loss in losses] == [("x[0]", "lost"), ("sock", "lost")]
    again = load_checkpoint(opened(file_bytes(load_checkpoint(opened(data)))))
    assert again.losses == losses


def test_a_listing_reads_four_kilobytes() -> None:
    source = Counted(file_bytes(sample(repl_state={"x": "é%d" * 100_000})))
    file = CheckpointFile(source, "x", limits=TIGHT)
    assert file.head.summary.turn == 5
    assert source.read_bytes <= HEAD_BYTES == 4096


def test_one_variable_is_read_without_the_others() -> None:
    noise = random.Random(1).randbytes(900_000)
    source = Counted(file_bytes(sample(repl_state={"big": noise, "small": [1, 2], "other": "x"})))
    file = CheckpointFile(source, "x", limits=TIGHT)
    assert file.variable("small") == [1, 2]
    assert source.read_bytes < 20_000
    assert file.variable("big") == noise
    with pytest.raises(NotFoundError, match="'nothing'"):
        file.variable("nothing")


def test_a_variable_that_shares_is_read_with_its_pool_alone() -> None:
    shared = ["x" * 5000]
    state = {"a": shared, "b": [shared], "c": [1]}
    file = opened(file_bytes(sample(repl_state=state)))
    assert file.variable("b") == [["x" * 5000]]
    assert [unit.pool is None for unit in file.table().variables] == [False, False, True]


def test_equal_variables_have_equal_digests_and_changed_ones_do_not() -> None:
    shared = {"k": ["v" * 2000]}
    changed = {"k": ["w" * 2000]}

    def digests(inner: object, number: int) -> dict[str, bytes]:
        state = {"n": number, "a": [inner], "b": {"in": inner}, "c": "same"}
        return {unit.name: unit.digest for unit in opened(file_bytes(sample(repl_state=state))).table().variables}

    one, two, three = digests(shared, 1), digests(shared, 2), digests(changed, 1)
    assert {name for name in one if one[name] != two[name]} == {"n"}
    assert {name for name in one if one[name] != three[name]} == {"a", "b"}


@pytest.mark.spec("SPEC-09.22")
def test_every_flipped_bit_and_every_cut_is_found() -> None:
    data = file_bytes(sample(repl_state={"x": [1, "text"]}))
    for at in range(0, len(data), 3):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        with pytest.raises(CheckpointError):
            load_checkpoint(opened(bytes(changed)))
    for end in range(0, len(data), 7):
        with pytest.raises(DamagedCheckpointError):
            load_checkpoint(opened(data[:end]))
    with pytest.raises(DamagedCheckpointError, match="bytes"):
        opened(data + b"x")


def test_a_change_in_one_section_is_found_when_that_variable_is_read_alone() -> None:
    data = bytearray(file_bytes(sample(repl_state={"big": list(range(9000)), "small": 1})))
    file = opened(bytes(data))
    unit = file.unit("variable", "big")
    data[file.head.sections_start + file.table().sections[unit.section].offset + 20] ^= 1
    damaged = opened(bytes(data))
    assert damaged.variable("small") == 1
    with pytest.raises(DamagedCheckpointError, match="section"):
        damaged.variable("big")


def test_a_keyed_file_verifies_with_its_key_alone() -> None:
    data = file_bytes(key=b"secret")
    load_checkpoint(opened(data, key=b"secret"))
    assert opened(data).variable("numbers") == variables()["numbers"]
    with pytest.raises(CheckpointKeyError, match="with a key"):
        load_checkpoint(opened(data))
    with pytest.raises(CheckpointKeyError, match="another one"):
        load_checkpoint(opened(data, key=b"other"))
    with pytest.raises(CheckpointKeyError, match="made without one"):
        load_checkpoint(opened(file_bytes(), key=b"secret"))


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (replace(TIGHT, file_bytes=1000), "bytes, the limit is 1,000"),
        (replace(TIGHT, sections=1), "sections, the limit is 1"),
        (replace(TIGHT, units=3), "units, the limit is 3"),
        (replace(TIGHT, table_bytes=100), "table of"),
        (replace(TIGHT, raw_bytes=100), "sections take"),
        (replace(TIGHT, section_bytes=100), "a section of"),
        (replace(TIGHT, memory_bytes=1000), "1,000 bytes of memory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_limit_is_named_before_the_work_is_done(limits: Limits, what: str) -> None:
    with pytest.raises(CheckpointLimitError, match=what):
        load_checkpoint(opened(file_bytes(), limits))


@pytest.mark.parametrize(
    "changes",
    [{"session_id": ""}, {"session_id": "x" * 1025}, {"label": "x" * 201}, {"turn": -1}, {"branch": "../.."},
     {"checkpoint_id": "X"}, {"cost_so_far": float("nan")}, {"reason": "because"}, {"writer": {"a": "x" * 5000}}],
    ids=repr,
)  # fmt: skip
def test_what_can_not_be_listed_is_refused_by_name(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError, match="write checkpoint"):
        seal(pack_checkpoint(sample(**changes)))


def test_a_variable_with_an_impossible_name_is_a_loss() -> None:
    packed = pack_checkpoint(sample(repl_state={"x" * 2000: 1, 5: 2, "ok\ud800": 3}, losses=()))
    assert [unit.facts.name for unit in packed.units if not unit.facts.is_part] == ["ok\ud800"]
    assert len(packed.losses) == 2
    assert all(isinstance(loss, Loss) for loss in packed.losses)


@pytest.mark.spec("SPEC-09.26")
def test_what_a_newer_minor_version_added_is_kept_and_written_back_under_its_version() -> None:
    view = Unread("view", "layout", msgpack.packb({"any": "bytes"}), minor=7)
    newer = sample(unread=(view, Unread("index", None, b"\x01" * 50, minor=7)))
    found = load_checkpoint(opened(file_bytes(newer)))
    assert set(found.unread) == set(newer.unread)
    assert same(found.repl_state["numbers"], variables()["numbers"])
    again = opened(file_bytes(found))
    assert (again.head.major, again.head.minor) == (1, 7)
    assert load_checkpoint(again).unread == found.unread
    with pytest.raises(DamagedCheckpointError):
        load_checkpoint(opened(forged(file_bytes(newer), minor=0)))


@pytest.mark.spec("SPEC-09.26")
def test_a_value_of_a_newer_minor_version_is_saved_under_its_version() -> None:
    held = Placeholder(99, (1, ["a"]), "newer", minor=3)
    data = file_bytes(sample(repl_state={"x": [held], "y": 1}))
    assert opened(data).head.minor == 3
    found: Any = load_checkpoint(opened(data)).repl_state
    assert (found["x"][0].tag, found["x"][0].operands, found["y"]) == (99, (1, ["a"]), 1)
    assert opened(file_bytes()).head.minor == 0


def test_large_sections_are_compressed_faster_and_noise_is_stored_as_it_is() -> None:
    state = {"noise": random.Random(2).randbytes(100_000), "text": "abc " * 50_000}
    table = opened(file_bytes(sample(repl_state=state))).table()
    by_name = {unit.name: table.sections[unit.section] for unit in table.variables}
    assert (by_name["noise"].codec, by_name["text"].codec) == (0, 1)
    assert by_name["text"].stored_bytes < by_name["text"].raw_bytes / 50


def test_a_group_of_small_variables_is_one_section() -> None:
    state = {f"v{n}": list(range(n % 50)) for n in range(300)}
    table = opened(file_bytes(sample(repl_state=state)), replace(TIGHT, memory_bytes=MB)).table()
    assert len(table.sections) <= 3
    assert len(table.variables) == 300
