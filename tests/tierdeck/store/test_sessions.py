"""Sessions as rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.store import Store, add_session, open_store, sessions

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


def test_another_programs_store_has_no_sessions(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert sessions(store) == []


@pytest.mark.parametrize("column", ["external_id", "project", "agent", "started_at", "ended_at"])
def test_a_session_that_somebody_else_wrote_into_is_listed_all_the_same(store: Store, column: str) -> None:
    add_session(store, "s1", project="harbor", agent="coder", ended_at_ms=1)
    with store.writing() as conn:
        conn.execute(f"UPDATE td_session SET {column} = ?", (b"7",))
    [found] = sessions(store)
    assert found.id == 1
    assert not any(isinstance(value, bytes) for value in (found.external_id, found.project, found.started_at_ms))
