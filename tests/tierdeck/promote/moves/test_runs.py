from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import count_runs, run, runs
from tierdeck.promote.moves.undo import undo_run
from tierdeck.store import Store, add_nodes, open_store


def repr_of(value: object) -> str:
    return repr(value)[:12]


pytestmark = pytest.mark.spec("SPEC-09.14")


def test_runs_are_listed_newest_first_by_kind_and_page_by_page(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("one"), NodeDraft("two")])
    moved = override_tier(store, ids, Tier.SESSION, actor="mara", reason="both are known")
    assert moved.run_id is not None
    undone = undo_run(store, moved.run_id, actor="ben")
    assert [(found.id, found.kind) for found in runs(store)] == [
        (undone.run_id, "undo"), (moved.run_id, "override"),
    ]  # fmt: skip
    assert [found.id for found in runs(store, kind="override")] == [moved.run_id]
    assert runs(store, kind="sweep") == []
    assert [found.id for found in runs(store, before_id=undone.run_id, limit_rows=1)] == [moved.run_id]
    assert count_runs(store) == 2


def test_a_run_that_is_none_and_a_limit_that_is_none_are_refused_by_name(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no run 7 in"):
        run(store, 7)
    with pytest.raises(InvalidValueError, match="0 rows is no limit"):
        runs(store, limit_rows=0)


def test_another_programs_store_has_no_runs(family_store_path: Path) -> None:
    with open_store(family_store_path) as theirs:
        assert (runs(theirs), count_runs(theirs)) == ([], 0)


@pytest.mark.parametrize("value", [b"mara", "[" * 100_000, '{"sessions": "many"}', "[1]", 9e99], ids=repr_of)
@pytest.mark.parametrize("column", ["kind", "at", "ended_at", "actor", "reason", "planned", "moved", "rejections"])
def test_a_run_that_somebody_else_wrote_into_is_listed_as_far_as_it_can_be(
    store: Store, column: str, value: object
) -> None:
    [node_id] = add_nodes(store, [NodeDraft("one")])
    moved = override_tier(store, [node_id], Tier.SESSION, actor="mara", reason="known good")
    with store.writing() as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        conn.execute(f"UPDATE td_promotion_run SET {column} = ?", (value,))
    [found] = runs(store)
    assert found.id == moved.run_id
    assert isinstance(found.actor, str)
    assert all(isinstance(number, int) for number in (found.at_ms, found.planned, found.moved, found.ended_at_ms))
    assert found.rejections == ()
