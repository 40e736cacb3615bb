"""What only the disk refuses is neither made anew nor advised to be: the vectors may have cost money."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import IndexBusyError, IndexFileError
from tierdeck.index.file import open_for_reading, open_for_writing
from tierdeck.index.path import beside_index_path, cache_folder, index_path
from tierdeck.maintenance.doctor import examine
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, open_store
from tierdeck.vectors.vector_index import open_vector_index

LOCAL = EmbeddingSettings(provider="local")
REMEDY = "see whether a quota or a limit on the size of files is reached"


@pytest.fixture
def path(store: Store) -> Path:
    """A closed store with its index beside it."""
    add_nodes(store, [NodeDraft("one memory"), NodeDraft("another one")])
    run_indexer(store, make_embedder(LOCAL), LOCAL)
    store.close()
    return store.path


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process may grow, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def vectors(store: Store) -> int:
    index = open_vector_index(store)
    assert index is not None
    with index:
        return index.vectors_count


def test_an_index_that_can_not_be_copied_for_want_of_room_says_so_and_is_copied_when_there_is_some(
    path: Path,
) -> None:
    with open_store(path, read_only=True) as reading:
        for use in (open_for_reading, open_for_writing):
            with no_room(), pytest.raises(IndexFileError, match=r"copy index .*: the disk takes no more") as caught:
                use(reading)
            assert caught.value.hint == f"{REMEDY}; search by word works meanwhile"
            assert list(cache_folder().iterdir()) == []
        assert vectors(reading) == 2


def test_an_index_that_is_held_is_not_made_anew_in_the_cache(path: Path) -> None:
    with (
        open_store(path) as store,
        closing(open_for_writing(store)) as holder,
        open_store(path, read_only=True) as reading,
    ):
        holder.pragma("locking_mode", "exclusive")
        holder.pragma("journal_mode", "delete")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(IndexBusyError, match=r"copy index .*: another program holds it"):
            open_for_writing(reading)
        holder.execute("ROLLBACK")
        assert not index_path(reading).exists()


def test_doctor_does_not_advise_to_make_an_index_anew_that_only_the_disk_refuses(path: Path) -> None:
    with open_store(path) as store, no_room():
        with pytest.raises(IndexFileError, match=r"use index .*: the disk takes no more") as caught:
            open_for_reading(store)
        assert caught.value.hint == f"{REMEDY}; search by word works meanwhile"
        check = examine(store, LOCAL).check("index-file")
    assert (check.state, check.fix) == ("bad", REMEDY)
    assert "the disk takes no more" in check.text
    assert beside_index_path(path).exists()


def test_doctor_names_no_fix_where_nobody_knows_one(path: Path, isolated_environment: Path) -> None:
    (isolated_environment / "cache").write_text("a file where the cache folder should be")
    with open_store(path, read_only=True) as reading:
        with pytest.raises(IndexFileError, match="make index") as caught:
            open_for_reading(reading)
        assert caught.value.hint == "search by word works without it"
        check = examine(reading, LOCAL).check("index-file")
    assert (check.state, check.fix) == ("bad", None)
