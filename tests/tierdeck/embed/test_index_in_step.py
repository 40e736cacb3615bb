"""The index follows the store through any sequence of changes, and its own tables agree with each other."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.vectors.few_bits import assert_bits_in_step, begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.work_queue import OFF
from tierdeck.index.file import open_for_writing
from tierdeck.model import NodeChanges, NodeDraft, content_hash
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import Store, open_store
from tierdeck.store.changes import edit_node
from tierdeck.store.nodes import add_nodes
from tierdeck.vectors.model_record import Model, load_table
from tierdeck.vectors.vector_index import open_vector_index

Fill = Callable[..., list[str]]
LOCAL = EmbeddingSettings(provider="local")


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stores have bits too."""
    begin_early(monkeypatch)


def assert_in_step(store: Store) -> None:
    """Vectors, states, keys, sum, count and bits say the same; every text that may be embedded has its vector."""
    assert_bits_in_step(store, has_bits=None)
    rows = store.read(lambda c: c.execute("SELECT id, content FROM nodes").fetchall())
    texts = {str(node_id): str(content) for node_id, content in rows}
    off = store.read(lambda c: {row[0] for row in c.execute("SELECT node_id FROM td_no_embedding")})
    index = open_vector_index(store)
    assert index is not None
    with index:
        vectors = index.vectors(texts)
        assert set(vectors) == set(texts) - off
        assert index.hashes(texts) == {key: content_hash(texts[key]) for key in vectors}
        assert index.vectors_count == len(vectors)
        model = Model(index.model, index.dimensions)
    with closing(open_for_writing(store)) as conn:
        table = load_table(conn, model)
        assert table.vectors == len(vectors)
        summed = np.stack(list(vectors.values())).astype(np.float64).sum(axis=0)
        assert np.abs(table.vector_sum - summed).max() / len(vectors) < 1e-7  # of the mean
        assert {str(row[0]) for row in conn.execute("SELECT node_id FROM embedding_state")} == set(texts)
        assert {str(row[0]) for row in conn.execute("SELECT id FROM node_key")} == set(texts)
        assert conn.execute("SELECT count(*) FROM embedding_state WHERE claimed_by IS NOT NULL").get == 0


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_changes_leaves_store_and_index_in_step(remote: Remote, seed: int) -> None:
    rng = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]  # few, so that texts are often equal
    ids = add_nodes(remote.store, [NodeDraft(content=rng.choice(words)) for _ in range(12)])
    remote.configure(batch_rows=3)
    for _ in range(12):
        node_id = rng.choice(ids)
        match rng.randrange(6):
            case 0:
                ids += add_nodes(
                    remote.store,
                    [NodeDraft(content=rng.choice(words), compute_embedding=rng.random() < 0.7) for _ in range(3)],
                )
            case 1:
                edit_node(
                    remote.store, node_id, NodeChanges(content=f"{rng.choice(words)} {rng.random()}"), actor="t"
                )
            case 2:
                archive_nodes(remote.store, [node_id], actor="t")
            case 3 if len(ids) > 2:
                with remote.store.writing() as conn:
                    conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
                    conn.execute("DELETE FROM td_no_embedding WHERE node_id = ?", (node_id,))
                ids.remove(node_id)
            case 4:
                with remote.store.writing() as conn:
                    conn.execute("INSERT OR IGNORE INTO td_no_embedding (node_id) VALUES (?)", (node_id,))
            case _:
                with remote.store.writing() as conn:
                    conn.execute("DELETE FROM td_no_embedding WHERE node_id = ?", (node_id,))
        if rng.random() < 0.5:
            calls = len(remote.server.calls)
            stop_after = rng.randrange(1, 4)
            remote.run(should_stop=lambda: len(remote.server.calls) - calls >= stop_after)  # noqa: B023
    remote.run()
    assert_in_step(remote.store)


def test_memories_that_vanish_or_change_while_their_text_is_on_its_way(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    ids = fill("stays", "goes", "turns", "is turned off")

    def meddle(texts: object) -> None:
        remote.server.on_request = lambda _: None
        with remote.store.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (ids[1],))
            conn.execute("UPDATE nodes SET content = 'turned' WHERE id = ?", (ids[2],))
            conn.execute("INSERT INTO td_no_embedding (node_id) VALUES (?)", (ids[3],))

    remote.server.on_request = meddle
    remote.run()
    remote.run()
    assert_in_step(remote.store)


@pytest.mark.spec("SPEC-09.06")
def test_a_memory_turned_off_during_a_run_is_not_sent_any_more(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    remote.configure(batch_rows=1)
    first, second = fill("first", "second")

    def turn_off(texts: object) -> None:
        with remote.store.writing() as conn:
            conn.execute("INSERT OR IGNORE INTO td_no_embedding (node_id) VALUES (?)", (second,))

    remote.server.on_request = turn_off
    remote.run()
    assert remote.sent() == ["first"]
    with closing(open_for_writing(remote.store)) as conn:
        rows = conn.execute(
            "SELECT node_id, status, error FROM embedding_state WHERE node_id IN (?, ?)", (first, second)
        )
        assert set(rows.fetchall()) == {(first, "done", None), (second, "skipped", OFF)}


def test_rows_that_no_schema_would_allow_do_not_stop_the_others(family_store_path: Path) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn, conn:
        conn.execute("INSERT INTO nodes (id, type, content) VALUES (NULL, 'fact', 'no id')")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES (CAST(x'ff41' AS TEXT), 'fact', 'odd id')")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('blob', 'fact', x'68c3a9ff')")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('odd', 'fact', CAST(x'68ff69' AS TEXT))")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('number', 'fact', 42)")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('zz', 'fact', 'the last one')")
        [(nameable,)] = conn.execute(
            "SELECT count(*) FROM nodes WHERE id IS NOT NULL AND CAST(id AS BLOB) <> x'ff41'"
        ).fetchall()
    with open_store(family_store_path) as store:
        report = run_indexer(store, make_embedder(LOCAL), LOCAL)
        assert report.embedded == nameable
        assert run_indexer(store, make_embedder(LOCAL), LOCAL).asked == 0
        index = open_vector_index(store)
        assert index is not None
        with index:
            assert set(index.vectors(["blob", "odd", "number", "zz"])) == {"blob", "odd", "number", "zz"}
            assert index.hashes(["odd"]) == {"odd": content_hash("h\ufffdi")}


def test_texts_of_many_megabytes_are_looked_through_in_short_reads(remote: Remote) -> None:
    """A page ends with the text that fills it, and none is lost at the seams."""
    texts = [f"{i} " + "x" * 3_000_000 for i in range(5)] + [f"small {i}" for i in range(3)]
    add_nodes(remote.store, [NodeDraft(content=text) for text in texts])
    assert remote.run().embedded == 8
    assert_in_step(remote.store)


def test_more_memories_than_a_page_or_a_transaction_are_all_found(store: Store) -> None:
    add_nodes(store, [NodeDraft(content=f"memory {i}") for i in range(2_600)])
    assert run_indexer(store, make_embedder(LOCAL), LOCAL).embedded == 2_600
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET content = content || '!' WHERE pk % 2 = 0")
        conn.execute("DELETE FROM nodes WHERE pk % 5 = 0")
    assert run_indexer(store, make_embedder(LOCAL), LOCAL).embedded == 1_040
    assert_in_step(store)
