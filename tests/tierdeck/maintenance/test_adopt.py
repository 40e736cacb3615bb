"""Adopting adds our tables and nothing else, and giving back leaves what the family's program made."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.family import INSERT_NODE, family_id
from tierdeck.errors import InvalidValueError, NotAStoreError, StoreNotFoundError
from tierdeck.index.path import beside_index_path, cached_index_path
from tierdeck.maintenance.adopt import adopt, preview_unadopt, unadopt
from tierdeck.maintenance.backup_check import verify_backup
from tierdeck.model import Tier
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.store import Store, StoreKind, open_store

FAMILY_TABLES = ("nodes", "hyperedges", "membership", "evolution_log", "confidence_updates", "content_fts")

# What the family's program does, word for word in SQL, by a plain connection in a process without our code.
FAMILY_AT_WORK = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1])
conn.execute("PRAGMA foreign_keys=ON")
print("open", conn.execute("SELECT count(*) FROM nodes").fetchone()[0], flush=True)
for line in sys.stdin:
    sql = line.strip()
    with conn:
        found = conn.execute(sql).fetchall()
    print("done", found, flush=True)
conn.close()
"""


@contextmanager
def family_program(path: Path) -> Iterator[subprocess.Popen[str]]:
    """The family's program with the store open, in a process of its own; it runs each statement it is sent."""
    command = [sys.executable, "-c", FAMILY_AT_WORK, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("open")
        yield program
        assert program.stdin is not None
        program.stdin.close()
        assert program.wait(timeout=30) == 0


def run(program: subprocess.Popen[str], sql: str) -> str:
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(" ".join(sql.split()) + "\n")
    program.stdin.flush()
    answer = program.stdout.readline()
    assert answer.startswith("done"), "the family's statement failed"
    return answer


def objects(path: Path) -> list[tuple[str, str, str, str | None]]:
    with closing(sqlite3.connect(path)) as conn:
        return sorted(conn.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=str)


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as conn:
        tables = (*FAMILY_TABLES, "sqlite_sequence")
        return {table: sorted(conn.execute(f"SELECT * FROM {table}"), key=str) for table in tables}


def pragmas(path: Path) -> list[object]:
    names = ("journal_mode", "user_version", "application_id", "page_size", "auto_vacuum", "encoding")
    with closing(sqlite3.connect(path)) as conn:
        return [conn.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def test_adopting_adds_only_our_tables_with_their_indexes_and_triggers(family_store_path: Path) -> None:
    before, data, settings = objects(family_store_path), rows(family_store_path), pragmas(family_store_path)
    report = adopt(family_store_path)
    added = [row for row in objects(family_store_path) if row not in before]
    assert {row[2] for row in added} == set(report.tables)
    assert all(table.startswith("td_") for table in report.tables)
    assert all(row[1].startswith(("td_", "sqlite_autoindex_td_")) for row in added)
    assert [row for row in objects(family_store_path) if row in before] == before
    assert pragmas(family_store_path) == settings
    after = rows(family_store_path)
    assert {table: after[table] for table in FAMILY_TABLES} == {table: data[table] for table in FAMILY_TABLES}


def test_an_adopted_store_opens_for_writing_and_its_backup_is_the_store_as_it_was(family_store_path: Path) -> None:
    data = rows(family_store_path)
    report = adopt(family_store_path)
    with open_store(family_store_path) as store:
        assert store.kind is StoreKind.ADOPTED
        assert not store.read_only
    assert report.backup is not None
    assert verify_backup(report.backup).problems == ()
    assert report.backup.stat().st_mode & 0o777 == 0o600
    assert rows(report.backup) == data


def test_giving_back_leaves_the_objects_and_rows_of_the_family_and_nothing_of_ours(family_store_path: Path) -> None:
    before, data, settings = objects(family_store_path), rows(family_store_path), pragmas(family_store_path)
    adopt(family_store_path)
    with open_store(family_store_path) as store, store.writing() as conn:
        conn.execute(
            "INSERT INTO td_session (id, external_id, root_id, started_at) VALUES (1, 'a', 1, 0), (2, 'b', 1, 0)"
        )
        conn.execute(
            "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, 2, 'pull', 0)", (family_id(1),)
        )
        conn.execute(
            "INSERT INTO td_revision (node_id, at, kind, actor, before) VALUES (?, 0, 'edit', 'me', '{}')",
            (family_id(1),),
        )
    beside_index_path(family_store_path).write_bytes(b"vectors")
    preview = preview_unadopt(family_store_path)
    assert preview.rows["td_access"] == 1
    assert preview.losses == (
        "1 change can no longer be undone",
        "1 access is lost, and what promotion would count",
        "2 sessions are lost",
        "the index file (7 bytes) is removed; `tierdeck embed` can make it again",
    )
    report = unadopt(family_store_path)
    assert objects(family_store_path) == before
    assert rows(family_store_path) == data
    assert pragmas(family_store_path) == settings
    assert report.removed["td_revision"] == 1
    assert report.index_removed
    assert not beside_index_path(family_store_path).exists()
    assert report.backup is not None
    assert rows(report.backup) == {**data, "sqlite_sequence": rows(report.backup)["sqlite_sequence"]}


def test_giving_back_takes_our_triggers_out_and_says_what_promotion_loses(family_store_path: Path) -> None:
    before, data = objects(family_store_path), rows(family_store_path)
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        override_tier(store, [family_id(1)], Tier.ARCHIVE, actor="mara", reason="out of date")
        undo_move(store, family_id(1), actor="mara")
    assert preview_unadopt(family_store_path).losses == (
        "2 rows of the promotion log are lost: who moved what and why, and what could be undone",
        "1 hold is lost, released ones included",
    )
    unadopt(family_store_path)
    assert objects(family_store_path) == before
    assert rows(family_store_path)["nodes"] == data["nodes"]
    moves = [row[-1] for row in rows(family_store_path)["evolution_log"] if row not in data["evolution_log"]]
    assert moves == ["override by mara: out of date", "undo by mara"], "what its program's own log says stays"


@pytest.mark.parametrize("while_open", [True, False])
def test_the_familys_statements_work_on_an_adopted_store_and_our_reader_sees_them(
    family_store_path: Path, while_open: bool
) -> None:
    if not while_open:
        adopt(family_store_path)
    with family_program(family_store_path) as program:
        if while_open:
            adopt(family_store_path)
        run(program, "INSERT INTO nodes (id, type, content) VALUES ('new', 'fact', 'a heron by the weir')")
        run(program, f"UPDATE nodes SET content = 'port 6000 now' WHERE id = '{family_id(1)}'")
        run(program, f"DELETE FROM nodes WHERE id = '{family_id(2)}'")
        assert "1" in run(program, "SELECT count(*) FROM content_fts WHERE content_fts MATCH 'heron'")
        with open_store(family_store_path) as store:
            matching = "SELECT node_id FROM content_fts WHERE content_fts MATCH 'heron OR 6000'"
            found = store.read(lambda conn: conn.execute(matching).fetchall())
    assert {row[0] for row in found} == {"new", family_id(1)}


def test_adopting_twice_and_giving_back_twice_change_nothing_more(family_store_path: Path) -> None:
    first = adopt(family_store_path)
    again = adopt(family_store_path)
    assert (first.was_adopted, again.was_adopted, again.tables) == (False, True, ())
    unadopt(family_store_path)
    data = family_store_path.read_bytes()
    second = unadopt(family_store_path)
    assert (second.backup, second.removed) == (None, {})
    assert family_store_path.read_bytes() == data
    assert not preview_unadopt(family_store_path).is_adopted


def test_a_store_can_be_adopted_again_after_it_was_given_back(family_store_path: Path) -> None:
    adopt(family_store_path)
    unadopt(family_store_path)
    assert not adopt(family_store_path).was_adopted
    with open_store(family_store_path) as store, store.writing() as conn:
        conn.execute(INSERT_NODE, ("x", "fact", None, "back again", "task", 0.5, None, "{}"))


def test_a_store_of_our_own_is_neither_adopted_nor_given_back(store: Store) -> None:
    for act in (adopt, unadopt, preview_unadopt):
        with pytest.raises(InvalidValueError, match="tierdeck made this store"):
            act(store.path)


def test_what_is_no_store_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match=r"no\.db"):
        adopt(tmp_path / "no.db")
    text = tmp_path / "notes.txt"
    text.write_text("hello " * 100)
    with pytest.raises(NotAStoreError, match=r"notes\.txt"):
        adopt(text)
    assert not (tmp_path / "no.db").exists()


def test_the_preview_leaves_the_folder_byte_for_byte(family_store_path: Path) -> None:
    adopt(family_store_path)
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    preview_unadopt(family_store_path)
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


def test_vectors_made_while_the_store_was_only_read_move_beside_it(family_store_path: Path) -> None:
    cached = cached_index_path(family_store_path)
    cached.parent.mkdir(parents=True)
    with closing(sqlite3.connect(cached)) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("CREATE TABLE kept (a)")
        conn.execute("INSERT INTO kept VALUES ('vector')")
        conn.commit()
    report = adopt(family_store_path)
    beside = beside_index_path(family_store_path)
    assert report.index == beside
    assert not cached.exists()
    with closing(sqlite3.connect(beside)) as conn:
        assert conn.execute("SELECT a FROM kept").fetchall() == [("vector",)]
