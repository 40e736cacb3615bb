"""The demo store is a true store: its logs lead to what its memories say, and it is the same each time."""

from __future__ import annotations

import io
import json
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import get_args

import apsw
import pytest

from tierdeck.config import EmbeddingSettings
from tierdeck.demo.build import build_demo
from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.material import read_memories, read_sessions
from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.maintenance.doctor import examine
from tierdeck.model import Tier
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.moves.undo import undo_move
from tierdeck.promote.outlook.candidates import count_candidates
from tierdeck.promote.outlook.near import near
from tierdeck.promote.outlook.sweep_plan import plan_sweep
from tierdeck.promote.records import LogFilter, LogKind
from tierdeck.promote.rules import Rules
from tierdeck.store import (
    access_summary,
    confidence_changes,
    edges_of,
    get_node,
    open_store,
    revisions,
    sessions,
    tier_moves,
    undo,
)
from tierdeck.transfer.jsonl_export import export_jsonl

NOW = 1_790_000_000_000


def read_numbers(sql: str, conn: apsw.Connection) -> list[int]:
    return [int(row[0]) for row in conn.execute(sql)]


@pytest.fixture(scope="module")
def demo_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    build_demo(path, now_ms=NOW)
    return path


def test_the_summary_counts_what_is_there(tmp_path: Path) -> None:
    summary = build_demo(tmp_path / "demo.db", now_ms=NOW)
    memories = read_memories()
    assert summary.counts.total == len(memories) >= 400
    assert summary.counts.by_tier == Counter(Tier(memory.tier) for memory in memories)
    assert summary.counts.edges == sum(len(memory.relations) for memory in memories)
    assert summary.accesses == sum(len(memory.accesses) for memory in memories)
    assert (summary.sessions, summary.revisions > 10) == (len(read_sessions()), True)
    assert summary.log_rows > 300
    assert (tmp_path / "demo.db").stat().st_mode & 0o777 == 0o600
    with open_store(tmp_path / "demo.db", read_only=True) as store:
        assert summary.waiting == sum(count_candidates(store, Rules(), NOW).values()) > 30


def test_two_stores_made_for_the_same_moment_hold_the_same(demo_path: Path, tmp_path: Path) -> None:
    build_demo(tmp_path / "demo.db", now_ms=NOW)
    data = []
    for path in (demo_path, tmp_path / "demo.db"):
        out = io.BytesIO()
        with open_store(path, read_only=True) as store:
            export_jsonl(store, out)
        data.append(out.getvalue())
    assert data[0] == data[1]


