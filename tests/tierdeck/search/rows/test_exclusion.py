"""What a query keeps out is told by the texts of the memories, as the full-text index would tell it."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeFilter
from tierdeck.search.query.fts import quoted
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import MAX_SCORED_CHARS, ReadMemories
from tierdeck.store import Store

TEXTS = (
    "the worker finished",
    "it finishes tomorrow",
    "the deploy was rolled back",
    "back rolled, deploy was the",
    "rolled rolled back",
    "Über-Café",
    "设备清单在NAS上",
    "early word, then " + "x " * (MAX_SCORED_CHARS // 2) + "lateword",
    "e" * (MAX_SCORED_CHARS - 1),
)
EXCLUDED = (
    "finished",
    "rolled back",
    "uber cafe",
    "设备清单在NAS上",
    "lateword",
    "early",
    "no such word",
    "!!!",
    "the",
)


@pytest.mark.parametrize("text", EXCLUDED)
def test_those_that_the_full_text_index_finds_hold_it(store: Store, text: str) -> None:
    ids = remember(store, *TEXTS)

    def by_index(conn: apsw.Connection) -> set[str]:
        rows = conn.execute("SELECT node_id FROM content_fts WHERE content_fts MATCH ?", (quoted(text),))
        return {str(row[0]) for row in rows}

    def by_text(conn: apsw.Connection) -> set[str]:
        return Exclusion(conn, condition_of(store, NodeFilter()), [text], ReadMemories(conn)).holding(ids)

    assert store.read(by_text) == store.read(by_index)


def test_one_of_several_is_enough(store: Store) -> None:
    first, second, third = remember(store, "a lost parcel", "a found parcel", "a wrapped parcel")
    condition = condition_of(store, NodeFilter())

    def held(conn: apsw.Connection) -> set[str]:
        return Exclusion(conn, condition, ["lost", "found parcel"], ReadMemories(conn)).holding(
            [first, second, third]
        )

    assert store.read(held) == {first, second}
