"""Rows, hits and answers as the library would give them, for tests of how they look."""

from __future__ import annotations

from dataclasses import replace

from tierdeck.model import NodeRow, NodeType, Tier
from tierdeck.search.answer.hit import Flag, Hit, KeywordPart, SearchAnswer, SemanticPart
from tierdeck.search.query.query import Query, parse_query

NOW_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def row(text: str = "plain words", *, age_ms: int = 3 * HOUR_MS, problems: tuple[str, ...] = ()) -> NodeRow:
    """A memory's list row with this text."""
    return NodeRow(
        id="3f2a9c1e-0000-4000-8000-000000000001",
        type=NodeType.DECISION,
        tier=Tier.LONGTERM,
        confidence=0.9,
        excerpt=text[:400],
        content_chars=len(text),
        created_at_ms=NOW_MS - age_ms,
        last_accessed_ms=None,
        access_count=14,
        problems=problems,
    )


def hit(
    text: str = "plain words",
    *,
    words: float | None = 0.68,
    meaning: float | None = 0.91,
    alpha: float = 0.4,
    flags: frozenset[Flag] = frozenset(),
    matches: tuple[tuple[int, int], ...] = (),
) -> Hit:
    """A hit whose score is what its parts say at `alpha`."""
    keyword = None if words is None else KeywordPart(words, 7.31, 10.75, 2, 5, 3)
    semantic = None if meaning is None else SemanticPart(meaning, 0.83, 0.91, 1)
    score = alpha * (meaning or 0.0) + (1 - alpha) * (words or 0.0)
    return Hit(row(text), score, keyword, semantic, flags, matches)


def answer(*hits: Hit, alpha: float = 0.4, query: str = "words", **changes: object) -> SearchAnswer:
    """An answer with these hits; `changes` are further fields of it."""
    parsed: Query = parse_query(query)
    plain = SearchAnswer(parsed, alpha, alpha, hits, hits, 50, model="wordllama-256", store_rows=10)
    return replace(plain, **changes)  # type: ignore[arg-type]
