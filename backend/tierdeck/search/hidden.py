"""When too little is found: what each filter alone keeps out, so that the operator knows which one to drop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import apsw

from tierdeck.model import NodeFilter
from tierdeck.search.condition import condition_of
from tierdeck.search.fts import Match
from tierdeck.search.hit import HiddenByFilter
from tierdeck.search.query import Query
from tierdeck.search.word_source import WordSource
from tierdeck.store import Store

MAX_COUNTED = 10_000
ARCHIVE_RULE = "is:archived"


def hidden_by_filters(
    conn: apsw.Connection, store: Store, node_filter: NodeFilter, query: Query, match: Match | None
) -> tuple[HiddenByFilter, ...]:
    """How many more memories would match without each filter, all others kept; filters that hide none are left out.

    The rule that keeps the archive out counts as a filter: `is:archived` is what to type to see those.

    Args:
        match: what FTS5 was asked; None counts every memory (search by meaning alone, browsing).
    """
    words = WordSource(conn)

    def count(without: NodeFilter, excluded: tuple[str, ...]) -> int:
        condition = condition_of(store, without, excluded)
        if match is not None:
            return words.count_matching(match.pool, condition, MAX_COUNTED)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM nodes n WHERE {condition.sql} LIMIT ?)"
        return int(conn.execute(sql, (*condition.params, MAX_COUNTED)).get)

    shown = count(node_filter, query.excluded)
    found = [
        HiddenByFilter(text, count(without, query.excluded) - shown)
        for text, without in _each_without(node_filter, query)
    ]
    for excluded in query.excluded:
        rest = tuple(text for text in query.excluded if text != excluded)
        found.append(HiddenByFilter(f"-{excluded}", count(node_filter, rest) - shown))
    return tuple(hidden for hidden in found if hidden.rows > 0)


def _each_without(node_filter: NodeFilter, query: Query) -> Iterator[tuple[str, NodeFilter]]:
    """Each filter in force as its text, and the filter without it."""
    f = node_filter

    def text(key: str, otherwise: str) -> str:
        return " ".join(chip.text for chip in query.chips if chip.key == key) or otherwise

    if f.tiers:
        yield text("tier", f"tier:{','.join(sorted(f.tiers))}"), replace(f, tiers=frozenset())
    if not f.shows_archived:
        yield ARCHIVE_RULE, replace(f, include_archived=True)
    if f.types:
        yield text("type", f"type:{','.join(sorted(f.types))}"), replace(f, types=frozenset())
    if f.min_confidence is not None or f.max_confidence is not None:
        yield text("conf", _confidence_text(f)), replace(f, min_confidence=None, max_confidence=None)
    if f.since_ms is not None:
        yield text("since", f"since:{_day(f.since_ms)}"), replace(f, since_ms=None)
    if f.until_ms is not None:
        yield text("until", f"until:{_day(f.until_ms)}"), replace(f, until_ms=None)
    if f.session is not None:
        yield text("session", f"session:{f.session}"), replace(f, session=None)
    if f.project is not None:
        yield text("project", f"project:{f.project}"), replace(f, project=None)
    if f.tag is not None:
        yield text("tag", f"tag:{f.tag}"), replace(f, tag=None)
    for pair in f.metadata:
        rest = tuple(other for other in f.metadata if other != pair)
        yield f"meta.{pair[0]}={pair[1]}", replace(f, metadata=rest)


def _confidence_text(f: NodeFilter) -> str:
    bounds = ((">=", f.min_confidence), ("<=", f.max_confidence))
    return " ".join(f"conf{sign}{bound:.3g}" for sign, bound in bounds if bound is not None)


def _day(at_ms: int) -> str:
    day = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=max(-700_000, min(at_ms // 86_400_000, 2_900_000)))
    return day.date().isoformat()
