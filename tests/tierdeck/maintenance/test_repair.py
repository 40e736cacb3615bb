"""What doctor found is mended in one transaction, after a backup, and nothing that a memory holds changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.family import family_id
from tierdeck.config import EmbeddingSettings
from tierdeck.errors import InvalidValueError, ReadOnlyStoreError
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.backup_check import verify_backup
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.repair import repair
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_node, add_nodes, open_store

OFF = EmbeddingSettings(provider="off")
MATCH = "SELECT node_id FROM content_fts WHERE content_fts MATCH ? ORDER BY node_id"


def matching(store: Store, word: str) -> list[str]:
    return [str(row[0]) for row in store.read(lambda conn: conn.execute(MATCH, (word,)).fetchall())]


def run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as conn:
        for statement in statements:
            conn.execute(statement)
        conn.commit()


@pytest.mark.case("D05")
def test_an_index_out_of_step_finds_every_memory_again_after_the_rebuild(store: Store) -> None:
    ids = sorted(add_nodes(store, [NodeDraft(f"heron number {n}") for n in range(20)]))
    path = store.path
    store.close()
    run(path, "DROP TRIGGER nodes_fts_delete", f"DELETE FROM nodes WHERE id = '{ids[0]}'")
    run(path, f"DELETE FROM content_fts WHERE node_id = '{ids[1]}'")
    with open_store(path) as opened:
        report = repair(opened, ["search-index", "schema"])
        assert [name for name, _ in report.done] == ["schema", "search-index"]
        assert dict(report.done) == {
            "schema": "put back nodes_fts_delete",
            "search-index": "19 memories indexed anew",
        }
        assert matching(opened, "heron") == ids[1:]
        health = examine(opened, OFF)
        assert (health.check("schema").state, health.check("search-index").state) == ("ok", "ok")
        rowids = "SELECT count(*) FROM content_fts f JOIN nodes n ON n.pk = f.rowid AND n.id = f.node_id"
        assert opened.read(lambda conn: conn.execute(rowids).get) == 19
        with opened.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (ids[1],))
        assert matching(opened, "heron") == ids[2:]
    assert report.backup is not None
    assert verify_backup(report.backup).problems == ()


@pytest.mark.case("D05")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE content_fts_data SET block = zeroblob(8) WHERE id > 10",
        "DELETE FROM content_fts_content WHERE id = 3",
        "DELETE FROM content_fts_docsize",
        "DELETE FROM content_fts_idx",
        "DELETE FROM content_fts_data WHERE id > 10",
    ],
)
def test_an_index_too_damaged_to_delete_from_is_rebuilt(store: Store, damage: str) -> None:
    ids = sorted(add_nodes(store, [NodeDraft(f"heron number {n}") for n in range(50)]))
    path = store.path
    store.close()
    run(path, damage)
    with open_store(path) as opened:
        repair(opened, ["search-index"])
        assert matching(opened, "heron") == ids
        health = examine(opened, OFF, is_thorough=True)
        assert (health.check("integrity").state, health.check("search-index").state) == ("ok", "ok")


@pytest.mark.case("D05")
def test_the_index_of_an_adopted_store_is_rebuilt_as_its_own_program_would(family_store_path: Path) -> None:
    adopt(family_store_path)
    with closing(sqlite3.connect(family_store_path)) as conn:
        schema = sorted(conn.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=str)
    run(family_store_path, f"DELETE FROM content_fts WHERE node_id = '{family_id(1)}'")
    with open_store(family_store_path) as store:
        repair(store, ["search-index"])
        assert examine(store, OFF).check("search-index").state == "ok"
    with closing(sqlite3.connect(family_store_path)) as conn:
        assert sorted(conn.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=str) == schema
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('new', 'fact', 'a heron')")
        conn.execute("DELETE FROM nodes WHERE id = ?", (family_id(2),))
        assert conn.execute(MATCH, ("heron",)).fetchall() == [("new",)]


def test_rows_of_memories_that_are_gone_are_deleted_and_the_others_stay(store: Store) -> None:
    kept, gone = add_nodes(store, [NodeDraft("stays"), NodeDraft("goes", compute_embedding=False)])
    with store.writing() as conn:
        conn.execute("INSERT INTO td_session (id, external_id, root_id, started_at) VALUES (1, 's', 1, 0)")
        for node_id in (kept, gone):
            conn.execute(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, 1, 'pull', 0)", (node_id,)
            )
            conn.execute(
                "INSERT INTO td_revision (node_id, at, kind, actor) VALUES (?, 0, 'purge', 'me')", (node_id,)
            )
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    report = repair(store, ["orphans"])
    assert report.done == (("orphans", "2 rows of memories that are gone were deleted"),)
    count = "SELECT (SELECT count(*) FROM td_access), (SELECT count(*) FROM td_revision)"
    assert store.read(lambda conn: conn.execute(count).get) == (1, 2)


def test_mending_what_is_in_order_changes_nothing(store: Store) -> None:
    ids = sorted(add_nodes(store, [NodeDraft(f"heron number {n}") for n in range(5)]))
    report = repair(store, ["orphans", "schema", "search-index"])
    assert len(report.done) == 3
    assert matching(store, "heron") == ids
    assert examine(store, OFF).state == "ok"


def test_what_can_not_be_mended_is_refused_with_the_names_that_can(store: Store, family_store_path: Path) -> None:
    add_node(store, NodeDraft("one"))
    for names in (["times"], []):
        with pytest.raises(InvalidValueError, match="schema, search-index, orphans"):
            repair(store, names)
    with open_store(family_store_path) as foreign, pytest.raises(ReadOnlyStoreError):
        repair(foreign, ["search-index"])
    assert [file.name for file in store.path.parent.iterdir() if "backup" in file.name] == []
