"""How many memories meaning alone can't find, since they have no vector: told from what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest

import apsw

from tierdeck.index.history_mark import has_history
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.search.rows.condition import Condition, meeting
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.vectors.vector_index import VectorIndex

# So many are asked about one by one, in 1 ms; of more it is told how many there are at least.
_MOST_ASKED = 500
_EMBED = "`tierdeck embed` makes those that wait"
_MANY_CHANGED = (
    "many memories were changed or deleted since their vectors were made, and meaning alone can't find what was"
    " written anew; `tierdeck embed` brings the vectors up to date"
)


@dataclass(frozen=True, slots=True)
class WithoutVector:
    """Memories that have no vector of their text now, just so many of those that may show.

    `is_least`: there may be more of them. `is_of_store`: at least so many of all memories, whatever the filters let
    through. `are_many_changed`: none could be counted, and many were changed since the vectors were made.
    """

    rows: int
    is_least: bool = False
    is_of_store: bool = False
    are_many_changed: bool = False

    def sentence(self, *, has_filters: bool) -> str | None:
        """What to tell whoever searches by meaning alone; None when there is nothing to tell."""
        if not self.rows:
            return _MANY_CHANGED if self.are_many_changed else None
        number = f"{'at least ' if self.is_least or self.is_of_store else ''}{self.rows:,}"
        is_of_those_that_pass = has_filters and not self.is_of_store
        if self.rows == 1:
            which = "memory that passes the filters" if is_of_those_that_pass else "memory"
            return f"{number} {which} has no vector, and meaning alone can't find it; {_EMBED}"
        which = "memories that pass the filters" if is_of_those_that_pass else "memories"
        return f"{number} {which} have no vector, and meaning alone can't find them; {_EMBED}"


def without_vector(
    conn: apsw.Connection, condition: Condition, index: VectorIndex, memories: ReadMemories, store_rows: int
) -> WithoutVector:
    """Count the memories that meet the condition and have no vector of their text, never by going through all.

    Where the index knows the store's history it is those it has not finished, and what changed since. Where it does
    not, or those are many, it is the more of two least numbers: those found among the first of them, and what the
    store holds more than the index.

    Args:
        index: in a snapshot of its own.
        store_rows: all memories in the snapshot of `conn`.
    """
    seen = index.seen_change()
    changed, unfinished = changed_since(conn, *seen), index.unfinished()
    known = (changed or frozenset()) | (unfinished or frozenset())
    rows = _rows_among(conn, condition, index, memories, known, changed or frozenset())
    if changed is not None and unfinished is not None and len(known) <= _MOST_ASKED:
        return WithoutVector(rows)
    rows_of_store = store_rows - index.vectors_held  # nothing where vectors of older texts stand for the newer
    if rows_of_store > rows:
        return WithoutVector(rows_of_store, is_of_store=True)
    if rows:
        return WithoutVector(rows, is_least=True)
    are_many = changed is not None or unfinished is None or _has_history(conn, *seen)
    return WithoutVector(0, are_many_changed=are_many)


def _rows_among(
    conn: apsw.Connection,
    condition: Condition,
    index: VectorIndex,
    memories: ReadMemories,
    known: frozenset[str],
    changed: frozenset[str],
) -> int:
    """How many of the first of these meet the condition and have no vector of their text."""
    asked = meeting(conn, condition, nsmallest(_MOST_ASKED, known))
    made_from = index.hashes(asked & changed)  # written again since, or back to what it was
    now = memories.digests(list(made_from))
    return len(asked) - sum(made_from[node_id] == now.get(node_id) for node_id in made_from)


def _has_history(conn: apsw.Connection, seen_seq: int, seen_mark: str | None) -> bool:
    """Whether what changed could not be told only because it is too much."""
    is_kept = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_change' AND type = 'table'").fetchone()
    return is_kept is not None and has_history(conn, seen_seq, seen_mark)
