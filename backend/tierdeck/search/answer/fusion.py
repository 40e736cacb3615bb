"""Two scores to one, and the order that follows. Pure: plain values in, plain values out.

score = alpha x semantic + (1 - alpha) x keyword. A side that is missing adds 0 and nothing is rescaled, so a score
means the same from one query to the next. Spec: SPEC-09.04
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tierdeck.search.answer.hit import Hit

_NEVER_MS = -(1 << 62)


def keyword_scores(raw: Mapping[str, float], best: float) -> dict[str, float]:
    """Each memory's raw keyword score as a part of the best one; a match is above 0 and at most 1.

    A fixed curve on bm25 would not do: in a store of three memories bm25 is about 1e-6, in one of 200 about 12.

    Args:
        raw: positive raw scores by memory.
        best: the best of the filtered pool, at least as great as any in `raw`.
    """
    return {key: min(1.0, max(value / best, 1e-9)) if best > 0 else 1.0 for key, value in raw.items()}


def combined(semantic: float, keyword: float, alpha: float) -> float:
    """The one formula: `alpha` weighs meaning, the rest words."""
    return alpha * semantic + (1.0 - alpha) * keyword


def ranked(candidates: Iterable[Hit], alpha: float, limit_rows: int | None = None) -> tuple[Hit, ...]:
    """Candidates scored at this alpha, best first; at the ends 0 and 1 those of score 0 are left out.

    Ties go by semantic score, keyword score, confidence, last access (newest first), then id, so that the order of
    equal memories never changes from one search to the next.

    Args:
        limit_rows: how many at most; all when it is None.
    """
    ordered = sorted(((_order(hit, alpha), hit) for hit in candidates), key=lambda pair: pair[0])
    if alpha in (0.0, 1.0):
        ordered = [(order, hit) for order, hit in ordered if order[0] < 0.0]
    return tuple(
        Hit(hit.row, -order[0], hit.keyword, hit.semantic, hit.flags, hit.matches)
        for order, hit in ordered[:limit_rows]
    )


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """The memories' places by one side alone, counted from 1; equal scores are ordered by id."""
    ordered = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))
    return {node_id: rank for rank, node_id in enumerate(ordered, 1)}


def _parts(hit: Hit) -> tuple[float, float]:
    return (hit.semantic.score if hit.semantic else 0.0, hit.keyword.score if hit.keyword else 0.0)


def _order(hit: Hit, alpha: float) -> tuple[float, float, float, float, int, str]:
    semantic, keyword = _parts(hit)
    last_ms = _NEVER_MS if hit.row.last_accessed_ms is None else hit.row.last_accessed_ms
    score = combined(semantic, keyword, alpha)
    return (-score, -semantic, -keyword, -hit.row.confidence, -last_ms, hit.row.id)
