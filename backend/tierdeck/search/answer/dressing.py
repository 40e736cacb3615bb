"""What only the hits that are shown get: where their excerpts match, and whether their texts look like secrets.

Both take 20 µs a text, and of 140 candidates 20 are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.search.answer.hit import Flag, Hit
from tierdeck.search.answer.marks import Marker
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.secret_scan import has_secret

MAX_SECRET_SCAN_CHARS = 65_536
_SECRET: frozenset[Flag] = frozenset({"secret"})


class Dressing:
    """Dresses any of the candidates of one answer, also when the snapshot is gone. Safe to use from threads."""

    def __init__(self, memories: ReadMemories, marker: Marker, ids: Sequence[str]) -> None:
        """
        Args:
            ids: the candidates. Texts that were kept are kept on, 16 MB at most; into longer ones is looked now.
        """
        self._marker = marker
        self._texts = memories.kept_texts(ids)
        others = [node_id for node_id in ids if node_id not in self._texts]
        heads = memories.heads(others, MAX_SECRET_SCAN_CHARS) if others else ()
        self._secret = frozenset(node_id for node_id, text in heads if has_secret(text))

    def dressed(self, hit: Hit) -> Hit:
        """The hit with its matches, and flagged where its text looks like a secret."""
        matches = self._marker.marks(hit.row.excerpt) if hit.keyword else ()
        flags: frozenset[Flag] = hit.flags | _SECRET if self._is_secret(hit.row.id) else hit.flags
        return Hit(hit.row, hit.score, hit.keyword, hit.semantic, flags, matches)

    def _is_secret(self, node_id: str) -> bool:
        return node_id in self._secret or has_secret(self._texts.get(node_id, "")[:MAX_SECRET_SCAN_CHARS])
