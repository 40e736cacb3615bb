"""The comparison of index and memories agrees with a plain one, whatever was done to either behind the triggers."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import apsw
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.maintenance.fts_drift import Drift, find_drift

IDS = st.sampled_from(["a", "b", "c", "ä", "日", "a\x7f", ""])
TEXTS = st.sampled_from(["one", "two", "", "é"])
TYPES = st.sampled_from(["fact", "entity"])
Row = tuple[str | None, str, str]


def plain_comparison(nodes: list[Row], indexed: list[Row], *, compares_type: bool) -> Drift:
    """The same without streams, sorting or digests."""
    seen: dict[str, list[tuple[str, str]]] = {}
    for node_id, content, kind in indexed:
        if node_id is not None:
            seen.setdefault(node_id, []).append((content, kind if compares_type else ""))
    missing = stale = duplicated = 0
    for node_id, content, kind in nodes:
        if node_id is None:
            continue
        found = seen.pop(node_id, [])
        missing += not found
        stale += bool(found) and (content, kind if compares_type else "") not in found
        duplicated += max(0, len(found) - 1)
    nameless = Counter(row[0] is None for row in indexed)[True] - Counter(row[0] is None for row in nodes)[True]
    extra = sum(len(rows) for rows in seen.values()) + max(0, nameless)
    return Drift(missing, stale, extra, duplicated)


@given(
    st.lists(
        st.tuples(st.none() | IDS, TEXTS, TYPES),
        max_size=8,
        unique_by=lambda row: object() if row[0] is None else row[0],
    ),
    st.lists(st.tuples(st.none() | IDS, TEXTS, TYPES), max_size=10),
    st.booleans(),
)
def test_the_streamed_comparison_agrees_with_a_plain_one(
    nodes: list[Row], indexed: list[Row], compares_type: bool
) -> None:
    with closing(apsw.Connection(":memory:")) as conn:
        conn.execute("CREATE TABLE nodes (id TEXT UNIQUE, content TEXT, type TEXT)")
        conn.execute("CREATE VIRTUAL TABLE content_fts USING fts5(node_id UNINDEXED, content, type UNINDEXED)")
        conn.executemany("INSERT INTO nodes VALUES (?, ?, ?)", nodes)
        conn.executemany("INSERT INTO content_fts VALUES (?, ?, ?)", indexed)
        found = find_drift(conn, compares_type=compares_type)
    wanted = plain_comparison(nodes, indexed, compares_type=compares_type)
    assert (found.missing, found.stale, found.extra, found.duplicated) == (
        wanted.missing,
        wanted.stale,
        wanted.extra,
        wanted.duplicated,
    )
    assert found.is_clean == (found.summary == "") == (found.examples == () and found.extra == 0)
