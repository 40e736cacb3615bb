"""What a filter hides is counted for each filter alone, in the words it would be typed with."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.search import hybrid_search
from tierdeck.store import Store

DAY_MS = 86_400_000
START_MS = 1_767_225_600_000  # 2026-01-01


def hidden(store: Store, text: str, given: NodeFilter | None = None, alpha: float = 0) -> dict[str, int]:
    return {h.filter_text: h.rows for h in hybrid_search(store, text, alpha=alpha, node_filter=given).hidden}


@pytest.fixture
def varied(store: Store) -> Store:
    remember(
        store,
        NodeDraft("blue a", confidence=0.9, metadata={"tags": ["x"], "k": "v"}, created_at_ms=START_MS),
        NodeDraft("blue b", confidence=0.2, type=NodeType.DECISION, created_at_ms=START_MS + 3 * DAY_MS),
        NodeDraft("blue c", tier=Tier.LONGTERM, created_at_ms=START_MS + 5 * DAY_MS),
        NodeDraft("red", tier=Tier.ARCHIVE),
    )
    return store


@pytest.mark.parametrize(
    ("typed", "rows"),
    [
        ("tier:task", 1),
        ("type:decision", 2),
        ("conf>0.8", 2),
        ("since:2026-01-03", 1),
        ("until:2026-01-01", 2),
        ("session:s-1", 3),
        ("project:p", 3),
        ("tag:x", 2),
        ("meta.k=v", 2),
        ("-b", 1),
    ],
)
def test_each_typed_filter_is_named_as_it_was_typed(varied: Store, typed: str, rows: int) -> None:
    if typed == "-b":
        remember(varied, "blue d")
        assert hidden(varied, 'blue -"b"') == {"-b": rows}
    else:
        assert hidden(varied, f"blue {typed}") == {typed: rows}


def test_a_filter_that_hides_nothing_is_not_named(varied: Store) -> None:
    assert hidden(varied, "blue conf>0.1") == {}


def test_the_archive_counts_only_what_would_match(varied: Store) -> None:
    assert hidden(varied, "blue") == {}
    assert hidden(varied, "red") == {"is:archived": 1}


def test_filters_set_elsewhere_are_named_as_they_would_be_typed(varied: Store) -> None:
    given = NodeFilter(
        tiers=frozenset({Tier.SESSION}), min_confidence=0.5, since_ms=START_MS, metadata=(("k", "v"),)
    )
    assert hidden(varied, "blue", given) == {"tier:session": 1}
    assert hidden(varied, "blue", NodeFilter(min_confidence=0.5, max_confidence=0.8)) == {"conf>=0.5 conf<=0.8": 2}
    assert hidden(varied, "blue", NodeFilter(since_ms=START_MS + 4 * DAY_MS)) == {"since:2026-01-05": 2}


def test_a_filter_set_elsewhere_hides_the_same_when_its_name_is_typed(varied: Store) -> None:
    hour_ms, noon_ms = 3_600_000, START_MS + 3 * DAY_MS + DAY_MS // 2
    for given, name in (
        (NodeFilter(until_ms=noon_ms - hour_ms), "until:2026-01-04T11:00"),
        (NodeFilter(until_ms=START_MS + DAY_MS), "until:2026-01-01"),
        (NodeFilter(since_ms=noon_ms + 1_001), "since:2026-01-04T12:00:01.001"),
        (NodeFilter(since_ms=noon_ms + 7_000), "since:2026-01-04T12:00:07"),
        (NodeFilter(min_confidence=0.85001), "conf>=0.85001"),
        (NodeFilter(session="the first one"), 'session:"the first one"'),
        (NodeFilter(metadata=(("k", "a b"),)), 'meta.k="a b"'),
        (NodeFilter(metadata=(("a key", "v"),)), 'meta:"a key=v"'),
    ):
        [(named, rows)] = hidden(varied, "blue", given).items()
        assert named == name
        assert hidden(varied, f"blue {name}") == {name: rows}


def test_a_bound_set_elsewhere_is_named_beside_the_one_that_was_typed(varied: Store) -> None:
    given = NodeFilter(min_confidence=0.8, max_confidence=0.95)
    assert hidden(varied, "blue conf<0.9", given) == {"conf<0.9 conf>=0.8": 3}


def test_browsing_counts_every_memory(varied: Store) -> None:
    assert hidden(varied, "tier:longterm") == {"tier:longterm": 2}


def test_a_query_of_signs_that_finds_nothing_blames_no_filter(varied: Store) -> None:
    assert hidden(varied, "👍 tier:task") == {}
