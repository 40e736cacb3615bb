"""A vector that its memory has no use for any more goes to a memory that waits for the same text: paid for once."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.conftest import DIMENSIONS, Remote
from tests.tierdeck.embed_server import EmbedServer
from tests.tierdeck.vectors.few_bits import assert_bits_in_step, begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.catch_up import catch_up
from tierdeck.embed.claim import new_claimant
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.work_queue import WorkQueue
from tierdeck.index.file import open_for_writing
from tierdeck.model import NodeChanges, content_hash
from tierdeck.store import Store, open_store
from tierdeck.store.changes import edit_node
from tierdeck.times import now_ms
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.vector_index import open_vector_index

Fill = Callable[..., list[str]]
MODEL = Model("model-a", DIMENSIONS)


def delete(store: Store, node_id: str) -> None:
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))


def edit(store: Store, node_id: str) -> None:
    edit_node(store, node_id, NodeChanges(content="another"), actor="t")


def assert_whole(store: Store) -> None:
    """Every memory has a vector of its text, and the bits are those of the vectors."""
    rows = store.read(lambda c: c.execute("SELECT id, content FROM nodes").fetchall())
    index = open_vector_index(store)
    assert index is not None
    with index:
        hashes = {str(node_id): content_hash(str(text)) for node_id, text in rows}
        vectors, stale = index.valid_vectors(hashes)
        assert set(vectors) == set(hashes)
        assert not stale
    assert_bits_in_step(store, knows_rowids=True)


@pytest.mark.parametrize("leave", [edit, delete])
@pytest.mark.parametrize("comes_first", [True, False])
def test_a_text_is_not_paid_for_again_when_its_memory_leaves_it_and_another_has_come_to_it(
    remote: Remote,
    fill: Fill,
    monkeypatch: pytest.MonkeyPatch,
    leave: Callable[[Store, str], None],
    comes_first: bool,
) -> None:
    begin_early(monkeypatch)
    remote.warm_up()
    [first] = fill("the same")
    remote.run()
    heirs = fill("the same", "the same") if comes_first else []
    leave(remote.store, first)
    heirs = heirs or fill("the same", "the same")
    remote.run()
    assert Counter(remote.sent())["the same"] == 1
    assert_whole(remote.store)
    index = open_vector_index(remote.store)
    assert index is not None
    with index:
        one, two = index.vectors(heirs).values()
    assert one.tolist() == two.tolist()


def test_what_another_run_is_paying_for_is_left_to_it(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    [first] = fill("the same")
    remote.run()
    [heir] = fill("the same")
    with closing(open_for_writing(remote.store)) as conn:
        assert catch_up(conn, remote.store, MODEL, lambda: False)
        queue = WorkQueue(conn, MODEL, new_claimant(), lease_ms=60_000, clock_ms=now_ms)
        [work] = queue.claim(10, ())
        edit(remote.store, first)
        assert catch_up(conn, remote.store, MODEL, lambda: False)
        claimed = conn.execute(
            "SELECT status, claimed_by IS NOT NULL FROM embedding_state WHERE node_id = ?", (heir,)
        )
        assert (work.node_ids, claimed.fetchall()) == ((heir,), [("pending", True)])


def test_of_two_memories_one_of_which_a_look_by_id_missed_the_text_is_paid_for_once(
    family_store_path: Path, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    settings = EmbeddingSettings(
        provider="openai", model="model-a", dimensions=DIMENSIONS, base_url=server.base_url
    )
    insert = "INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)"
    with open_store(family_store_path) as store, closing(sqlite3.connect(family_store_path)) as other:
        embedder = make_embedder(settings, store)
        other.execute(insert, ("zz", "the same"))  # as if its twin below had been added behind the look's back
        other.commit()
        run_indexer(store, embedder, settings)
        other.execute(insert, ("aa", "the same"))
        other.execute("UPDATE nodes SET content = 'another' WHERE id = 'zz'")
        other.commit()
        run_indexer(store, embedder, settings)
    assert Counter(server.inputs)["the same"] == 1
    assert Counter(server.inputs)["another"] == 1
