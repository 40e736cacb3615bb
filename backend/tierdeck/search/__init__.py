"""Search: what an operator typed, found by word and by meaning, each score explained."""

from tierdeck.search.answer.hit import (
    Flag,
    HiddenByFilter,
    Hit,
    KeywordPart,
    MissingWord,
    SearchAnswer,
    SemanticPart,
)
from tierdeck.search.hybrid import hybrid_search, rerank
from tierdeck.search.query.query import FilterChip, Query, parse_query

__all__ = [
    "FilterChip",
    "Flag",
    "HiddenByFilter",
    "Hit",
    "KeywordPart",
    "MissingWord",
    "Query",
    "SearchAnswer",
    "SemanticPart",
    "hybrid_search",
    "parse_query",
    "rerank",
]
