"""When too little is found: what each filter alone keeps out, so that the operator knows which one to drop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import apsw

from tierdeck.model import NodeFilter
from tierdeck.search.answer.filter_label import confidence_labels, metadata_label, time_label, value_label
from tierdeck.search.answer.hit import HiddenByFilter
from tierdeck.search.query.fts import Match
from tierdeck.search.query.query import Query
from tierdeck.search.rows.condition import Condition, condition_of
from tierdeck.search.rows.exclusion import without_glued
from tierdeck.store import Store

MAX_COUNTED = 10_000
MAX_COUNTED_OF_LARGE = 2_000
ARCHIVE_RULE = "is:archived"


def hidden_by_filters(
    conn: apsw.Connection,
    store: Store,
    node_filter: NodeFilter,
    query: Query,
    match: Match | None,
    *,
    max_matches: int = MAX_COUNTED,
) -> tuple[HiddenByFilter, ...]:
    """How many more memories would match without each filter, all others kept; filters that hide none are left out.

    The rule that keeps the archive out counts as a filter: `is:archived` is what to type to see those.

    Args:
        match: what FTS5 was asked; None counts every memory (search by meaning alone, browsing).
        max_matches: how many matches are looked at, newest first (8 µs each); where there are more, the numbers
            are the least that they can be.
    """
    looks = [(text, without, query.excluded) for text, without in _each_without(node_filter, query)]
    for excluded in query.excluded:
        rest = tuple(text for text in query.excluded if text != excluded)
        looks.append((f"-{excluded}", node_filter, rest))
    conditions = [
        without_glued(conn, condition_of(store, without, excluded), excluded)
        for _, without, excluded in (("", node_filter, query.excluded), *looks)
    ]
    if match is None:
        (shown, *others), is_all = [_count_nodes(conn, condition) for condition in conditions], True
    else:
        (shown, *others), is_all = _count_matches(conn, match.pool, conditions, max_matches)
    return tuple(
        HiddenByFilter(text, rows - shown, is_least=not is_all)
        for (text, _, _), rows in zip(looks, others, strict=True)
        if rows > shown
    )


def _count_nodes(conn: apsw.Connection, condition: Condition) -> int:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM nodes n WHERE {condition.sql} LIMIT ?)"
    return int(conn.execute(sql, (*condition.params, MAX_COUNTED)).get)


def _count_matches(
    conn: apsw.Connection, expression: str, conditions: Sequence[Condition], max_matches: int
) -> tuple[list[int], bool]:
    """How many of the newest matches meet each condition, all in one pass; and whether those were all matches."""
    sums = ", ".join(f"total({condition.sql})" for condition in conditions)
    params = [value for condition in conditions for value in condition.params]
    [row] = conn.execute(
        "WITH m AS MATERIALIZED (SELECT node_id FROM content_fts WHERE content_fts MATCH ?"
        f" ORDER BY rowid DESC LIMIT ?) SELECT (SELECT count(*) FROM m), {sums}"
        " FROM m JOIN nodes n ON n.id = m.node_id",
        (expression, max_matches, *params),
    ).fetchall()
    matches, *met = [int(cast("float", number)) for number in row]
    return met, matches < max_matches


def _each_without(node_filter: NodeFilter, query: Query) -> Iterator[tuple[str, NodeFilter]]:
    """Each filter in force as its text, which means the same when it is typed, and the filter without it."""
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
        bounds = [chip.text for chip in query.chips if chip.key == "conf"]
        bounds += confidence_labels(f, query.filter)
        yield " ".join(bounds), replace(f, min_confidence=None, max_confidence=None)
    if f.since_ms is not None:
        yield text("since", time_label("since", f.since_ms)), replace(f, since_ms=None)
    if f.until_ms is not None:
        yield text("until", time_label("until", f.until_ms)), replace(f, until_ms=None)
    if f.session is not None:
        yield text("session", value_label("session", ":", f.session)), replace(f, session=None)
    if f.project is not None:
        yield text("project", value_label("project", ":", f.project)), replace(f, project=None)
    if f.tag is not None:
        yield text("tag", value_label("tag", ":", f.tag)), replace(f, tag=None)
    for pair in f.metadata:
        rest = tuple(other for other in f.metadata if other != pair)
        yield metadata_label(*pair), replace(f, metadata=rest)
