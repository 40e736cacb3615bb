"""Sessions and accesses as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import AccessKind, NodeDraft
from tierdeck.store import Store, accesses, add_access, add_node, add_session, get_node, open_store, sessions

NOON = 1_796_040_000_000


def test_sessions_are_listed_the_latest_begun_first(store: Store) -> None:
    old = add_session(store, "old", project="p", agent="coder", started_at_ms=NOON, outcome="success")
    new = add_session(store, "new", started_at_ms=NOON + 1, ended_at_ms=NOON + 2)
    assert sessions(store) == [new, old]
    assert (old.project, old.agent, old.outcome, old.ended_at_ms) == ("p", "coder", "success", None)


def test_a_known_external_id_is_a_new_run_and_a_child_shares_its_parents_root(store: Store) -> None:
    first, second = add_session(store, "s"), add_session(store, "s")
    assert [(s.run, s.root_id) for s in (first, second)] == [(1, first.id), (2, second.id)]
    child = add_session(store, "sub", parent_id=second.id)
    grandchild = add_session(store, "subsub", parent_id=child.id)
    assert (grandchild.parent_id, grandchild.root_id) == (child.id, second.id)


def test_a_session_that_may_not_enter_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no parent session 99"):
        add_session(store, "s", parent_id=99)
    for wrong in (" ", "a\0"):
        with pytest.raises(InvalidValueError):
            add_session(store, wrong)
    assert sessions(store) == []


def test_a_pull_moves_time_and_count_of_the_memory_and_no_other_access_does(store: Store) -> None:
    node = add_node(store, NodeDraft("x", created_at_ms=NOON))
    session = add_session(store, "s")
    for kind in (AccessKind.PUSH, AccessKind.SHOWN, AccessKind.MAINTENANCE):
        add_access(store, node.id, session.id, kind, at_ms=NOON + 5)
    assert get_node(store, node.id) == node
    add_access(store, node.id, session.id, AccessKind.PULL, outcome="success", at_ms=NOON + 9)
    add_access(store, node.id, session.id, AccessKind.PULL, at_ms=NOON + 7)
    found = get_node(store, node.id)
    assert (found.access_count, found.last_accessed_ms, found.updated_at_ms) == (2, NOON + 9, node.updated_at_ms)


def test_an_access_touches_no_full_text_row_and_is_no_change_of_the_text(store: Store) -> None:
    node = add_node(store, NodeDraft("x"))
    session = add_session(store, "s")

    def untouched() -> list[Any]:
        return store.read(
            lambda conn: [
                *conn.execute("SELECT * FROM content_fts_data ORDER BY id").fetchall(),
                *conn.execute("SELECT * FROM td_change").fetchall(),
            ]
        )

    before = untouched()
    add_access(store, node.id, session.id, AccessKind.PULL)
    assert untouched() == before


def test_a_pull_counts_from_one_where_another_program_left_no_number(store: Store) -> None:
    node = add_node(store, NodeDraft("x"))
    session = add_session(store, "s")
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET access_count = 'many', last_accessed = 'soon'")
    add_access(store, node.id, session.id, AccessKind.PULL, at_ms=NOON)
    found = get_node(store, node.id)
    assert (found.access_count, found.last_accessed_ms, found.problems) == (1, NOON, ())


def test_an_access_to_nothing_or_from_nowhere_is_refused(store: Store) -> None:
    node = add_node(store, NodeDraft("x"))
    session = add_session(store, "s")
    with pytest.raises(NotFoundError, match="no memory nothing"):
        add_access(store, "nothing", session.id, AccessKind.PULL)
    with pytest.raises(NotFoundError, match="no session 99"):
        add_access(store, node.id, 99, AccessKind.PULL)
    assert accesses(store, node.id) == []


def test_another_programs_store_has_no_sessions(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert sessions(store) == []
