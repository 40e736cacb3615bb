"""The vectors read: the nearest to a query, and those of given memories."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import IndexFileError, InvalidValueError
from tierdeck.index.file import REBUILD, REBUILD_HINT, VECTORS, dimensions_of, index_errors, open_for_reading
from tierdeck.index.path import FileKey, file_key, index_path
from tierdeck.store import Store
from tierdeck.vectors.bit_follower import BitFollower
from tierdeck.vectors.bit_scan import BitScan
from tierdeck.vectors.bits import Bits
from tierdeck.vectors.chunk_blobs import placed_vectors
from tierdeck.vectors.kept_weights import load_weights
from tierdeck.vectors.known_texts import seen_change, text_hashes, unfinished, vectors_held
from tierdeck.vectors.model_record import Model, current_model, read_mean
from tierdeck.vectors.scan_buffers import SpareBuffers
from tierdeck.vectors.token_weights import TokenWeights
from tierdeck.vectors.unit_vectors import unit_vector
from tierdeck.vectors.vec0_search import MAX_NEAREST, nearest_by_vec0, vectors_by_vec0


def open_vector_index(store: Store) -> VectorIndex | None:
    """Open the store's index file for search; None when no vectors were made yet.

    Raises:
        IndexFileError: the file is damaged, not ours, or of another version; the store is untouched.
        ModelUnavailableError: sqlite-vec can't be loaded.
    """
    file = file_key(index_path(store))
    conn = open_for_reading(store)
    if conn is None:
        return None
    index = VectorIndex(conn, store, file)
    try:
        if index.is_ready():
            return index
    except BaseException:
        conn.close()
        raise
    conn.close()
    return None


class VectorIndex:
    """The vectors of one store, of the one model that `model` and `dimensions` name. Safe to use from threads.

    A vector counts only when its hash (see `hashes`) is that of the memory's text now; the caller compares. What an
    indexer commits meanwhile is seen at the next call, a swapped model too, and a file that was made anew.
    """

    def __init__(self, conn: apsw.Connection, store: Store, file: FileKey | None) -> None:
        """
        Args:
            file: which one lay in its place before the connection was opened.
        """
        self._conn = conn
        self._store = store
        self._path = index_path(store)
        self._file = file
        self._lock = threading.RLock()
        self._is_closed = False
        self._seen = -1
        self._model: Model | None = None
        self._follower: BitFollower | None = None
        self._spare = SpareBuffers()
        self._unfinished: list[frozenset[str] | None] | None = None  # None: not asked for yet
        self._mean: NDArray[np.float64] = np.zeros(0)
        self._weights: TokenWeights | None = None

    def is_ready(self) -> bool:
        """Whether there are vectors of a known model."""
        with self._lock, index_errors(self._path):
            self._follow()
            return self._model is not None

    @property
    def model(self) -> str:
        """The name of the model that made the vectors."""
        return self._current().name

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._current().dimensions

    @property
    def state(self) -> object:
        """Equal for as long as nobody wrote the index or made it anew; of a `snapshot`, inside it."""
        self._current()
        return self._file, self._seen

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean vector that centred cosines are measured from, float64 (dimensions,)."""
        self._current()
        return self._mean

    @property
    def weights(self) -> TokenWeights | None:
        """The token weights that the vectors were made with; None when all tokens counted alike."""
        self._current()
        return self._weights

    @property
    def vectors_count(self) -> int:
        """How many vectors there are, stale ones too."""
        with self._lock, index_errors(self._path):
            return int(self._conn.execute(f"SELECT count(*) FROM {VECTORS}_rowids").get)

    @property
    def vectors_held(self) -> int:
        """The same as the index itself keeps count of it: one row is read, however many there are."""
        model = self._current()
        with self._lock, index_errors(self._path):
            return vectors_held(self._conn, model)

    def nearest(
        self, query: NDArray[np.floating], k: int, allowed_ids: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """The memories whose vectors are nearest to the query's.

        Args:
            query: one vector of this index's model, any length but zero.
            k: how many at most; above `MAX_NEAREST` only that many come.
            allowed_ids: when given, only these are looked at (before the cut; it doubles the time).

        Returns:
            (id, cosine) best first, equal ones by id. The cosine is computed from the vectors themselves.

        Raises:
            InvalidValueError: k is negative.
            VectorRefusedError: the query is of another length, zero, NaN or infinite.
        """
        if k < 0:
            raise InvalidValueError(f"search by meaning: {k} rows can't be asked for", hint="give 0 or more")
        unit = unit_vector(np.asarray(query), self.dimensions, of="query")
        if k == 0 or (allowed_ids is not None and not allowed_ids):
            return []
        if allowed_ids is None:
            with self.scanning(unit) as scan:
                if scan is not None:
                    return scan.nearest(min(k, MAX_NEAREST))
        with self._lock, index_errors(self._path):
            return nearest_by_vec0(self._conn, unit, min(k, MAX_NEAREST), allowed_ids)

    @contextmanager
    def scanning(
        self, query: NDArray[np.float32], should_stop: Callable[[], bool] | None = None
    ) -> Iterator[BitScan | None]:
        """The vectors by how near they are to the query, all of one snapshot; None where vec0 has to search.

        Other threads wait until the block is left.

        Args:
            query: at unit length.
            should_stop: asked every few milliseconds.

        Raises:
            StoppedError: `should_stop` said so.
        """
        with self.snapshot():
            with index_errors(self._path):
                bits, seen = self._bits(), self.seen_change()
            # Outside: what the block asks of the store is no fault of the index.
            if bits is None:
                yield None
                return
            if self._follower is not None:
                self._follower.note_search()
            with self._spare.lent() as buffers:
                mean = self._mean.astype(np.float32)
                yield BitScan(self._conn, self._path, bits, query, mean, seen, buffers, should_stop)

    @property
    def bits_fault(self) -> str | None:
        """Why the fast search can't be used, as the end of a sentence; None when it can, or is not worth it."""
        with self.snapshot(), index_errors(self._path):
            self._bits()
            return None if self._follower is None else self._follower.fault

    def vectors(self, ids: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors, at unit length, of those of the memories that have one (14 µs each)."""
        self._current()
        with self._lock, index_errors(self._path):
            return vectors_by_vec0(self._conn, ids)

    def valid_vectors(
        self, hashes: Mapping[str, str], sure: Iterable[str] = ()
    ) -> tuple[dict[str, NDArray[np.float32]], frozenset[str]]:
        """The vectors that were made from just these texts, and the ids whose vector is of another one.

        Both of one snapshot: an indexer that commits meanwhile can't put a newer text's vector under an older hash.

        Args:
            hashes: `content_hash` of each memory's text.
            sure: memories whose vector, if they have one, is known to be of their text; a look-up of a hash takes
                9 µs.
        """
        with self.snapshot():
            made_from = self.hashes(hashes) if hashes else {}
            valid = [node_id for node_id in made_from if made_from[node_id] == hashes[node_id]]
            wanted = [*valid, *sure]
            with index_errors(self._path):
                vectors = (
                    vectors_by_vec0(self._conn, wanted)
                    if self._bits() is None
                    else placed_vectors(self._conn, wanted, self.dimensions)
                )
            return vectors, frozenset(made_from) - frozenset(valid)

    def hashes(self, ids: Iterable[str]) -> dict[str, str]:
        """The `content_hash` of the text that each vector was made from; ids without a valid one are left out."""
        model = self._current()
        with self._lock, index_errors(self._path):
            return text_hashes(self._conn, model, ids)

    def unfinished(self) -> frozenset[str] | None:
        """The memories whose text has no vector of its own yet, or never will; None when they are many."""
        model = self._current()
        with self._lock, index_errors(self._path):
            if self._unfinished is None:
                self._unfinished = [unfinished(self._conn, model)]
            return self._unfinished[0]

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        with self._lock:
            self._let_go()
            self._is_closed = True
            self._conn.close()
            self._spare.clear()

    def _let_go(self) -> None:
        if self._follower is not None:  # up to 230 MB
            self._follower.close()
        self._follower = None

    def __enter__(self) -> VectorIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """For the block all is of one state of the index, model and mean too; within another block, of its state.

        Other threads wait until it is left.
        """
        with self._lock:
            if self._conn.in_transaction:
                yield
                return
            try:
                with index_errors(self._path):
                    self._reopen()
                    self._conn.execute("BEGIN")
                    self._follow()
                yield
            finally:
                if self._conn.in_transaction:
                    self._conn.execute("ROLLBACK")

    def _bits(self) -> Bits | None:
        """The bits as they are in the snapshot under way."""
        if self._model is None:
            return None
        if self._follower is None or self._follower.model != self._model:
            if self._follower is not None:
                self._follower.close()
            self._follower = BitFollower(self._conn, self._path, self._model)
        return self._follower.current()

    def seen_change(self) -> tuple[int, str | None]:
        """How far the index knows the store's changes: the last one's number, and its mark of the history."""
        with self.snapshot(), index_errors(self._path):
            return (0, None) if self._model is None else seen_change(self._conn, self._model)

    def _current(self) -> Model:
        with self._lock, index_errors(self._path):
            if not self._conn.in_transaction:  # else it was done when the snapshot began
                self._reopen()
                self._follow()
            if self._model is None:
                raise IndexFileError(f"use index {self._path}: its vectors are gone", hint="run `tierdeck embed`")
            return self._model

    def _reopen(self) -> None:
        """Go over to the file that lies in the place of the open one, once it holds vectors.

        An index may be removed and made anew at any time. What is open of a removed one can be read on: a vector's
        hash tells whether it is of the text of now.
        """
        file = file_key(self._path)
        if self._is_closed or file is None or file == self._file:
            return
        other = open_vector_index(self._store)
        if other is None:  # it is being made just now
            return
        self._let_go()
        self._conn.close()
        self._conn, self._file, self._seen = other._conn, file, -1

    def _follow(self) -> None:
        """Read model and mean anew when another connection wrote."""
        version = int(self._conn.pragma("data_version"))
        if version == self._seen:
            return
        model = current_model(self._conn)
        real = dimensions_of(self._conn, VECTORS)
        if model is not None and real != model.dimensions:
            raise IndexFileError(
                f"use index {self._path}: its vectors have {real} dimensions, its settings say {model.dimensions}",
                remedy=REBUILD,
                hint=REBUILD_HINT,
            )
        self._model = model
        self._mean = np.zeros(0) if model is None else read_mean(self._conn, model)
        self._weights = None if model is None else load_weights(self._conn, model.name)
        self._unfinished = None
        self._seen = version
