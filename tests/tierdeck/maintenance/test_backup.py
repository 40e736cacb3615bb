"""A backup is the store at one moment, says when it is no longer what was copied, and goes back in one step."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.family import family_id
from tierdeck import db
from tierdeck.errors import (
    ConflictError,
    DamagedStoreError,
    InvalidValueError,
    NotAStoreError,
    StoreBusyError,
    StoreNotFoundError,
)
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.backup import backup, list_backups, restore_backup
from tierdeck.maintenance.backup_check import BackupCheck, verify_backup
from tierdeck.maintenance.manifest import MANIFEST_KEY
from tierdeck.maintenance.purge import preview_purge
from tierdeck.model import NodeDraft
from tierdeck.store import Store, StoreKind, add_node, add_nodes, open_store

HOLD_OPEN = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1])
conn.execute("SELECT count(*) FROM nodes").fetchone()
print("open", flush=True)
sys.stdin.read()
"""


def fill(store: Store, count: int, text: str = "memory") -> None:
    with store.writing() as conn:
        conn.executemany(
            "INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)",
            [(f"{text}-{n}", f"{text} number {n}") for n in range(count)],
        )


def texts(path: Path) -> list[str]:
    with open_store(path, read_only=True) as store:
        return [
            str(r[0]) for r in store.read(lambda c: c.execute("SELECT content FROM nodes ORDER BY id").fetchall())
        ]


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_backup_holds_every_row_and_is_private(store: Store) -> None:
    fill(store, 50)
    report = backup(store)
    assert report.rows["nodes"] == 50
    assert report.has_digest
    assert report.path.stat().st_mode & 0o777 == 0o600
    assert list_backups(store.path) == [report.path]
    check = verify_backup(report.path)
    assert check.is_good
    assert (check.kind, check.rows, check.notes) == (StoreKind.OWN, report.rows, ())
    assert texts(report.path) == sorted(f"memory number {n}" for n in range(50))


def test_what_still_stands_in_the_log_is_in_the_backup(store: Store) -> None:
    fill(store, 3)
    assert Path(f"{store.path}-wal").stat().st_size > 0
    assert backup(store).rows["nodes"] == 3


def test_looking_through_a_backup_leaves_its_folder_alone(store: Store, tmp_path: Path) -> None:
    fill(store, 3)
    (tmp_path / "kept").mkdir()
    report = backup(store, tmp_path / "kept" / "copy.db")
    before = folder_bytes(tmp_path / "kept")
    verify_backup(report.path)
    assert folder_bytes(tmp_path / "kept") == before