def test_each_memory_ends_as_the_data_say_it_is_now(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        for memory in read_memories():
            node = get_node(store, demo_id(memory.key))
            assert (node.content, node.tier, node.confidence) == (memory.content, memory.tier, memory.confidence)
            assert (node.type, node.subtype, node.provenance) == (memory.type, memory.subtype, memory.provenance)
            assert node.metadata["session_id"] == memory.session
            assert node.problems == ()
            assert node.access_count == access_summary(store, node.id).pulls
            assert node.created_at_ms is not None
            assert node.last_accessed_ms is not None
            assert node.created_at_ms <= node.last_accessed_ms <= NOW


def test_moves_and_confidence_steps_lead_from_one_to_the_next(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        for memory in read_memories():
            node_id = demo_id(memory.key)
            # Another program writes one move as two rows.
            steps_made = dict.fromkeys((m.at_ms, m.from_tier, m.to_tier) for m in tier_moves(store, node_id))
            for before, after in pairwise(steps_made):
                assert before[2] == after[1]
            if steps_made:
                assert list(steps_made)[-1][2] == memory.tier
            steps = sorted(confidence_changes(store, node_id), key=lambda step: step.at_ms or 0)
            for earlier, later in pairwise(steps):
                assert earlier.new == later.old


@pytest.mark.spec("SPEC-09.14")
def test_the_log_tells_every_move_but_the_one_that_another_program_made(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        assert verify_log(store).problem is None
        log = entries(store, LogFilter(), limit_rows=10_000)
        ours = {entry.evolution_id for entry in log}
        moves = [move for memory in read_memories() for move in tier_moves(store, demo_id(memory.key))]
        assert [move.operation for move in moves if move.id not in ours] == ["tier_transition", "consolidate"]
        [flagged] = [hold for hold in holds(store, now_ms=NOW) if hold.moved_to is not None]
        assert (flagged.node_id, flagged.tier, flagged.moved_to) == (demo_id("m-145"), "longterm", "session")


def test_every_kind_of_decision_and_of_run_is_in_the_log(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        kinds = Counter(entry.kind for entry in entries(store, LogFilter(), limit_rows=10_000))
        assert set(kinds) == set(get_args(LogKind))
        assert kinds["auto"] > 150
        assert (kinds["approve"], kinds["dismiss"], kinds["undo"]) == (3, 2, 4)
        made = {run.kind: run for run in runs(store, limit_rows=1_000)}
        assert {"sweep", "session-end", "override", "approve"} <= set(made)
        assert all(run.ended_at_ms is not None and run.refused == 0 for run in made.values())
        assert made["sweep"].moved == 7


def test_something_waits_for_each_rule_and_what_is_near_lacks_each_criterion(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        waiting = count_candidates(store, Rules(), NOW)
        assert min(waiting.values()) >= 5
        assert plan_sweep(store, Rules(), NOW).needs_confirmation is not None
        lacking = Counter(
            criterion.name
            for candidate in near(store, Rules(), NOW, limit_rows=200).rows
            for criterion in candidate.decision.lacking
        )
        assert set(lacking) == {
            "pulls in one session", "sessions", "successes", "failures", "confidence held", "days unused",
        }  # fmt: skip


def test_the_logs_are_in_the_order_of_their_times(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        for table, column in (
            ("evolution_log", "timestamp"),
            ("td_revision", "at"),
            ("td_access", "at"),
            ("td_confidence", "at"),
            ("td_promotion_log", "at"),
            ("td_session", "started_at"),
        ):
            times = store.read(partial(read_numbers, f"SELECT {column} FROM {table} ORDER BY id"))
            assert times == sorted(times)
            assert len(times) >= 20
            assert max(times) <= NOW


def test_an_archived_memory_and_an_edited_one_can_be_undone(tmp_path: Path) -> None:
    build_demo(tmp_path / "demo.db", now_ms=NOW)
    archived = next(memory for memory in read_memories() if memory.tier == "archive")
    with open_store(tmp_path / "demo.db") as store:
        undo_move(store, demo_id(archived.key), actor="me")
        assert get_node(store, demo_id(archived.key)).tier != Tier.ARCHIVE
        assert [revision.kind for revision in revisions(store, demo_id("m-041"))] == ["edit"]
        assert [revision.kind for revision in revisions(store, demo_id("m-003"))] == ["undo", "edit"]
        undo(store, demo_id("m-041"), actor="me")


def test_sub_agents_belong_to_the_session_that_sent_them(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        by_name = {session.external_id: session for session in sessions(store)}
    for session in read_sessions():
        if session.parent:
            assert by_name[session.key].root_id == by_name[session.parent].id == by_name[session.key].parent_id
    assert by_name["s-14"].ended_at_ms is None


def test_relations_join_memories_that_are_there(demo_path: Path) -> None:
    related = next(memory for memory in read_memories() if memory.relations)
    with open_store(demo_path, read_only=True) as store:
        edges = edges_of(store, demo_id(related.key))
        assert {demo_id(related.relations[0].to)} <= {member.node_id for edge in edges for member in edge.members}


def test_doctor_finds_nothing_but_the_planted_secret_and_the_held_memory_that_was_moved(demo_path: Path) -> None:
    with open_store(demo_path, read_only=True) as store:
        health = examine(store, EmbeddingSettings(provider="off"), is_thorough=True)
    assert {check.name for check in health.checks if check.state in ("warn", "bad")} == {"secrets", "holds"}


def test_hostile_text_is_in_the_demo_as_it_was_written(demo_path: Path) -> None:
    texts = [memory.content for memory in read_memories()]
    assert any("\x1b]52;c;" in text for text in texts)
    assert not any("\0" in text for text in texts)
    assert any(json.dumps(text).count("\\u") > 5 for text in texts)
    assert {memory.embed for memory in read_memories()} == {True, False}


def test_a_file_that_is_there_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_bytes(b"mine")
    with pytest.raises(InvalidValueError, match="it exists"):
        build_demo(path)
    assert path.read_bytes() == b"mine"


def test_a_store_that_can_not_be_finished_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierdeck.demo.hand._UNDONE", ("m-nobody", -1.0, 0.5, "there is no such memory"))
    with pytest.raises(NotFoundError, match="there is none"):
        build_demo(tmp_path / "demo.db", now_ms=NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_checkpoints_that_is_there_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "demo-checkpoints").mkdir()
    (tmp_path / "demo-checkpoints" / "mine").write_text("mine")
    with pytest.raises(InvalidValueError, match="demo-checkpoints: it exists"):
        build_demo(tmp_path / "demo.db")
    assert (tmp_path / "demo-checkpoints" / "mine").read_text() == "mine"
    assert not (tmp_path / "demo.db").exists()


def test_checkpoints_that_can_not_be_finished_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierdeck.demo.saved_sessions.NEXT_NIGHT", "")
    with pytest.raises(InvalidValueError, match="an id has 1 to"):
        build_demo(tmp_path / "demo.db", now_ms=NOW)
    assert list(tmp_path.iterdir()) == []
