"""Which index files of the cache `doctor` takes for left behind: it says that they can be deleted."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.file import open_for_reading, open_for_writing, set_setting, source_of
from tierdeck.index.path import cache_folder, index_path
from tierdeck.maintenance.health import Check
from tierdeck.maintenance.index_checks import check_cache
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, open_store

LOCAL = EmbeddingSettings(provider="local")


@pytest.fixture
def copied_path(store: Store, tmp_path: Path) -> Path:
    """A store that was copied to another folder together with its index."""
    add_nodes(store, [NodeDraft("one memory"), NodeDraft("another one")])
    run_indexer(store, make_embedder(LOCAL), LOCAL)
    path = store.path
    store.close()
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in (path, Path(f"{path}-index")):
        shutil.copy2(file, folder)
    return folder / path.name


def read_index(path: Path) -> Path:
    """Open a store's index as a search does that only reads; where it lies."""
    with open_store(path, read_only=True) as reading:
        conn = open_for_reading(reading)
        assert conn is not None
        conn.close()
        return index_path(reading)


def looked_at_from(path: Path) -> Check:
    with open_store(path, read_only=True) as reading:
        return check_cache(reading)


def test_the_index_of_a_copied_store_says_that_it_is_of_the_copy(copied_path: Path) -> None:
    assert source_of(read_index(copied_path)) == copied_path.resolve()


def test_the_index_in_use_of_a_copied_store_is_none_that_could_be_deleted(copied_path: Path, store: Store) -> None:
    read_index(copied_path)
    for path in (copied_path, store.path):
        check = looked_at_from(path)
        assert (check.state, check.fix, check.details) == ("ok", None, ())


def test_the_index_of_the_store_in_hand_is_none_whatever_it_says_of_itself(copied_path: Path, store: Store) -> None:
    with open_store(copied_path, read_only=True) as reading, closing(open_for_writing(reading)) as conn:
        set_setting(conn, "source_path", str(store.path))
    assert looked_at_from(copied_path).state == "ok"


def test_an_index_that_is_just_being_made_is_none(copied_path: Path) -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / "0123-index").touch()
    assert looked_at_from(copied_path).state == "ok"


def test_an_index_whose_store_was_replaced_is_one_and_says_so(copied_path: Path) -> None:
    index = read_index(copied_path)
    content = copied_path.read_bytes()
    copied_path.rename(copied_path.with_name("old.db"))
    copied_path.write_bytes(content)
    check = looked_at_from(copied_path)
    assert check.details == (f"{index}: made from {copied_path.resolve()}, where another file lies now",)
    assert check.fix == "delete those whose store will not come back"


def test_a_file_in_the_cache_that_is_no_database_is_one(copied_path: Path) -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / "0123-index").write_bytes(b"not a database, not at all\n" * 100)
    assert looked_at_from(copied_path).details == (
        f"{cache_folder() / '0123-index'}: damaged, whose it was can't be told",
    )


def test_an_index_that_can_not_be_read_now_is_counted_as_such(copied_path: Path) -> None:
    index = read_index(copied_path)
    held = index.with_name("0123-index")
    shutil.copy2(index, held)
    with closing(apsw.Connection(str(held))) as holder:
        holder.pragma("journal_mode", "delete")
        holder.execute("BEGIN EXCLUSIVE")
        check = looked_at_from(copied_path)
        (cache_folder() / "4567-index").write_bytes(b"not a database, not at all\n" * 100)
        with_orphan = looked_at_from(copied_path)
    assert check.state == "ok"
    assert (
        check.text == "2 index files in the cache, 1 could not be read, none of the others of a store that is gone"
    )
    assert with_orphan.text == (
        f"1 of 3 index files in {cache_folder()} are of no store that is there (2,700 bytes), 1 could not be read"
    )
