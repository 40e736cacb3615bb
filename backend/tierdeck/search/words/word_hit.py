"""One memory's match by whole words. A value only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WordHit:
    """One memory's match: bm25, positive and raw, and which of the words asked for stand in it (by number)."""

    bm25: float
    words: frozenset[int]
    asked: int
