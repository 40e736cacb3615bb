"""Pages of long lists: the same in a store of ours, by its index, and in another program's, by sorting."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.other_program import other_program
from tests.tierdeck.damage import lose_row
from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck.errors import DamagedStoreError
from tierdeck.model import EdgeType, Member, NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import (
    Cursor,
    Page,
    Store,
    add_node,
    add_nodes,
    count_left_in_archive,
    count_nodes,
    counts,
    open_store,
    page_around,
    page_at_offset,
    relate,
)
from tierdeck.store.listing import IndexedListing, SortedListing, listing_of

NOON = 1_796_040_000_000
EVERYTHING = NodeFilter(include_archived=True)
LONGTERM = NodeFilter(tiers=frozenset({Tier.LONGTERM}))


def sample_rows() -> list[tuple[str, int, Tier]]:
    """Names, times and tiers of 500 memories; many share a time, as a bulk import leaves them."""
    draw = random.Random(7)
    return [(f"{n:03d}", NOON + draw.randrange(40) * 1000, draw.choice(list(Tier))) for n in range(500)]


def in_order(filter: NodeFilter) -> list[str]:
    """What the list has to be: by time, then by the order of adding, both falling."""
    kept = [
        (time_ms, number, name)
        for number, (name, time_ms, tier) in enumerate(sample_rows())
        if (tier in filter.tiers if filter.tiers else filter.include_archived or tier is not Tier.ARCHIVE)
    ]
    return [name for _, _, name in sorted(kept, reverse=True)]


@pytest.fixture(params=["ours", "theirs"])
def listed(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Iterator[Store]:
    if request.param == "ours":
        drafts = [NodeDraft(n, id=f"id-{n}", created_at_ms=t, tier=tier) for n, t, tier in sample_rows()]
        add_nodes(store, drafts)
        yield store
        return
    path = tmp_path / "theirs.db"
    make_foreign_store(
        path,
        [
            {"id": f"id-{n}", "type": "fact", "content": n, "created_at": t, "tier": tier.value}
            for n, t, tier in sample_rows()
        ],
    )
    with open_store(path) as opened:
        yield opened


def names(page: Page) -> list[str]:
    return [row.excerpt for row in page.rows]


@pytest.mark.parametrize("filter", [EVERYTHING, NodeFilter(), LONGTERM, NodeFilter(since_ms=NOON + 20_000)])
def test_scrolling_down_and_up_shows_each_memory_once_in_order(listed: Store, filter: NodeFilter) -> None:
    expected = in_order(filter)
    if filter.since_ms is not None:
        expected = names(page_at_offset(listed, filter, 0, 500))
    page = page_around(listed, filter, None, before_rows=0, after_rows=29)
    down = names(page)
    while page.first_row + len(page.rows) < page.total_rows:
        page = page_around(listed, filter, Cursor.of(page.rows[-1]), before_rows=0, after_rows=30)
        assert page.first_row == len(down) - 1
        down.extend(names(page)[1:])
    assert down == expected
    up = names(page)
    while page.first_row > 0:
        page = page_around(listed, filter, Cursor.of(page.rows[0]), before_rows=30, after_rows=0)
        up = names(page)[:-1] + up
    assert up == expected


@pytest.mark.parametrize("filter", [EVERYTHING, NodeFilter(), LONGTERM])
def test_a_page_knows_its_number_and_the_total(listed: Store, filter: NodeFilter) -> None:
    expected = in_order(filter)
    draw = random.Random(3)
    for _ in range(40):
        name = draw.choice(expected)
        time_ms = next(t for n, t, _ in sample_rows() if n == name)
        page = page_around(listed, filter, Cursor(time_ms, f"id-{name}"), before_rows=5, after_rows=5)
        at = expected.index(name)
        assert page.total_rows == len(expected)
        assert page.first_row == max(0, at - 5)
        assert names(page) == expected[max(0, at - 5) : at + 6]


@pytest.mark.parametrize("filter", [EVERYTHING, LONGTERM])
def test_a_jump_by_number_lands_there_from_either_end(listed: Store, filter: NodeFilter) -> None:
    expected = in_order(filter)
    for first in (0, 1, len(expected) // 2, len(expected) - 15, len(expected) - 10, len(expected), 10**9, -5):
        page = page_at_offset(listed, filter, first, 10)
        start = max(0, min(first, len(expected) - 10))
        assert (page.first_row, names(page)) == (start, expected[start : start + 10])
        again = page_around(listed, filter, Cursor.of(page.rows[3]), before_rows=3, after_rows=6)
        assert again == page


def test_a_cursor_whose_memory_left_the_list_keeps_its_place(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}", created_at_ms=NOON + n) for n in range(10)])
    page = page_around(store, NodeFilter(), None, before_rows=0, after_rows=9)
    cursor = Cursor.of(page.rows[4])
    archive_nodes(store, [ids[5]], actor="mara")
    page = page_around(store, NodeFilter(), cursor, before_rows=2, after_rows=2)
    assert (page.first_row, page.total_rows, names(page)) == (2, 9, ["7", "6", "4", "3", "2"])
    gone = Cursor(NOON + 4, "never there")
    assert names(page_around(store, NodeFilter(), gone, before_rows=1, after_rows=1)) == ["4", "3", "2"]


def test_what_is_added_meanwhile_moves_the_numbers(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"{n}", created_at_ms=NOON + n) for n in range(500)])
    before = page_at_offset(store, EVERYTHING, 100, 10)
    add_nodes(store, [NodeDraft(f"new {n}", created_at_ms=NOON * 2) for n in range(7)])
    after = page_around(store, EVERYTHING, Cursor.of(before.rows[0]), before_rows=0, after_rows=9)
    assert (after.rows, after.first_row, after.total_rows) == (before.rows, 107, 507)


def test_an_empty_list_is_a_page_without_rows(store: Store) -> None:
    for page in (
        page_around(store, NodeFilter(), None, before_rows=5, after_rows=5),
        page_around(store, NodeFilter(), Cursor(NOON, "x"), before_rows=5, after_rows=5),
        page_at_offset(store, NodeFilter(), 3, 10),
    ):
        assert page == Page((), 0, 0)


def test_a_memory_without_a_readable_time_stands_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    times = {"iso": "2026-11-30", "number": NOON, "word": "soon", "null": None, "seconds": NOON // 1000 + 60}
    make_foreign_store(path, [{"id": n, "type": "fact", "content": n, "created_at": at} for n, at in times.items()])
    with open_store(path) as store:
        page = page_around(store, NodeFilter(), None, before_rows=0, after_rows=9)
        assert names(page) == ["seconds", "number", "iso", "null", "word"]


def test_a_store_of_ours_is_paged_by_its_index_and_what_has_none_by_sorting(
    store: Store, family_store_path: Path
) -> None:
    assert isinstance(listing_of(store, NodeFilter()), IndexedListing)
    inside = (
        NodeFilter(session="s"),
        NodeFilter(project="p"),
        NodeFilter(tag="t"),
        NodeFilter(metadata=(("a", "b"),)),
    )
    for filter in inside:
        assert isinstance(listing_of(store, filter), SortedListing), "it has to read every row"
    with open_store(family_store_path) as theirs:
        assert isinstance(listing_of(theirs, NodeFilter()), SortedListing)


@pytest.mark.parametrize(
    "filter", [NodeFilter(), EVERYTHING, LONGTERM, NodeFilter(types=frozenset({NodeType.FACT}), min_confidence=0.1)]
)
def test_finding_a_page_reads_no_memory_and_sorts_nothing(store: Store, filter: NodeFilter) -> None:
    """The plan of every statement: index entries only, in their order. A query that sorts is slow at a million."""
    add_nodes(store, [NodeDraft(f"{n}", created_at_ms=NOON + n) for n in range(50)])
    listing = listing_of(store, filter)
    assert isinstance(listing, IndexedListing)

    def look(conn: apsw.Connection) -> list[str]:
        asked: list[tuple[str, Any]] = []

        def note(_: apsw.Cursor, sql: str, values: Any) -> bool:
            asked.append((sql, values))
            return True

        conn.exec_trace = note
        listing.around(conn, (NOON + 25, 26), 5, 5)
        listing.around(conn, (NOON + 10, 11), 5, 5)
        listing.at(conn, 20, 10)
        listing.at(conn, 40, 10)
        conn.exec_trace = None
        return [
            str(step[3])
            for sql, values in asked
            for step in conn.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
        ]

    plan = store.read(look)
    assert len(plan) >= 10
    assert {step.split(" (")[0] for step in plan} <= {
        "SEARCH n USING COVERING INDEX td_nodes_by_time",
        "SCAN n USING COVERING INDEX td_nodes_by_time",
    }


@pytest.mark.parametrize("filter", [NodeFilter(), NodeFilter(since_ms=NOON + 20_000)])
def test_what_only_the_archive_rule_hides_is_the_difference_it_makes(listed: Store, filter: NodeFilter) -> None:
    everything = replace(filter, include_archived=True)
    hidden = count_nodes(listed, everything) - count_nodes(listed, filter)
    assert hidden > 0
    assert count_left_in_archive(listed, filter) == hidden
    assert count_left_in_archive(listed, everything) == 0
    assert count_left_in_archive(listed, LONGTERM) == 0


def test_counts_are_of_the_whole_store(store: Store) -> None:
    ids = add_nodes(
        store, [NodeDraft(f"{n}", tier=tier, type=NodeType.FACT) for n, tier in enumerate([*Tier, Tier.TASK])]
    )
    relate(store, EdgeType.RELATION, [Member(ids[0], "subject"), Member(ids[1], "object")])
    found = counts(store)
    assert (found.total, found.edges, found.unreadable) == (5, 1, 0)
    assert found.by_tier == {Tier.TASK: 2, Tier.SESSION: 1, Tier.LONGTERM: 1, Tier.ARCHIVE: 1}
    assert found.by_type[NodeType.FACT] == 5
    assert found.by_type[NodeType.ENTITY] == 0


def test_memories_of_an_unreadable_tier_are_counted_apart(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(
        path, [{"id": "1", "content": "x", "tier": None}, {"id": "2", "content": "y", "text:tier": b"\xff"}]
    )
    with open_store(path) as store:
        assert (counts(store).total, counts(store).unreadable) == (2, 2)


def test_a_count_is_right_after_each_of_many_writes(store: Store) -> None:
    for number in range(20):
        assert count_nodes(store, NodeFilter()) == number
        add_node(store, NodeDraft(f"{number}"))
    assert page_around(store, NodeFilter(), None, before_rows=0, after_rows=0).total_rows == 20


def test_a_memory_that_is_listed_and_gone_from_its_table_is_told_as_damage(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(3)])
    store.close()
    lose_row(store.path, ids[1], "td_nodes_by_time")
    with open_store(store.path) as again, pytest.raises(DamagedStoreError, match="row 2 of nodes is listed"):
        page_at_offset(again, NodeFilter(), 0, 10)


def test_a_list_whose_memories_are_deleted_while_it_is_read_is_never_taken_for_damage(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": f"{n}", "content": f"{n}", "created_at": NOON + n} for n in range(300)])
    stop = tmp_path / "stop"
    # In a process of its own: the locks of two SQLite libraries in one process don't keep each other out.
    with other_program(path) as owner, open_store(path) as store:
        owner.begin(f"""
while not os.path.exists({str(stop)!r}):
    row = conn.execute("SELECT id, content, created_at FROM nodes ORDER BY random() LIMIT 1").fetchone()
    conn.execute("DELETE FROM nodes WHERE id = ?", row[:1])
    conn.execute("INSERT INTO nodes (id, content, created_at) VALUES (?, ?, ?)", row)
""")
        try:
            totals = {page_at_offset(store, EVERYTHING, 0, 300).total_rows for _ in range(60)}
        finally:
            stop.touch()
            owner.wait()
    assert totals <= {299, 300}
