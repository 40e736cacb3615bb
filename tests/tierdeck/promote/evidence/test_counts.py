"""What is kept is what is made anew, after whatever happened; and what is not, is found and named."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.family import FAMILY_SCHEMA
from tests.tierdeck.promote.clock import NOON, Clock, clocked
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.maintenance import adopt
from tierdeck.model import AccessKind, NodeChanges, NodeDraft, Outcome, Tier
from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.count_check import CountDifference, count_differences
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.promote.rules import DAY_MS
from tierdeck.store import Store, add_nodes, edit_node, sessions

OUTCOMES: tuple[Outcome | None, ...] = (None, None, "success", "failure")
KINDS = (AccessKind.PULL, AccessKind.PULL, AccessKind.PULL, AccessKind.PUSH, AccessKind.SHOWN)
NAMES = ("a", "b", "c", "d", "e", "f")


def differences(store: Store) -> tuple[CountDifference, ...]:
    is_own = store.kind == "own"
    return store.read(lambda conn: count_differences(conn, logs_confidence=True, is_own=is_own)).examples


def kept(store: Store) -> list[Any]:
    """All that is kept; of an adopted store without what is looked up each time."""
    confidence = "conf_min" if store.kind == "own" else "0"
    sql = f"""SELECT node, node_id, tier_after, counted_after, moved_at, roots, max_in_root, ok, bad, first_pull,
        last_pull, last_pull_id, {confidence} FROM td_facts ORDER BY node"""
    return store.read(
        lambda conn: [*conn.execute(sql).fetchall(), *conn.execute("SELECT * FROM td_use ORDER BY 1, 2").fetchall()]
    )


class Story:
    """Random things that happen to a store, each as a person, an agent or another program would do it."""

    def __init__(self, store: Store, clock: Clock, seed: int) -> None:
        self.store, self.clock, self.draw = store, clock, random.Random(seed)
        self.ids = add_nodes(store, [NodeDraft(str(n), confidence=self.draw.random()) for n in range(8)])
        self.steps = (self.meet, self.record, self.record, self.record, self.say, self.end, self.edit, self.hand)

    def go_on(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.now += self.draw.choice([0, 1, 1_000, DAY_MS // 3])
            self.draw.choice(self.steps)()

    def a_session(self) -> int:
        return self.draw.choice(sessions(self.store) or [meet_session(self.store, "a")]).id

    def meet(self) -> None:
        name, parent = self.draw.choice(NAMES), self.draw.choice((None, *NAMES))
        try:
            meet_session(self.store, name, parent=parent)
        except InvalidValueError as e:
            assert "began under it" in e.message  # noqa: PT017 - any other refusal is a fault

    def record(self) -> None:
        ids = self.draw.sample(self.ids, self.draw.randint(1, 3))
        at_ms = self.clock.now + self.draw.choice([0, 0, 0, -5 * DAY_MS])
        kind, outcome = self.draw.choice(KINDS), self.draw.choice(OUTCOMES)
        record_accesses(self.store, self.a_session(), ids, kind, outcome=outcome, at_ms=at_ms)

    def say(self) -> None:
        try:
            set_outcome(self.store, self.a_session(), self.draw.choice(self.ids), self.draw.choice(OUTCOMES))
        except NotFoundError as e:
            assert "not pulled" in e.message  # noqa: PT017 - any other refusal is a fault

    def end(self) -> None:
        try:
            end_session(self.store, self.a_session(), outcome=self.draw.choice(OUTCOMES))
        except ConflictError as e:
            assert "its outcome is" in e.message  # noqa: PT017 - any other refusal is a fault

    def edit(self) -> None:
        node_id, value = self.draw.choice(self.ids), self.draw.choice([0.1, 0.5, 0.8, 0.9, 1.0])
        self.clock.now += 1  # a change at the very time of a pull may be before or after it
        if self.draw.random() < 0.5:
            edit_node(self.store, node_id, NodeChanges(confidence=value), actor="me")
        else:
            with self.store.writing() as conn:
                sql = "UPDATE nodes SET confidence = ?, updated_at = ? WHERE id = ?"
                conn.execute(sql, (value, self.clock.now, node_id))

    def hand(self) -> None:
        node_id = self.draw.choice(self.ids)
        try:
            if self.draw.random() < 0.5:
                undo_move(self.store, node_id, actor="me")
            else:
                override_tier(self.store, [node_id], self.draw.choice(list(Tier)), actor="me", reason="because")
        except (ConflictError, NotFoundError):  # nothing stands that could be taken back
            return


@pytest.mark.parametrize("kind", ["own", "adopted"])
@pytest.mark.parametrize("seed", range(8))
def test_after_any_story_what_is_kept_is_what_is_made_anew(tmp_path: Path, kind: str, seed: int) -> None:
    path, clock = tmp_path / "memory.db", Clock()
    if kind == "adopted":
        with closing(sqlite3.connect(path)) as conn:
            conn.executescript(FAMILY_SCHEMA)
        adopt(path)
    with clocked(path, clock) as store:
        story = Story(store, clock, seed)
        for _ in range(4):
            story.go_on(25)
            assert differences(store) == ()
            before = kept(store)
            for ids in (story.ids, None):
                with store.writing() as writer:
                    recount(writer, ids, logs_confidence=True)
                assert kept(store) == before


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("DELETE FROM td_use WHERE root = 1", "root session"),
        ("UPDATE td_use SET ok = ok + 1 WHERE root = 1", "root session"),
        ("INSERT INTO td_use VALUES (1, 99, 1, 1, 1, 0, 0)", "root session"),
        ("INSERT INTO td_use VALUES (77, 1, 1, 1, 1, 0, 0)", "root session"),
        ("UPDATE td_facts SET roots = 7", "sessions"),
        ("UPDATE td_facts SET ok = 5", "successes"),
        ("UPDATE td_facts SET last_pull_id = 0", "latest pull's place"),
        ("UPDATE td_facts SET counted_after = 0", "counted after"),
        ("UPDATE td_facts SET tier = 'archive'", "tier"),
        ("UPDATE td_facts SET conf_min = NULL", "confidence held"),
        ("UPDATE td_facts SET conf_min = 1.0", "confidence held"),
        ("DELETE FROM td_facts", "row"),
    ],
)
def test_a_count_that_is_wrong_is_found_and_named(tmp_path: Path, damage: str, what: str) -> None:
    with clocked(tmp_path / "memory.db", Clock()) as store:
        [node_id, other] = add_nodes(store, [NodeDraft("x"), NodeDraft("y")])
        for name in ("one", "two"):
            record_accesses(store, meet_session(store, name).id, [node_id, other], AccessKind.PULL)
        override_tier(store, [node_id], Tier.SESSION, actor="me", reason="because")
        record_accesses(store, meet_session(store, "one").id, [node_id], AccessKind.PULL, outcome="success")
        assert differences(store) == ()
        with store.writing() as conn:
            conn.execute(damage)
        assert what in {difference.what for difference in differences(store)}
        with store.writing() as conn:
            recount(conn, logs_confidence=True)
        left = {difference.what for difference in differences(store)}
        assert left <= {"tier", "counted after"}, "these two are not made from accesses"


def test_pulls_without_counts_are_counted_and_an_archived_memory_is_not_called_back_by_them(tmp_path: Path) -> None:
    with clocked(tmp_path / "memory.db", Clock()) as store:
        [used, archived, unused] = add_nodes(
            store, [NodeDraft("x"), NodeDraft("y", tier=Tier.ARCHIVE), NodeDraft("z")]
        )
        session = meet_session(store, "s")
        with store.writing() as conn:
            for node_id in (used, archived, used):
                conn.execute(
                    "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'pull', ?)",
                    (node_id, session.id, NOON),
                )
            conn.execute(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'push', ?)",
                (unused, session.id, NOON),
            )
            recount(conn, logs_confidence=True)
        rows = store.read(
            lambda conn: conn.execute(
                "SELECT node_id, max_in_root, tier_after FROM td_facts ORDER BY node"
            ).fetchall()
        )
        assert rows == [(used, 2, 4), (archived, 1, 4)]
        assert differences(store) == ()


def test_an_outcome_of_a_pull_that_nobody_counted_counts_the_memory_anew(tmp_path: Path) -> None:
    with clocked(tmp_path / "memory.db", Clock()) as store:
        [node_id] = add_nodes(store, [NodeDraft("x")])
        session = meet_session(store, "s")
        with store.writing() as conn:
            conn.execute(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'pull', ?)",
                (node_id, session.id, NOON),
            )
        assert [difference.what for difference in differences(store)] == ["row"]
        set_outcome(store, session.id, node_id, "success")
        assert differences(store) == ()
        assert store.read(lambda conn: conn.execute("SELECT ok, bad FROM td_facts").fetchall()) == [(1, 0)]
