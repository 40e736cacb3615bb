"""What a file is, its schema version, and the way from an older one to today's."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.folder_state import folder_state
from tierdeck import db, migrate
from tierdeck.errors import NotAStoreError, SchemaVersionError, StoreError
from tierdeck.migrate import StoreKind
from tierdeck.model import NodeDraft, NodeFilter
from tierdeck.store import Store, add_node, count_nodes, get_node, open_store, page_around


def older_store(path: Path) -> list[str]:
    """A store as schema version 1 made it, with three memories; their ids."""
    ids = [f"0000000{n}-0000-4000-8000-000000000000" for n in range(3)]
    with closing(apsw.Connection(str(path))) as conn:
        for step in migrate.migrations():
            if step.version == 1:
                conn.execute(step.sql)
        conn.execute("INSERT INTO td_setting (key, value) VALUES ('schema_version', '1')")
        for number, node_id in enumerate(ids):
            conn.execute(
                "INSERT INTO nodes (id, type, content, created_at) VALUES (?, 'fact', ?, ?)",
                (node_id, f"memory {number}", 1_700_000_000_000 + number),
            )
    return ids


@pytest.mark.case("D09")
def test_an_older_store_is_backed_up_and_migrated_and_keeps_its_memories(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ids = older_store(path)
    with open_store(path) as store:
        assert [get_node(store, node_id).content for node_id in ids] == ["memory 0", "memory 1", "memory 2"]
        changed = store.read(lambda conn: conn.execute("SELECT node_id FROM td_change ORDER BY seq").fetchall())
        assert [row[0] for row in changed] == ids
    [backup] = tmp_path.glob("memory.db.backup-*-schema-1")
    with open_store(backup, read_only=True) as old:
        assert old.read(migrate.version_of) == 1
        assert get_node(old, ids[0]).content == "memory 0"


@pytest.mark.case("D09")
def test_an_older_store_that_is_only_read_stays_older_and_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older_store(path)
    before = folder_state(tmp_path)
    with open_store(path, read_only=True) as store:
        page = page_around(store, NodeFilter(), None, before_rows=0, after_rows=9)
        assert [row.excerpt for row in page.rows] == ["memory 2", "memory 1", "memory 0"]
    assert folder_state(tmp_path) == before


@pytest.mark.case("D09")
def test_a_newer_store_is_refused_for_writing_and_both_versions_are_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_node(store, NodeDraft("from the future"))
        with store.writing() as conn:
            conn.execute("UPDATE td_setting SET value = '99' WHERE key = 'schema_version'")
    before = folder_state(tmp_path)
    with pytest.raises(SchemaVersionError, match=rf"version 99, .* up to {migrate.SCHEMA_VERSION}"):
        open_store(path)
    assert folder_state(tmp_path) == before
    with open_store(path, read_only=True) as store:
        assert count_nodes(store, NodeFilter()) == 1


@pytest.mark.parametrize("said", ["two", "", "-1", "1.5", "²", "9" * 5000])
def test_a_version_that_is_none_is_refused(tmp_path: Path, said: str) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store, store.writing() as conn:
        conn.execute("UPDATE td_setting SET value = ? WHERE key = 'schema_version'", (said,))
    with pytest.raises(SchemaVersionError, match="is none"):
        open_store(path)
    with open_store(path, read_only=True) as store:
        assert count_nodes(store, NodeFilter()) == 0


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older_store(path)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE td_change (in_the_way)")
        conn.commit()
        tables = conn.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    with pytest.raises(StoreError, match="td_change"):
        open_store(path)
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall() == tables
        assert conn.execute("SELECT value FROM td_setting").fetchall() == [("1",)]


_OPEN_AND_ADD = """
import sys
from tierdeck.model import NodeDraft
from tierdeck.store import add_node, open_store
sys.stdin.readline()
with open_store(sys.argv[1], create=True) as store:
    add_node(store, NodeDraft("made by " + sys.argv[2]))
"""


@pytest.mark.parametrize("is_older", [False, True])
def test_programs_that_come_at_once_make_and_migrate_a_store_once(tmp_path: Path, is_older: bool) -> None:
    path = tmp_path / "memory.db"
    there = len(older_store(path)) if is_older else 0
    programs = [
        subprocess.Popen([sys.executable, "-c", _OPEN_AND_ADD, str(path), str(n)], stdin=subprocess.PIPE)
        for n in range(4)
    ]
    for program in programs:
        program.communicate(b"go\n")
    assert [program.returncode for program in programs] == [0, 0, 0, 0]
    with open_store(path) as store:
        assert count_nodes(store, NodeFilter()) == there + 4
        assert store.read(migrate.version_of) == migrate.SCHEMA_VERSION


def test_a_store_is_ours_adopted_or_another_programs(store: Store, family_store_path: Path) -> None:
    assert store.kind is StoreKind.OWN
    with closing(db.open_writer(family_store_path)) as conn:
        assert migrate.kind_of(conn, family_store_path) is StoreKind.FOREIGN
        migrate.migrate(conn, StoreKind.ADOPTED)
        assert migrate.kind_of(conn, family_store_path) is StoreKind.ADOPTED
        assert migrate.version_of(conn) == migrate.SCHEMA_VERSION


def test_another_programs_database_is_refused_and_what_it_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE nodes (id)")
    with pytest.raises(NotAStoreError, match="no table content_fts, evolution_log, hyperedges, membership"):
        open_store(path, create=True)


def test_every_step_after_the_first_version_is_in_a_numbered_file() -> None:
    steps = migrate.migrations()
    assert max(step.version for step in steps) == migrate.SCHEMA_VERSION
    assert [step.name for step in steps if step.version == 1] == ["0001_memory.own.sql", "0001_tierdeck.sql"]
    assert all(step.own_only or "td_" in step.sql for step in steps)


def test_backups_made_within_a_second_get_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    names = set()
    for _ in range(3):
        target = migrate.backup_path(path, "test")
        target.touch()
        names.add(target.name)
    assert len(names) == 3
