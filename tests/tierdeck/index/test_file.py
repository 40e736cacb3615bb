from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.conftest import Remote
from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.coverage import coverage
from tierdeck.embed.estimate import estimate
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import IndexFileError, ModelUnavailableError
from tierdeck.index.file import open_for_reading, open_for_writing, rebuild_index, set_setting
from tierdeck.index.path import cache_folder, cached_index_path, index_path
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, open_store
from tierdeck.vectors.vector_index import open_vector_index

Fill = Callable[..., list[str]]
LOCAL = EmbeddingSettings(provider="local")


def folder_bytes(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.mark.spec("SPEC-09.03")
def test_the_vectors_are_in_the_table_that_is_specified_with_the_models_dimensions(
    remote: Remote, fill: Fill
) -> None:
    fill("a")
    remote.configure(dimensions=1536)
    remote.server.vector_of = lambda text: [float(len(text))] * 1536
    remote.run()
    with closing(open_for_writing(remote.store)) as conn:
        [(sql,)] = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'node_embeddings'").fetchall()
    assert sql == (
        "CREATE VIRTUAL TABLE node_embeddings USING vec0(node_id TEXT PRIMARY KEY, embedding FLOAT[1536])"
    )


def test_the_file_has_large_pages_in_its_head_and_a_log_beside(store: Store) -> None:
    open_for_writing(store).close()
    head = index_path(store).read_bytes()[:100]
    assert head[16:18] == b"\x00\x01"  # 65,536
    assert head[18:20] == b"\x02\x02"  # WAL
    assert int.from_bytes(head[68:72], "big") == db.INDEX_APPLICATION_ID


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_that_is_only_read_has_its_index_in_the_cache_and_its_folder_stays_as_it_was(
    family_store_path: Path, read_only: bool
) -> None:
    before = folder_bytes(family_store_path.parent)
    with open_store(family_store_path, read_only=read_only) as store:
        report = run_indexer(store, make_embedder(LOCAL), LOCAL)
        assert report.embedded > 0
        assert report.pending == 0
        path = index_path(store)
        assert path.parent == cache_folder()
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert path.stat().st_mode & 0o777 == 0o600
        index = open_vector_index(store)
        assert index is not None
        with index:
            assert index.vectors_count == report.embedded
        with closing(open_for_writing(store)) as conn:
            assert conn.execute("SELECT value FROM index_setting WHERE key = 'source_path'").get == str(
                family_store_path.resolve()
            )
        assert run_indexer(store, make_embedder(LOCAL), LOCAL).asked == 0
    assert folder_bytes(family_store_path.parent) == before


def test_a_store_of_ours_that_is_only_read_begins_with_the_vectors_that_were_paid_for(
    remote: Remote, fill: Fill
) -> None:
    ids = fill("a", "b")
    remote.run()
    path = remote.store.path
    remote.store.close()
    before = folder_bytes(path.parent)
    with open_store(path, read_only=True) as reading:
        remote.store = reading
        remote.server.calls.clear()
        assert remote.run().asked == 0
        assert remote.server.calls == []
        assert index_path(reading).parent == cache_folder()
        index = open_vector_index(reading)
        assert index is not None
        with index:
            assert set(index.vectors(ids)) == set(ids)
    assert folder_bytes(path.parent) == before


def test_an_index_beside_that_can_not_be_copied_is_made_anew_in_the_cache(remote: Remote, fill: Fill) -> None:
    fill("a", "b")
    remote.run()
    path = remote.store.path
    write_garbage(index_path(remote.store))
    remote.store.close()
    with open_store(path, read_only=True) as reading:
        remote.store = reading
        assert remote.run().embedded == 2
        assert not list(cache_folder().glob("*.part-*"))


def test_another_programs_edits_are_caught_up_by_comparing_texts(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        first = run_indexer(store, make_embedder(LOCAL), LOCAL)
        with closing(sqlite3.connect(family_store_path)) as conn, conn:
            [(edited,), (gone,)] = conn.execute("SELECT id FROM nodes ORDER BY id LIMIT 2").fetchall()
            conn.execute("UPDATE nodes SET content = 'quite another text' WHERE id = ?", (edited,))
            conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
            conn.execute("INSERT INTO nodes (id, type, content) VALUES ('new-1', 'fact', 'a new one')")
        assert coverage(store, LOCAL).stale == 1
        assert run_indexer(store, make_embedder(LOCAL), LOCAL).embedded == 2
        index = open_vector_index(store)
        assert index is not None
        with index:
            assert index.vectors_count == first.embedded
            assert set(index.vectors([edited, gone, "new-1"])) == {edited, "new-1"}


def test_another_store_at_the_same_path_has_another_index(family_store_path: Path) -> None:
    first = cached_index_path(family_store_path)
    assert first == cached_index_path(family_store_path)
    copy = family_store_path.read_bytes()
    family_store_path.rename(family_store_path.with_name("old.db"))
    family_store_path.write_bytes(copy)
    assert cached_index_path(family_store_path) != first


def write_garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all " * 4_000)


def write_half(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def write_zeros_inside(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[65_536:] = b"\x00" * (len(whole) - 65_536)
    path.write_bytes(whole)


def write_other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE holiday (photo BLOB)")


def write_other_version(path: Path) -> None:
    with closing(db.open_index(path, is_writing=True)) as conn, conn:
        set_setting(conn, "index_version", 999)


def write_other_dimensions(path: Path) -> None:
    with closing(db.open_index(path, is_writing=True)) as conn, conn:
        set_setting(conn, "dimensions", 99)


def drop_shadow(path: Path) -> None:
    with closing(db.open_index(path, is_writing=True)) as conn, conn:
        conn.execute("DROP TABLE node_embeddings_vector_chunks00")


def drop_states(path: Path) -> None:
    with closing(db.open_index(path, is_writing=True)) as conn, conn:
        conn.execute("DROP TABLE embedding_state")


def look_up(store: Store, ids: list[str]) -> None:
    index = open_vector_index(store)
    assert index is not None
    with index:
        index.nearest(np.ones(8), 1)
        index.hashes(ids)


DAMAGES = [
    write_garbage,
    write_half,
    write_zeros_inside,
    write_other_database,
    write_other_version,
    write_other_dimensions,
    drop_shadow,
    drop_states,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=[damage.__name__ for damage in DAMAGES])
def test_an_index_that_can_not_be_used_is_said_to_be_so_and_can_be_made_anew(
    remote: Remote, fill: Fill, damage: Callable[[Path], None]
) -> None:
    ids = fill("a", "b")
    remote.run()
    damage(index_path(remote.store))
    with pytest.raises(IndexFileError) as caught:
        look_up(remote.store, ids)
    assert caught.value.hint is not None
    rebuild_index(remote.store)
    assert remote.run().embedded == 2
    index = open_vector_index(remote.store)
    assert index is not None
    with index:
        assert set(index.vectors(ids)) == set(ids)


def test_a_file_that_is_not_ours_is_never_changed_and_moved_aside_when_an_index_is_wanted(store: Store) -> None:
    path = index_path(store)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE holiday (photo BLOB)")
    before = path.read_bytes()
    for look in (open_for_writing, open_for_reading):
        with pytest.raises(IndexFileError, match="not an index of ours"):
            look(store)
    assert path.read_bytes() == before
    aside = rebuild_index(store)
    assert aside is not None
    assert aside.read_bytes() == before
    assert not path.exists()
    open_for_writing(store).close()


@pytest.mark.parametrize("left", [b"", None], ids=["an empty file", "a database without a table"])
def test_an_index_whose_making_was_cut_short_is_made_at_the_next_run(
    remote: Remote, fill: Fill, left: bytes | None
) -> None:
    fill("a")
    path = index_path(remote.store)
    if left is None:
        db.open_index(path, is_writing=True).close()
    else:
        path.write_bytes(left)
    assert open_vector_index(remote.store) is None
    assert coverage(remote.store, remote.settings).pending == 1
    assert remote.run().embedded == 1


def test_a_store_put_back_from_a_backup_is_looked_through_again(remote: Remote, fill: Fill, tmp_path: Path) -> None:
    fill("a", "b")
    remote.run()
    backup = tmp_path / "backup.db"
    remote.store.read(lambda conn: db.copy_database(conn, backup))
    fill("c", "d")
    remote.run()
    path = remote.store.path
    remote.store.close()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(backup.read_bytes())
    with open_store(path) as restored:
        remote.store = restored
        report = remote.run()
        assert report.embedded == 0
        index = open_vector_index(restored)
        assert index is not None
        with index:
            assert index.vectors_count == 2


@pytest.mark.case("E01")
def test_without_sqlite_vec_the_reason_is_given(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    open_for_writing(store).close()
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    for look in (open_for_writing, open_for_reading):
        with pytest.raises(ModelUnavailableError, match="sqlite-vec"):
            look(store)


def test_a_folder_that_may_not_be_written_is_said_to_be_so(
    family_store_path: Path, isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocker = isolated_environment / "cache"
    blocker.write_text("a file where the cache folder should be")
    with open_store(family_store_path) as store:
        with pytest.raises(IndexFileError, match="make index"):
            run_indexer(store, make_embedder(LOCAL), LOCAL)
        assert estimate(store, LOCAL).texts > 0


def test_a_read_only_look_at_our_own_store_searches_the_vectors_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft("one"), NodeDraft("two")])
        run_indexer(store, make_embedder(LOCAL), LOCAL)
    before = folder_bytes(tmp_path)
    with open_store(path, read_only=True) as store:
        index = open_vector_index(store)
        assert index is not None
        with index:
            assert index.vectors_count == 2
    assert folder_bytes(tmp_path) == before


def test_a_folder_in_the_index_files_place_is_moved_aside_with_what_is_in_it(store: Store) -> None:
    path = index_path(store)
    path.mkdir()
    (path / "somebody's").write_text("kept")
    aside = rebuild_index(store)
    assert aside is not None
    assert (aside / "somebody's").read_text() == "kept"
    assert not path.exists()
