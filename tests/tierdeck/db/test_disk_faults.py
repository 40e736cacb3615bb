"""What a disk error comes from is said, and that a store can be read all the same."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tierdeck import db
from tierdeck.db.disk_faults import disk_fault
from tierdeck.errors import StoreError, TierdeckError
from tierdeck.index.file import index_errors
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_node, open_store

# A process whose files may not grow gets from its disk what a full one gives, but for the number.
_UNABLE = """
import resource, sys
from pathlib import Path
from tierdeck.store import count_nodes, open_store
from tierdeck.model import NodeFilter
from tierdeck.errors import TierdeckError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
try:
    with open_store(Path(sys.argv[1]), read_only=sys.argv[2] == "read-only") as store:
        print(count_nodes(store, NodeFilter()))
except TierdeckError as e:
    print(f"{e.message}|{e.hint}")
"""


class _ReadError(apsw.IOError):
    """As of a bad sector."""

    extendedresult = apsw.SQLITE_IOERR_READ


@pytest.fixture
def path(store: Store) -> Path:
    """A store with one memory and nothing beside it."""
    add_node(store, NodeDraft("one"))
    store.close()
    assert not Path(f"{store.path}-shm").exists()
    return store.path


def write_error(path: Path) -> apsw.Error:
    """What SQLite really raises where the shared memory beside a file can't grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with closing(apsw.Connection(str(path))) as conn:
            conn.execute("SELECT * FROM nodes").fetchall()
    except apsw.Error as e:
        return e
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    raise AssertionError("the shared memory could grow")


def in_a_process_that_can_not_write(path: Path, how: str) -> str:
    done = subprocess.run([sys.executable, "-c", _UNABLE, path, how], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def without_room(monkeypatch: pytest.MonkeyPatch, *, blocks: int = 0, files: int = 100) -> None:
    """Let the system say of every disk how many blocks of 4 KiB and how many files it has left."""
    left = os.statvfs_result((4096, 4096, 1_000, blocks, blocks, 1_000, files, files, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda folder: left)


def without_room_in(monkeypatch: pytest.MonkeyPatch, full: Path) -> None:
    """Let the system say that the disk of this folder is full, and that any other has room."""
    real = os.statvfs
    none = os.statvfs_result((4096, 4096, 1_000, 0, 0, 1_000, 100, 100, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda folder: none if Path(folder) == full else real(folder))


def translated(path: Path, error: apsw.Error, doing: str) -> TierdeckError:
    with pytest.raises(StoreError) as caught, db.driver_errors(path, doing):
        raise error
    return caught.value


def test_a_store_that_can_not_be_opened_for_want_of_room_says_that_it_can_be_read(path: Path) -> None:
    said = in_a_process_that_can_not_write(path, "as-ever")
    assert said == (
        f"open {path}: the disk takes no more (disk I/O error, SQLITE_IOERR_SHMSIZE); nothing was changed|"
        "see whether a quota or a limit on the size of files is reached; `--read-only` reads the store meanwhile"
    )
    assert in_a_process_that_can_not_write(path, "read-only") == "1"


def test_a_full_disk_is_named_as_such_whatever_sqlite_calls_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = write_error(path)
    assert isinstance(error, apsw.IOError)
    without_room(monkeypatch, blocks=15)  # 60 KiB: less than is asked for at once
    opened = translated(path, error, "open")
    assert opened.message == f"open {path}: the disk is full; nothing was changed"
    assert opened.hint == "make room and try again; `--read-only` reads the store meanwhile"
    assert translated(path, error, "write").hint == "make room and try again"
    with pytest.raises(TierdeckError, match=r"use index .*: the disk is full$") as caught, index_errors(path):
        raise error
    assert caught.value.hint == "make room and try again; search by word works meanwhile"


def test_a_disk_that_takes_no_more_files_is_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_room(monkeypatch, blocks=900, files=0)
    error = translated(path, write_error(path), "open")
    assert "the disk is full" in error.message


def test_a_disk_with_room_is_not_called_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_room(monkeypatch, blocks=16)
    assert "the disk takes no more" in translated(path, write_error(path), "open").message


def test_an_error_of_reading_is_no_matter_of_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_room(monkeypatch)
    said = translated(path, _ReadError("disk I/O error"), "read")
    assert (said.message, said.hint) == (
        f"read {path}: the disk gave an error (disk I/O error, SQLITE_IOERR_READ)",
        None,
    )


def test_what_can_not_be_opened_on_a_full_disk_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(apsw.CantOpenError) as caught:
        apsw.Connection(f"{path.parent}/nowhere/x.db")
    without_room(monkeypatch)
    opened = translated(path, caught.value, "open")
    assert "the disk is full" in opened.message
    assert opened.hint == "make room and try again; `--read-only` reads the store meanwhile"
    assert translated(path, caught.value, "write").hint == "make room and try again"


def test_room_is_asked_of_the_disk_that_the_file_itself_is_on(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = write_error(path)
    links = tmp_path / "links"
    links.mkdir()
    link = links / "memory.db"
    link.symlink_to(path)
    with monkeypatch.context() as patch:
        without_room_in(patch, path.parent.resolve())
        assert "the disk is full" in translated(link, error, "open").message
    with monkeypatch.context() as patch:
        without_room_in(patch, links.resolve())
        assert "the disk takes no more" in translated(link, error, "open").message


def test_links_that_go_round_in_a_circle_are_no_matter_of_room(tmp_path: Path) -> None:
    link = tmp_path / "memory.db"
    link.symlink_to(link)
    with pytest.raises(apsw.CantOpenError) as caught:
        apsw.Connection(str(link))
    assert disk_fault(caught.value, link) is None


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room and try again"),
        (errno.EDQUOT, "see whether a quota or a limit on the size of files is reached"),
        (errno.EFBIG, "see whether a quota or a limit on the size of files is reached"),
    ],
    ids=["full", "quota", "file size"],
)
def test_want_of_room_that_the_system_tells_of_has_its_remedy(path: Path, number: int, remedy: str) -> None:
    fault = disk_fault(OSError(number, os.strerror(number)), path)
    assert fault is not None
    assert (fault.why, fault.remedy) == (os.strerror(number), remedy)


def test_what_the_system_refuses_for_any_other_cause_is_none_of_the_disk(path: Path) -> None:
    assert disk_fault(PermissionError(errno.EACCES, "Permission denied"), path) is None


def test_other_errors_are_none_of_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_room(monkeypatch)
    assert disk_fault(apsw.BusyError("database is locked"), path) is None
    with open_store(path) as store, pytest.raises(StoreError, match="no such table"):
        store.read(lambda conn: conn.execute("SELECT * FROM nowhere").fetchall())