def test_a_backup_never_takes_the_place_of_a_file(store: Store, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(InvalidValueError, match="it exists"):
        backup(store, taken)
    assert taken.read_text() == "mine"


def test_a_backup_taken_while_another_thread_writes_is_whole(store: Store) -> None:
    fill(store, 200)
    is_done = threading.Event()

    def write() -> None:
        with open_store(store.path) as other:
            for n in range(2_000):
                if is_done.is_set():
                    return
                fill(other, 1, f"late-{n}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        reports = [backup(store) for _ in range(3)]
    finally:
        is_done.set()
        writer.join()
    for report in reports:
        assert verify_backup(report.path).is_good


def test_a_flipped_bit_inside_a_text_is_noticed_though_sqlite_finds_the_file_sound(store: Store) -> None:
    fill(store, 50)
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET provenance = 'turn of the heron 7' WHERE id = 'memory-7'")
    report = backup(store)
    data = report.path.read_bytes()
    report.path.write_bytes(data.replace(b"turn of the heron 7", b"turn of the heron 8"))
    with closing(sqlite3.connect(report.path)) as conn:
        assert conn.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert verify_backup(report.path).problems == ("the content of its rows is no longer what was copied",)


def test_rows_that_went_missing_from_a_backup_are_named_with_both_counts(store: Store) -> None:
    fill(store, 50)
    report = backup(store)
    with closing(sqlite3.connect(report.path)) as conn:
        conn.execute("DELETE FROM nodes WHERE id = 'memory-1'")
        conn.commit()
    assert "nodes: 49 rows, 50 when it was made" in verify_backup(report.path).problems


@pytest.mark.case("D08")
def test_a_backup_with_a_destroyed_page_is_bad_and_is_not_restored(store: Store, tmp_path: Path) -> None:
    fill(store, 500)
    report = backup(store)
    data = bytearray(report.path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xa5" * 4096
    report.path.write_bytes(bytes(data))
    check = verify_backup(report.path)
    assert not check.is_good
    before = texts(store.path)
    with pytest.raises(DamagedStoreError, match="restore"):
        restore_backup(report.path, store.path)
    assert texts(store.path) == before


def test_a_foreign_store_is_backed_up_without_a_trace_in_its_folder(
    family_store_path: Path, tmp_path: Path
) -> None:
    before = folder_bytes(family_store_path.parent)
    with open_store(family_store_path) as store:
        report = backup(store, tmp_path / "copy.db")
    assert folder_bytes(family_store_path.parent) == before
    assert not report.has_digest
    check = verify_backup(report.path)
    assert check.is_good
    assert check.kind is StoreKind.FOREIGN
    assert "no digest" in check.notes[0]


def test_restoring_brings_back_the_store_and_keeps_what_stood_there(store: Store) -> None:
    fill(store, 5, "old")
    report = backup(store)
    fill(store, 5, "new")
    path = store.path
    store.close()
    done = restore_backup(report.path, path)
    assert len(texts(path)) == 5
    assert done.kept is not None
    assert len(texts(done.kept)) == 10
    with open_store(path) as opened:
        fill(opened, 1, "after")
        setting = "SELECT 1 FROM td_setting WHERE key = ?"
        assert opened.read(lambda c: c.execute(setting, (MANIFEST_KEY,)).fetchall()) == []
    assert verify_backup(report.path).is_good


def test_restoring_to_a_place_where_nothing_stands_makes_the_store(store: Store, tmp_path: Path) -> None:
    fill(store, 5)
    report = backup(store)
    done = restore_backup(report.path, tmp_path / "elsewhere.db")
    assert done.kept is None
    assert len(texts(tmp_path / "elsewhere.db")) == 5


def test_a_store_that_is_open_anywhere_is_not_replaced(store: Store) -> None:
    fill(store, 5)
    report = backup(store)
    with pytest.raises(StoreBusyError, match="another program has it open"):
        restore_backup(report.path, store.path)
    path = store.path
    store.close()
    command = [sys.executable, "-c", HOLD_OPEN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        with pytest.raises(StoreBusyError, match="another program has it open"):
            restore_backup(report.path, path)
        program.communicate()
    names = {file.name for file in path.parent.iterdir()}
    assert names == {path.name, report.path.name}
    restore_backup(report.path, path)


@pytest.mark.case("D08")
@pytest.mark.parametrize("damage", ["middle", "empty", "text", "header"])
def test_a_damaged_store_is_replaced_and_kept_byte_for_byte(store: Store, damage: str) -> None:
    fill(store, 500)
    report = backup(store)
    path = store.path
    store.close()
    data = bytearray(path.read_bytes())
    if damage == "middle":
        data[8192 : 8192 + 40_960] = b"\xa5" * 40_960
    elif damage == "header":
        data[:100] = b"\0" * 100
    broken = {"empty": b"", "text": b"not a database at all\n" * 50}.get(damage, bytes(data))
    path.write_bytes(broken)
    done = restore_backup(report.path, path)
    assert len(texts(path)) == 500
    assert done.kept is not None
    assert done.kept.read_bytes() == broken


def test_a_log_that_a_crash_left_is_kept_and_never_meets_the_restored_file(family_store_path: Path) -> None:
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        report = backup(store)
    crash = (
        "import sqlite3, sys, os\nc = sqlite3.connect(sys.argv[1])\nc.execute(sys.argv[2])\nc.commit()\nos._exit(0)"
    )
    statement = "INSERT INTO nodes (id, type, content) VALUES ('crashed', 'fact', 'written before the crash')"
    subprocess.run([sys.executable, "-c", crash, str(family_store_path), statement], check=True)
    assert Path(f"{family_store_path}-wal").stat().st_size > 0
    done = restore_backup(report.path, family_store_path)
    assert "written before the crash" not in texts(family_store_path)
    assert done.kept is not None
    assert "written before the crash" in texts(done.kept)
    with closing(sqlite3.connect(family_store_path)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert conn.execute("SELECT content FROM nodes WHERE id = ?", (family_id(1),)).fetchone() is not None


def test_what_is_no_backup_is_refused_and_the_target_stays(store: Store, tmp_path: Path) -> None:
    fill(store, 2)
    text = tmp_path / "notes.txt"
    text.write_text("hello " * 200)
    with pytest.raises(NotAStoreError, match=r"notes\.txt"):
        restore_backup(text, store.path)
    with pytest.raises(StoreNotFoundError, match=r"no\.db"):
        restore_backup(tmp_path / "no.db", store.path)
    with pytest.raises(ConflictError, match="the store itself"):
        restore_backup(store.path, store.path)
    assert len(texts(store.path)) == 2


def logs_of(path: Path) -> list[Path]:
    return [file for end in db.LOG_SUFFIXES if (file := Path(f"{path}{end}")).exists()]


def test_a_backup_has_its_name_only_when_it_is_whole(store: Store) -> None:
    """A copy that a crash cuts short must not stand there as the newest backup."""
    add_nodes(store, [NodeDraft(f"memory {n} " + "x" * 4_000) for n in range(1_000)])
    verdicts: list[BackupCheck] = []
    is_done = threading.Event()

    def look() -> None:
        while not verdicts and not is_done.is_set():
            verdicts.extend(verify_backup(found) for found in list_backups(store.path))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        made = backup(store).path
    finally:
        is_done.set()
        watcher.join()
    assert [check.problems for check in verdicts] in ([], [()])
    assert sorted(made.parent.iterdir()) == sorted([made, store.path, *logs_of(store.path)])


def test_what_a_crash_left_of_a_copy_is_no_backup_and_is_named_by_a_purge(store: Store) -> None:
    node_id = add_node(store, NodeDraft("a leaked key")).id
    whole = backup(store).path
    left = [whole.with_name(f"{whole.name}{end}") for end in (".x1.part", ".x1.part-wal", "-journal")]
    left.append(store.path.with_name(f".{store.path.name}.restoring-17"))
    for file in left:
        file.write_bytes(b"a leaked")
    assert list_backups(store.path) == [whole]
    assert str(whole) in str(db.damaged(store.path, "read", "malformed").hint)
    assert set(preview_purge(store, [node_id]).backups) == {whole, *left}
