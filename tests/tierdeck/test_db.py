"""Opening SQLite: reading somebody else's file without a trace, and what the driver's errors become."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.folder_state import folder_state
from tests.other_program import OtherProgram, other_program
from tierdeck import db
from tierdeck.errors import (
    DamagedStoreError,
    InvalidValueError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreBusyError,
    StoreError,
    StoreNotFoundError,
    TierdeckError,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    return folder / "memory.db"


@pytest.fixture
def owner(path: Path) -> Iterator[OtherProgram]:
    """The file's owner: WAL mode, and a table `t` with the values 1 and 2."""
    with other_program(path) as program:
        program.do("conn.execute('PRAGMA journal_mode=WAL').fetchall()")
        program.do("conn.execute('CREATE TABLE t (x)'); conn.execute('INSERT INTO t VALUES (1), (2)')")
        yield program


def values(conn: apsw.Connection) -> list[object]:
    return [row[0] for row in conn.execute("SELECT x FROM t ORDER BY x")]


def read_leaving_no_trace(path: Path) -> list[object]:
    before = folder_state(path.parent)
    with closing(db.open_untouched(path)) as conn:
        found = values(conn)
    assert folder_state(path.parent) == before
    return found


def test_a_live_wal_is_read_and_nothing_in_the_folder_changes(path: Path, owner: OtherProgram) -> None:
    assert path.with_name("memory.db-wal").stat().st_size > 0
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_transaction_under_way_in_a_live_wal_is_not_seen(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.execute('BEGIN IMMEDIATE'); conn.execute('INSERT INTO t VALUES (3)')")
    assert read_leaving_no_trace(path) == [1, 2]
    owner.do("conn.execute('COMMIT')")
    assert read_leaving_no_trace(path) == [1, 2, 3]


def test_a_wal_left_by_a_killed_owner_is_read(path: Path, owner: OtherProgram) -> None:
    owner.kill()
    assert path.with_name("memory.db-shm").exists()
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_wal_without_its_shared_memory_is_read_from_a_copy(path: Path, owner: OtherProgram) -> None:
    owner.kill()
    path.with_name("memory.db-shm").unlink()
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_wal_whose_head_was_destroyed_holds_nothing_any_more(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()")
    owner.do("conn.execute('INSERT INTO t VALUES (3)')")
    owner.kill()
    with path.with_name("memory.db-wal").open("r+b") as wal:
        wal.write(b"x" * 32)
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_file_whose_owner_went_properly_is_read(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    assert [p.name for p in path.parent.iterdir()] == ["memory.db"]
    assert read_leaving_no_trace(path) == [1, 2]


def test_an_empty_wal_is_read_past(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()")
    assert path.with_name("memory.db-wal").stat().st_size == 0
    assert read_leaving_no_trace(path) == [1, 2]


def test_an_empty_wal_without_shared_memory_is_read_past(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    path.with_name("memory.db-wal").touch()
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_wal_that_holds_its_header_alone_is_read_past(path: Path, owner: OtherProgram) -> None:
    header = path.with_name("memory.db-wal").read_bytes()[:32]
    owner.do("conn.close()")
    path.with_name("memory.db-wal").write_bytes(header)
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_file_that_says_it_was_written_tomorrow_is_read(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    with closing(db.open_untouched(path)) as conn:
        assert values(conn) == [1, 2]
        assert conn.is_still_true()


@pytest.fixture
def rollback_owner(path: Path) -> Iterator[OtherProgram]:
    """An owner that uses a rollback journal; its cache is so small that a transaction reaches the file."""
    with other_program(path) as program:
        program.do("conn.execute('CREATE TABLE t (x)'); conn.execute('INSERT INTO t VALUES (1), (2)')")
        program.do("conn.execute('CREATE TABLE filler (x)'); conn.execute('PRAGMA cache_size=5').fetchall()")
        yield program


_FILL = "conn.executemany('INSERT INTO filler VALUES (?)', [('x' * 3000,) for _ in range(200)])"


def test_the_journal_of_a_killed_transaction_is_rolled_back_in_a_copy(
    path: Path, rollback_owner: OtherProgram
) -> None:
    size = path.stat().st_size
    rollback_owner.do(f"conn.execute('BEGIN IMMEDIATE'); conn.execute('UPDATE t SET x = 9'); {_FILL}")
    rollback_owner.kill()
    assert path.stat().st_size > size, "the transaction has reached the file"
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_rollback_transaction_under_way_is_not_seen(path: Path, rollback_owner: OtherProgram) -> None:
    rollback_owner.do("conn.execute('BEGIN IMMEDIATE'); conn.execute('UPDATE t SET x = 9')")
    assert path.with_name("memory.db-journal").exists()
    assert read_leaving_no_trace(path) == [1, 2]


def test_a_file_that_its_owner_holds_alone_is_busy(path: Path, rollback_owner: OtherProgram) -> None:
    rollback_owner.do("conn.execute('BEGIN EXCLUSIVE')")
    with pytest.raises(StoreBusyError, match=r"waited 0\.05 s"):
        db.open_untouched(path, timeout_ms=50)


def test_a_finished_journal_that_is_kept_is_read_past(path: Path, rollback_owner: OtherProgram) -> None:
    rollback_owner.do("conn.execute('PRAGMA journal_mode=PERSIST').fetchall()")
    rollback_owner.do("conn.execute('UPDATE t SET x = 7 WHERE x = 2')")
    assert path.with_name("memory.db-journal").stat().st_size > 0
    assert read_leaving_no_trace(path) == [1, 7]


def test_a_link_to_a_file_is_read_with_the_wal_beside_the_file(
    path: Path, owner: OtherProgram, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    before = folder_state(tmp_path)
    with closing(db.open_untouched(link)) as conn:
        assert values(conn) == [1, 2]
    assert folder_state(tmp_path) == before


def test_a_name_that_means_something_in_a_uri_is_only_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=memory&x=%41 #1.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
    before = folder_state(tmp_path)
    with closing(db.open_untouched(path)) as reader:
        assert values(reader) == [1, 2]
    assert folder_state(tmp_path) == before


def test_two_states_read_while_the_owner_writes_are_never_mixed(path: Path, owner: OtherProgram) -> None:
    """The owner moves one unit between two rows, again and again, checkpoints and starts its WAL anew."""
    owner.begin(
        "for i in range(3000):\n"
        "    conn.execute('BEGIN IMMEDIATE')\n"
        "    conn.execute('UPDATE t SET x = x - 1 WHERE rowid = 1')\n"
        "    conn.execute('UPDATE t SET x = x + 1 WHERE rowid = 2')\n"
        "    conn.execute('COMMIT')\n"
        "    if i % 100 == 0: conn.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()\n"
    )
    sums = set()
    kept = 0
    while kept < 300:
        with closing(db.open_untouched(path)) as conn:
            try:
                found = values(conn)
            except apsw.ReadOnlyError as e:
                if db.is_recovering(e):  # its owner starts the WAL anew just now
                    continue
                raise
            if conn.is_still_true():
                kept += 1
                sums.add(sum(int(str(x)) for x in found))
    owner.wait()
    assert sums == {3}


@pytest.mark.parametrize(
    "code", [apsw.SQLITE_READONLY_RECOVERY, apsw.SQLITE_READONLY_CANTLOCK, apsw.SQLITE_READONLY_CANTINIT]
)
def test_a_wal_that_is_just_being_set_up_is_a_file_that_is_busy(path: Path, code: int) -> None:
    """A moment later it can be read: "it can only be read" would send the operator to look at its permissions."""
    with pytest.raises(StoreBusyError, match="setting up its log"), db.driver_errors(path, "read"):
        raise apsw.exception_for(code)
    with pytest.raises(ReadOnlyStoreError), db.driver_errors(path, "read"):
        raise apsw.exception_for(apsw.SQLITE_READONLY_DBMOVED)


def test_reading_while_the_owner_comes_and_goes_leaves_no_file_of_ours(path: Path, owner: OtherProgram) -> None:
    """A reader that finds a WAL which the owner tidies away in that moment would make an empty one anew."""
    owner.begin(
        "conn.close()\n"
        "for i in range(300):\n"
        "    conn = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)\n"
        "    conn.execute('UPDATE t SET x = 3 - x')\n"
        "    conn.close()\n"
    )
    wal, shm = path.with_name("memory.db-wal"), path.with_name("memory.db-shm")
    for _ in range(600):
        with closing(db.open_untouched(path)) as conn:
            found = values(conn)
            assert found == [1, 2] or not conn.is_still_true()
    owner.wait()
    assert wal.exists() == shm.exists(), "a WAL that the owner did not make"


def test_a_reading_is_refused_when_the_file_was_written_beneath_it(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()")
    owner.do("time.sleep(0.05)")
    with closing(db.open_untouched(path)) as conn:
        assert values(conn) == [1, 2]
        assert conn.is_still_true()
        owner.do("conn.execute('INSERT INTO t VALUES (3)')")
        assert not conn.is_still_true()


def test_closing_one_reading_leaves_the_lock_of_another(path: Path, rollback_owner: OtherProgram) -> None:
    """POSIX locks are a process's: a descriptor of the file that is closed anywhere would drop them all."""
    with closing(db.open_untouched(path)) as first:
        with closing(db.open_untouched(path)) as second:
            assert values(second) == [1, 2]
        rollback_owner.do(
            "conn.execute('PRAGMA busy_timeout=0').fetchall()\n"
            "try:\n"
            "    conn.execute('INSERT INTO t VALUES (3)')\n"
            "    raise SystemExit('it wrote under our lock')\n"
            "except sqlite3.OperationalError as e: assert 'locked' in str(e)\n"
        )
        assert values(first) == [1, 2]
    rollback_owner.do("conn.execute('INSERT INTO t VALUES (3)')")


@pytest.mark.parametrize("written_by", ["wal", "delete"])
def test_asking_how_a_file_is_written_leaves_the_locks_on_it(path: Path, written_by: str) -> None:
    """A store that is open here is not another program's to take, though its header was looked at meanwhile."""
    with other_program(path) as owner, closing(db.open_writer(path)) as conn:
        conn.pragma("journal_mode", written_by)
        conn.execute("CREATE TABLE t (a)")
        conn.execute("BEGIN")
        assert conn.execute("SELECT count(*) FROM t").get == 0
        assert db.asks_for_wal(path) is (written_by == "wal")
        owner.do(
            "conn.execute('PRAGMA busy_timeout=0').fetchall()\n"
            "conn.execute('PRAGMA locking_mode=exclusive').fetchall()\n"
            "try:\n"
            "    conn.execute('INSERT INTO t VALUES (1)')\n"
            "    raise SystemExit('it took the file that is open here')\n"
            "except sqlite3.OperationalError as e: assert 'locked' in str(e)\n"
        )


@pytest.mark.parametrize("content", [None, b"", b"abc"])
def test_what_is_no_database_asks_for_no_log(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.write_bytes(content)
    assert not db.asks_for_wal(path)
    assert not db.asks_for_wal(path.parent)


def test_a_wal_file_in_a_folder_that_may_not_be_written_is_read(path: Path, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert read_leaving_no_trace(path) == [1, 2]
    finally:
        path.parent.chmod(0o755)


@pytest.mark.spec("SPEC-02.04")
def test_a_writer_brings_its_file_to_wal_mode_and_waits_five_seconds(path: Path) -> None:
    with closing(db.open_writer(path)) as conn:
        assert db.set_journal_mode(conn, path) == "wal"
        assert conn.pragma("busy_timeout") == 5_000
        assert conn.pragma("foreign_keys") == 1


def test_a_writer_that_reads_first_waits_for_the_lock(path: Path, owner: OtherProgram) -> None:
    """A deferred transaction would fail at once here, whatever the timeout."""
    with closing(db.open_writer(path)) as conn:
        owner.do("conn.execute('BEGIN IMMEDIATE'); conn.execute('INSERT INTO t VALUES (3)')")
        owner.begin("time.sleep(0.3); conn.execute('COMMIT')")
        with conn:
            assert values(conn) == [1, 2, 3]
            conn.execute("INSERT INTO t VALUES (4)")
        owner.wait()


def test_a_reader_of_ours_can_not_write(path: Path, owner: OtherProgram) -> None:
    with (
        closing(db.open_reader(path)) as conn,
        pytest.raises(ReadOnlyStoreError),
        db.driver_errors(path, "write"),
    ):
        conn.execute("INSERT INTO t VALUES (3)")


def _locked(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as one, closing(apsw.Connection(str(path))) as two:
        one.execute("BEGIN EXCLUSIVE")
        two.execute("SELECT * FROM t").fetchall()


def _full(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as conn:
        conn.pragma("max_page_count", 3)
        conn.execute("INSERT INTO t VALUES (zeroblob(100000))")


def _sql(text: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with closing(apsw.Connection(str(path))) as conn:
            conn.execute(text).fetchall()

    return run


def _bind(value: str | int) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with closing(apsw.Connection(str(path))) as conn:
            conn.execute("SELECT ?", (value,)).fetchall()

    return run


@pytest.mark.parametrize(
    ("fault", "becomes", "says"),
    [
        (_locked, StoreBusyError, "another program holds it"),
        (_full, StoreError, "the disk is full"),
        (_sql("SELECT nowhere FROM t"), StoreError, "no such column: nowhere"),
        (_sql("SELECT * FROM nowhere"), StoreError, "no such table: nowhere"),
        (_sql("SELEC 1"), StoreError, "syntax error"),
        (_sql("INSERT INTO u VALUES (1), (1)"), StoreError, "UNIQUE constraint failed"),
        (_sql("SELECT CAST(x'ff' AS TEXT)"), StoreError, "not UTF-8"),
        (_sql("SELECT zeroblob(3000000000)"), StoreError, "too big"),
        (_bind("half \ud800"), InvalidValueError, "half a character"),
        (_bind(2**64), InvalidValueError, "beyond 64 bits"),
        (_sql("ATTACH 'file:/nowhere/x.db?mode=ro' AS x"), StoreError, "can't be opened"),
    ],
)
def test_what_the_driver_raises_becomes_an_error_that_names_file_and_cause(
    path: Path, fault: Callable[[Path], None], becomes: type[TierdeckError], says: str
) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript("CREATE TABLE t (x); CREATE TABLE u (x UNIQUE)")
    with pytest.raises(becomes, match=says) as caught, db.driver_errors(path, "read"):
        fault(path)
    assert str(path) in caught.value.message
    assert isinstance(caught.value.__cause__, apsw.Error | ValueError | OverflowError)


def test_a_file_that_is_no_database_is_named_as_such(path: Path) -> None:
    path.write_text("not a database, but long enough to have a header of a hundred bytes" * 20)
    with pytest.raises(NotAStoreError, match="not an SQLite file"):
        db.open_untouched(path)
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with closing(db.open_untouched(path)) as conn, pytest.raises(NotAStoreError), db.driver_errors(path, "read"):
        values(conn)


def test_a_missing_file_is_named_as_such(path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="no such file"):
        db.open_untouched(path)


def test_the_error_of_a_damaged_file_points_at_its_newest_backup(path: Path) -> None:
    error = db.damaged(path, "read", "malformed")
    assert "no backup stands beside it" in str(error.hint)
    older = path.with_name("memory.db.backup-2")
    newer = path.with_name("memory.db.backup-1")
    for number, backup in enumerate((older, newer)):
        backup.touch()
        os.utime(backup, (1_000 + number, 1_000 + number))
    path.with_name("other.db.backup-3").touch()
    error = db.damaged(path, "read", "malformed")
    assert isinstance(error, DamagedStoreError)
    assert str(newer) in str(error.hint)
    assert "--salvage" in str(error.hint)


def test_a_copy_is_checked_private_and_of_one_file(path: Path, owner: OtherProgram, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with closing(db.open_untouched(path)) as conn:
        db.copy_database(conn, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert read_leaving_no_trace(target) == [1, 2]
    with closing(db.open_untouched(path)) as conn, pytest.raises(StoreError, match="exists"):
        db.copy_database(conn, target)


def test_a_copy_that_fails_leaves_no_file(path: Path, owner: OtherProgram, tmp_path: Path) -> None:
    owner.do("conn.close()")
    data = bytearray(path.read_bytes())
    data[4096:4600] = b"\xff" * 504
    path.write_bytes(data)
    target = tmp_path / "copy.db"
    with closing(db.open_untouched(path)) as conn, pytest.raises(DamagedStoreError):
        db.copy_database(conn, target)
    assert not target.exists()


def test_sqlite_vec_is_loaded_without_its_python_package(path: Path) -> None:
    with closing(apsw.Connection(":memory:")) as conn:
        db.load_vec(conn)
        assert conn.execute("SELECT vec_version()").fetchall() == [("v0.1.9",)]


def test_reading_a_copy_leaves_nothing_in_the_temporary_folder(
    path: Path, owner: OtherProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.kill()
    path.with_name("memory.db-shm").unlink()
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with closing(db.open_untouched(path)) as conn:
        assert conn.how == "copy"
        assert list(place.iterdir()) == []
        assert values(conn) == [1, 2]
    shutil.rmtree(place)
