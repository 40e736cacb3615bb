"""What of ours is measured: the meaning leg alone, a whole hybrid search; and plain vec0 on the same index file."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from types import TracebackType

import apsw
import numpy as np
from numpy.typing import NDArray

from tests.bench.exact_neighbours import WANTED
from tests.bench.scale_rows import memory_number
from tests.bench.turns import Contestant, in_a_row
from tierdeck import db
from tierdeck.index.file import VECTORS
from tierdeck.index.path import beside_index_path
from tierdeck.model import NodeFilter
from tierdeck.search import SearchAnswer, hybrid_search
from tierdeck.search.meaning.meaning_leg import MeaningLeg
from tierdeck.search.rows.condition import condition_of
from tierdeck.store import open_store
from tierdeck.vectors.vector_index import open_vector_index

PLAIN_VEC0 = f"SELECT node_id FROM {VECTORS} WHERE embedding MATCH ? AND k = ?"
Vector = NDArray[np.float32]


class Ours:
    """A store and its index as the program has them open; `plain` is a second connection, for plain vec0."""

    def __init__(self, path: Path) -> None:
        self.store = open_store(path)
        index = open_vector_index(self.store)
        if index is None:
            raise SystemExit(f"{path}: its index holds no vector")
        self.index = index
        self.plain = db.open_index(beside_index_path(path), is_writing=False)
        self.rows = int(self.store.read(lambda conn: conn.execute("SELECT count(*) FROM nodes").get))

    def __enter__(self) -> Ours:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _e: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.plain.close()
        self.index.close()
        self.store.close()

    def meaning(self, vector: Vector, node_filter: NodeFilter) -> Sequence[str]:
        """The nearest `WANTED` that meet the filter, as a search asks for them."""

        def look(conn: apsw.Connection) -> list[str]:
            condition = condition_of(self.store, node_filter)
            return MeaningLeg(self.index, vector).pool(conn, condition, WANTED, self.rows)

        return self.store.read(look)

    def hybrid(self, text: str, vector: Vector, *, is_typing: bool = False) -> SearchAnswer:
        """A search as the screen asks for it, the query's vector given."""
        answer = hybrid_search(self.store, text, index=self.index, query_vector=vector, is_typing=is_typing)
        if answer.degraded:
            raise SystemExit(f"{text!r}: {answer.degraded}")
        return answer

    def words(self, text: str) -> SearchAnswer:
        """The same by words alone."""
        return hybrid_search(self.store, text, alpha=0)

    def plain_vec0(self, vector: Vector) -> Sequence[str]:
        """The nearest `WANTED` of all rows, by vec0 alone."""
        return [str(row[0]) for row in self.plain.execute(PLAIN_VEC0, (vector.tobytes(), WANTED))]


class Passes:
    """One pass over all vectors with each query, by the library's threads and by one; what took less counts.

    On a busy machine threads that wait for each other take CPU time, and one alone takes more wall time.
    """

    def __init__(self, vectors: Vector, queries: Vector, every: int) -> None:
        self.contestants = (
            Contestant("one pass, numpy @, mapped", lambda n: [float((vectors @ queries[n])[0])], every=every),
            Contestant("one pass, one thread", lambda n: [float(np.vecdot(vectors, queries[n])[0])], every=every),
        )

    def in_a_row(self) -> Passes:
        """The same as contestants of `in_rows`."""
        again = copy(self)
        again.contestants = (in_a_row(self.contestants[0]), in_a_row(self.contestants[1]))
        return again

    @property
    def wall_ms(self) -> float:
        """The median of the quicker way."""
        return min(one.median_wall_ms for one in self.contestants)

    @property
    def cpu_ms(self) -> float:
        """The median of the cheaper way."""
        return min(one.median_cpu_ms for one in self.contestants)


def numbers_of(ids: Sequence[object]) -> list[int]:
    """The numbers of the memories with these ids."""
    return [memory_number(str(node_id)) for node_id in ids]
