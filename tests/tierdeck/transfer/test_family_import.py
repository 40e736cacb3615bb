"""Another store is brought in whole, is only read, and what is here already is left alone."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.family import family_id
from tests.tierdeck.transfer.test_round_trip import exported
from tierdeck.errors import ConflictError, NotAStoreError, StoreNotFoundError
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.promote.outlook.sweep_plan import plan_sweep
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import (
    Store,
    add_node,
    confidence_changes,
    counts,
    edges_of,
    edit_node,
    get_node,
    open_store,
    tier_moves,
)
from tierdeck.transfer.family_import import import_store, preview_store_import
from tierdeck.transfer.jsonl_import import import_jsonl


@pytest.mark.spec("SPEC-02.19")
def test_memories_relations_moves_and_confidence_history_come_in(store: Store, family_store_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    promised = preview_store_import(store, family_store_path)
    assert counts(store).total == 0
    report = import_store(store, family_store_path)
    assert report == promised
    assert report.rows == {"node": 8, "edge": 1, "member": 2, "move": 1, "confidence": 1}
    assert get_node(store, family_id(2)).provenance == "turn 2"
    assert edges_of(store, family_id(1))[0].label == "informs"
    assert tier_moves(store, family_id(3))[0].to_tier == "session"
    assert confidence_changes(store, family_id(3))[0].new == 0.7
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


def test_a_second_run_brings_in_only_what_came_since(store: Store, family_store_path: Path) -> None:
    first = import_store(store, family_store_path)
    edit_node(store, family_id(1), NodeChanges("edited here"), actor="me")
    again = import_store(store, family_store_path)
    assert (again.added, again.unchanged, again.skipped_count) == (0, first.added - 1, 1)
    assert get_node(store, family_id(1)).content == "edited here"


def test_a_store_of_ours_comes_in_with_its_settings_and_marks(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db", create=True) as other:
        add_node(other, NodeDraft("quiet", compute_embedding=False))
        data = exported(other)
    import_store(store, tmp_path / "other.db")
    assert exported(store) == data
    assert import_jsonl(store, io.BytesIO(data)).added == 0


def test_what_can_not_be_read_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("hello " * 100)
    with pytest.raises(NotAStoreError, match=r"notes\.txt"):
        import_store(store, text)
    with pytest.raises(StoreNotFoundError, match=r"no\.db"):
        import_store(store, tmp_path / "no.db")
    with pytest.raises(ConflictError, match="the store itself"):
        import_store(store, store.path)


def test_another_programs_store_brings_no_promotion_and_moves_nothing(
    store: Store, family_store_path: Path
) -> None:
    import_store(store, family_store_path)
    ids = [family_id(n) for n in range(1, 9)]
    tables = ("td_promotion_log", "td_promotion_run", "td_hold", "td_dismissal", "td_facts", "td_use", "td_access")
    for table in tables:
        assert store.read(partial(count_rows_of, table)) == 0
    plan = plan_sweep(store, Rules(), store.now_ms() + 60 * DAY_MS)
    assert (sum(plan.due.values()), plan.is_first) == (0, True), "nothing is stale in its first 90 days here"
    with open_store(family_store_path) as family:
        assert [get_node(store, i).tier for i in ids] == [get_node(family, i).tier for i in ids]


def count_rows_of(table: str, conn: apsw.Connection) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {table}").get)
