"""Which file is opened as a store, and what is said of one that can't be."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.folder_state import folder_state
from tierdeck.errors import (
    DamagedStoreError,
    InvalidValueError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreError,
    StoreNotFoundError,
)
from tierdeck.model import NodeDraft, NodeFilter
from tierdeck.store import (
    ReadOnlyReason,
    Store,
    StoreKind,
    add_node,
    add_nodes,
    count_nodes,
    default_path,
    open_store,
)


@pytest.mark.spec("SPEC-02.01")
def test_a_store_is_one_sqlite_file_that_any_sqlite_opens(store: Store) -> None:
    node = add_node(store, NodeDraft("kept in SQLite"))
    store.close()
    assert [path.name for path in store.path.parent.iterdir()] == ["memory.db"]
    with closing(sqlite3.connect(store.path)) as conn:
        assert conn.execute("SELECT id, content FROM nodes").fetchall() == [(node.id, "kept in SQLite")]
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.spec("SPEC-02.02")
def test_the_default_store_is_the_familys(isolated_environment: Path) -> None:
    assert default_path() == isolated_environment / ".claude" / "rlm-memory.db"


@pytest.mark.spec("SPEC-02.03")
def test_a_variable_names_another_store(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLM_MEMORY_DB", "~/elsewhere/m.db")
    assert default_path() == isolated_environment / "elsewhere" / "m.db"
    monkeypatch.setenv("RLM_MEMORY_DB", "")
    assert default_path().name == "rlm-memory.db"


@pytest.mark.spec("SPEC-02.04")
def test_a_store_of_ours_is_in_wal_mode(store: Store) -> None:
    assert store.read(lambda conn: conn.pragma("journal_mode")) == "wal"


def test_a_new_store_and_its_folders_are_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "memory.db"
    open_store(path, create=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_store_is_not_made_unless_asked(tmp_path: Path) -> None:
    for create, read_only in ((False, False), (False, True), (True, True)):
        with pytest.raises(StoreNotFoundError, match="no such file"):
            open_store(tmp_path / "folder" / "memory.db", create=create, read_only=read_only)
    assert list(tmp_path.iterdir()) == []


def test_another_programs_store_opens_read_only_and_stays_as_it_was(family_store_path: Path) -> None:
    before = folder_state(family_store_path.parent)
    with open_store(family_store_path) as store:
        assert (store.kind, store.read_only_reason) == (StoreKind.FOREIGN, ReadOnlyReason.FOREIGN)
        assert count_nodes(store, NodeFilter()) == 7
        with pytest.raises(ReadOnlyStoreError, match="not adopted") as caught:
            add_node(store, NodeDraft("x"))
        assert "adopt" in str(caught.value.hint)
    assert folder_state(family_store_path.parent) == before


def test_a_store_of_ours_opened_for_reading_stays_as_it_was(store: Store) -> None:
    add_node(store, NodeDraft("x"))
    before = folder_state(store.path.parent)
    with open_store(store.path, read_only=True) as reader:
        assert count_nodes(reader, NodeFilter()) == 1
        with pytest.raises(ReadOnlyStoreError, match="opened for reading"):
            add_node(reader, NodeDraft("y"))
    assert folder_state(store.path.parent) == before


def test_a_reader_without_trace_sees_what_is_written_beside_it(store: Store) -> None:
    with open_store(store.path, read_only=True) as reader:
        for number in range(5):
            version = reader.data_version()
            add_node(store, NodeDraft(f"memory {number}"))
            assert reader.data_version() != version
            assert count_nodes(reader, NodeFilter()) == number + 1


def test_an_sqlite_file_without_tables_becomes_a_store_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA user_version = 1")
    with pytest.raises(NotAStoreError, match="without any table"):
        open_store(path)
    with open_store(path, create=True) as store:
        assert store.kind is StoreKind.OWN


@pytest.mark.case("D08")
@pytest.mark.parametrize("create", [False, True])
def test_a_folder_a_device_and_a_loop_of_links_are_named_as_such(tmp_path: Path, create: bool) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, says in (
        (tmp_path, "folder"),
        (Path("/dev/null"), "device"),
        (pipe, "pipe"),
        (loop, "symbolic links"),
        (pipe / "memory.db", "Not a directory"),
    ):
        with pytest.raises(StoreError, match=says) as caught:
            open_store(path, create=create)
        assert str(path) in caught.value.message


@pytest.mark.case("D08")
@pytest.mark.parametrize("name", ["a\0b", "half \ud800", "~nobody-of-that-name/x.db"])
def test_what_is_no_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match="not a path"):
        open_store(name, create=True)


@pytest.mark.case("D08")
def test_an_empty_file_is_named_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with pytest.raises(DamagedStoreError, match="0 bytes") as caught:
        open_store(path)
    assert str(path) in caught.value.message
    assert path.stat().st_size == 0


@pytest.mark.case("D08")
@pytest.mark.parametrize(
    "text", ["x", "not a database\n" * 1000, "SQLite format 3\0" + "x" * 5000], ids=["short", "long", "header"]
)
def test_a_text_file_is_named_as_no_database(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    for create in (False, True):
        with pytest.raises(NotAStoreError, match="not an SQLite file"):
            open_store(path, create=create)
    assert path.read_text() == text
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.case("D08")
def test_a_file_cut_short_is_named_as_damaged(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"memory {n} " + "x" * 500) for n in range(300)])
    store.close()
    os.truncate(store.path, 40_000)
    with pytest.raises(DamagedStoreError):
        open_store(store.path)


def damage_of(path: Path) -> DamagedStoreError | None:
    """The error that reading all of a store of 200 memories ends in; None when they are all there."""

    def look(conn: apsw.Connection) -> int:
        conn.execute("SELECT * FROM content_fts WHERE content_fts MATCH 'memory'").fetchall()
        return len(conn.execute("SELECT * FROM nodes ORDER BY id").fetchall())

    try:
        with open_store(path) as store:
            assert store.read(look) == 200
    except DamagedStoreError as e:
        return e
    return None


@pytest.mark.case("D08")
def test_four_kilobytes_overwritten_anywhere_are_told_as_damage_or_harm_nothing(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"memory {n} " + "x" * 500) for n in range(200)])
    store.close()
    backup = store.path.with_name("memory.db.backup-1")
    backup.write_bytes(store.path.read_bytes())
    whole = store.path.read_bytes()
    found = 0
    for page in range(4096, len(whole), 4096):
        store.path.write_bytes(whole[:page] + b"\xa5" * 4096 + whole[page + 4096 :])
        error = damage_of(store.path)
        if error is not None:
            found += 1
            assert str(store.path) in error.message
            assert str(backup) in str(error.hint)
            assert "--salvage" in str(error.hint)
    assert found > len(whole) / 4096 / 2


# As root every file may be read and written, so the child gives that up first.
_AS_SOMEBODY_ELSE = """
import os, sys
from tierdeck.errors import StoreError
from tierdeck.model import NodeDraft
from tierdeck.store import add_node, count_nodes, open_store
from tierdeck.model import NodeFilter
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with open_store(sys.argv[1]) as store:
        print(store.read_only_reason, count_nodes(store, NodeFilter()))
except StoreError as e:
    print(e.message)
"""


@pytest.fixture
def visible_folder() -> Path:
    """A folder that another user may enter, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="tierdeck-test-"))
    folder.chmod(0o755)
    return folder


def as_somebody_else(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _AS_SOMEBODY_ELSE, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.case("D08")
def test_a_file_that_may_not_be_read_is_named_as_such(visible_folder: Path) -> None:
    path = visible_folder / "memory.db"
    open_store(path, create=True).close()
    path.chmod(0o000)
    assert as_somebody_else(path) == f"open {path}: you may not read it"


def test_a_store_that_may_not_be_written_opens_read_only_and_says_why(visible_folder: Path) -> None:
    path = visible_folder / "memory.db"
    with open_store(path, create=True) as store:
        add_node(store, NodeDraft("x"))
    path.chmod(0o444)
    visible_folder.chmod(0o555)
    before = folder_state(visible_folder)
    assert as_somebody_else(path) == "you may not write the file or its folder 1"
    assert folder_state(visible_folder) == before
    visible_folder.chmod(0o755)
