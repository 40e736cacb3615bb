"""What became of a batch, written into the index: each call is one short transaction, all of it or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.embed.catch_up import next_seq, remove_nodes
from tierdeck.embed.model_record import Model, load_table, save_table
from tierdeck.embed.store_texts import read_texts
from tierdeck.embed.work_queue import Work, WorkQueue
from tierdeck.model import content_hash
from tierdeck.store import Store


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

    def commit(self, made: Sequence[Made]) -> int:
        """Write vectors whose memories still hold the text they were made from; the others wait for their new one.

        Returns:
            How many memories got their vector.
        """
        if not made:
            return 0
        now = self._hashes(made)
        embedded = 0
        with self._conn:
            table = load_table(self._conn, self._model)
            seq = next_seq(self._conn)
            for one in made:
                for node_id in one.work.node_ids:
                    if now.get(node_id) != one.work.content_hash:
                        self._put_back(node_id, now.get(node_id))
                    elif self._queue.finish(node_id, one.work.content_hash, one.note, seq):
                        table.put(node_id, one.vector)
                        embedded += 1
            save_table(self._conn, self._model, table)
        return embedded

    def refuse(self, works: Sequence[Work], status: str, error: str) -> None:
        """Say of texts why they have no vector."""
        with self._conn:
            for work in works:
                for node_id in work.node_ids:
                    self._queue.refuse(node_id, work.content_hash, status, error)

    def texts_of(self, works: Sequence[Work]) -> dict[str, str]:
        """The text of each hash, read from the store now; memories that hold another text by now are put back."""
        found = read_texts(self._store, [node_id for work in works for node_id in work.node_ids])
        texts: dict[str, str] = {}
        moved: list[tuple[str, str | None]] = []
        for work in works:
            for node_id in work.node_ids:
                text = found.get(node_id)
                text_hash = None if text is None else content_hash(text)
                if text is not None and text_hash == work.content_hash:
                    texts[work.content_hash] = text
                else:
                    moved.append((node_id, text_hash))
        if moved:
            with self._conn:
                for node_id, text_hash in moved:
                    self._put_back(node_id, text_hash)
        return texts

    def twin_vector(self, work: Work) -> NDArray[np.float32] | None:
        """The vector that another memory has of the same text; None, and the twin put back, when it lost it."""
        if work.twin_id is None:
            return None
        with self._conn:
            vector = load_table(self._conn, self._model).get(work.twin_id)
            if vector is None:
                self._queue.put_back(work.twin_id, work.content_hash)
        return vector

    def _hashes(self, made: Sequence[Made]) -> dict[str, str]:
        ids = [node_id for one in made for node_id in one.work.node_ids]
        return {node_id: content_hash(text) for node_id, text in read_texts(self._store, ids).items()}

    def _put_back(self, node_id: str, text_hash: str | None) -> None:
        if text_hash is None:
            remove_nodes(self._conn, [node_id])
        else:
            self._queue.put_back(node_id, text_hash)
