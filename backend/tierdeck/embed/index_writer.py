"""What became of a batch, written into the index: each call is one short transaction, all of it or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck import db
from tierdeck.embed.catch_up import remember_history, remove_nodes
from tierdeck.embed.hand_over import next_vector_seq
from tierdeck.embed.work_queue import OFF, OpenStatus, Work, WorkQueue
from tierdeck.index.store_texts import read_texts
from tierdeck.model import content_hash
from tierdeck.store import Store, embedding_off
from tierdeck.vectors.model_record import Model, load_table, save_table
from tierdeck.vectors.row_keys import row_keys


@dataclass(frozen=True, slots=True)
class Made:
    """A text's vector at unit length, with a note for the operator when not all of the text is in it."""

    work: Work
    vector: NDArray[np.float32]
    note: str | None


class IndexWriter:
    """Writes vectors and refusals of one model. What it writes never contradicts the store as it was read last."""

    def __init__(self, conn: apsw.Connection, store: Store, model: Model, queue: WorkQueue) -> None:
        self._conn = conn
        self._store = store
        self._model = model
        self._queue = queue
        self._seen_version = -1
        self._keys_read: dict[str, int] = {}

    def commit(self, made: Sequence[Made]) -> int:
        """Write vectors whose memories still hold the text they were made from; the others wait for their new one.

        Returns:
            How many memories got their vector.
        """
        if not made:
            return 0
        with db.transaction(self._conn):  # the texts are read inside it: see `catch_up`
            moved = self._moved([one.work for one in made]) if self._may_have_changed() else {}
            for one in made:
                for node_id in one.work.node_ids:
                    if node_id in moved:
                        self._put_back(node_id, one.work.content_hash, moved[node_id])
            if moved:
                remember_history(self._conn, self._store, self._model)
            table = load_table(self._conn, self._model)  # after those, which change its sum
            done = self._queue.finish([(one.work, one.note) for one in made], next_vector_seq(self._conn))
            vectors = [(key, one.vector) for one in made for key in one.work.node_ids if key in done]
            table.put(vectors, self._row_keys(done))
            save_table(self._conn, self._model, table)
        return len(done)

    def refuse(self, works: Sequence[Work], status: OpenStatus, error: str) -> None:
        """Say of texts why they have no vector."""
        with db.transaction(self._conn):
            for work in works:
                for node_id in work.node_ids:
                    self._queue.refuse(node_id, work.content_hash, status, error)

    def texts_of(self, works: Sequence[Work]) -> dict[str, str]:
        """The text of each hash, read from the store now.

        Memories that hold another text by now are put back, those whose embedding was turned off are left out.
        """
        self._seen_version = self._store.data_version()
        ids = [node_id for work in works for node_id in work.node_ids]
        with db.transaction(self._conn):
            found, off = read_texts(self._store, ids), embedding_off(self._store, ids)
            self._keys_read = row_keys(self._store, ids)
            return self._texts_to_embed(works, found, off)

    def _texts_to_embed(
        self, works: Sequence[Work], found: Mapping[str, str], off: Collection[str]
    ) -> dict[str, str]:
        hashes = {node_id: content_hash(text) for node_id, text in found.items()}
        texts: dict[str, str] = {}
        for work in works:
            for node_id in work.node_ids:
                if hashes.get(node_id) != work.content_hash:
                    self._put_back(node_id, work.content_hash, hashes.get(node_id))
                elif node_id in off:
                    self._queue.refuse(node_id, work.content_hash, "skipped", OFF)
                else:
                    texts[work.content_hash] = found[node_id]
        if any(hashes.get(node_id) != work.content_hash for work in works for node_id in work.node_ids):
            remember_history(self._conn, self._store, self._model)
        return texts

    def twin_vector(self, work: Work) -> NDArray[np.float32] | None:
        """The vector that another memory has of the same text; None, and the twin put back, when it lost it."""
        if work.twin_id is None:
            return None
        with db.transaction(self._conn):
            if not self._queue.is_done(work.twin_id, work.content_hash):
                return None  # since the claim it got another text, and its vector may be of that one
            vector = load_table(self._conn, self._model).get(work.twin_id)
            if vector is None:
                self._queue.put_back(work.twin_id, work.content_hash, now_hash=work.content_hash)
        return vector

    def _row_keys(self, ids: Collection[str]) -> dict[str, int]:
        """The store's rowids of those memories, as they are inside the transaction under way."""
        if self._may_have_changed():
            return row_keys(self._store, list(ids))
        return {node_id: key for node_id, key in self._keys_read.items() if node_id in ids}

    def _may_have_changed(self) -> bool:
        """Whether a text may be another than when it was read; a file that is not ours can't tell for sure."""
        return self._store.read_only or self._store.data_version() != self._seen_version

    def _moved(self, works: Sequence[Work]) -> dict[str, str | None]:
        """The memories that hold another text by now, with its hash; None for one that is gone."""
        ids = [node_id for work in works for node_id in work.node_ids]
        now = {node_id: content_hash(text) for node_id, text in read_texts(self._store, ids).items()}
        return {key: now.get(key) for work in works for key in work.node_ids if now.get(key) != work.content_hash}

    def _put_back(self, node_id: str, claimed_hash: str, now_hash: str | None) -> None:
        if now_hash is None:
            remove_nodes(self._conn, [node_id])
        else:
            self._queue.put_back(node_id, claimed_hash, now_hash=now_hash)
