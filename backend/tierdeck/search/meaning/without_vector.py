"""How many memories meaning alone can't find, since they have no vector: told from what is known already."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from tierdeck.search.rows.changed_since import changed_since
from tierdeck.search.rows.condition import Condition, meeting
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.vectors.vector_index import VectorIndex

# So many are asked about one by one, in 1 ms; of more it is told how many there are at least.
_MOST_ASKED = 500


@dataclass(frozen=True, slots=True)
class WithoutVector:
    """Memories that have no vector of their text now.

    `is_of_store`: at least so many of all memories, whatever the filters let through; else just so many of those
    that may show.
    """

    rows: int
    is_of_store: bool = False

    def sentence(self, *, has_filters: bool) -> str | None:
        """What to tell whoever searches by meaning alone; None when there is nothing to tell."""
        if not self.rows:
            return None
        number = f"{'at least ' if self.is_of_store else ''}{self.rows:,}"
        which = " that pass the filters" if has_filters and not self.is_of_store else ""
        if self.rows == 1:
            said = (
                f"{number} memory{which.replace('pass', 'passes')} has no vector, and meaning alone can't find it"
            )
        else:
            said = f"{number} memories{which} have no vector, and meaning alone can't find them"
        return f"{said}; `tierdeck embed` makes those that wait"


def without_vector(
    conn: apsw.Connection, condition: Condition, index: VectorIndex, memories: ReadMemories, store_rows: int
) -> WithoutVector:
    """Count the memories that meet the condition and have no vector of their text, never by going through all.

    Where the index knows the store's history it is those it has not finished, and what changed since; where it does
    not, or those are many, what the store holds more than the index.

    Args:
        index: in a snapshot of its own.
        store_rows: all memories in the snapshot of `conn`.
    """
    changed, unfinished = changed_since(conn, *index.seen_change()), index.unfinished()
    if changed is None or unfinished is None or len(changed) + len(unfinished) > _MOST_ASKED:
        return WithoutVector(max(0, store_rows - index.vectors_held), is_of_store=True)
    asked = meeting(conn, condition, list(changed | unfinished))
    made_from = index.hashes(asked & changed)  # written again since, or back to what it was
    now = memories.digests(list(made_from))
    return WithoutVector(len(asked) - sum(made_from[node_id] == now.get(node_id) for node_id in made_from))
