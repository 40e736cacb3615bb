"""What only the hits that are shown get: the part of the text that matches, and whether it looks like a secret.

Both take 20 µs a text, and of 140 candidates 20 are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tierdeck.model import EXCERPT_CHARS
from tierdeck.search.answer.hit import Flag, Hit
from tierdeck.search.answer.marks import Marker, Span, merged
from tierdeck.search.answer.passage import passage_start, places_within
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.secret_scan import has_secret

MAX_SECRET_SCAN_CHARS = 65_536
# No further than where a secret that begins there is still seen whole: a private key of 8,192 bits has 6,400.
MAX_PASSAGE_CHARS = MAX_SECRET_SCAN_CHARS - 8_192
_SECRET: frozenset[Flag] = frozenset({"secret"})


class Dressing:
    """Dresses any of the candidates of one answer, also when the snapshot is gone. Safe to use from threads."""

    def __init__(self, memories: ReadMemories, marker: Marker, ids: Sequence[str]) -> None:
        """
        Args:
            ids: the candidates. Texts that were kept are kept on, 16 MB at most, and of longer ones what is looked
                through, 9 MB of 140.
        """
        self._marker = marker
        self._texts = memories.kept_texts(ids)
        others = [node_id for node_id in ids if node_id not in self._texts]
        self._texts |= memories.heads(others, MAX_SECRET_SCAN_CHARS)

    def dressed(self, hit: Hit) -> Hit:
        """The hit with its matches, and flagged where its text looks like a secret.

        Of a long text the excerpt is what holds the most of the query's words; of one with a secret its beginning
        all the same, for what stands before a part may be what tells that a secret is in it.
        """
        text = self._texts.get(hit.row.id, "")
        is_secret = has_secret(text[:MAX_SECRET_SCAN_CHARS])
        flags = hit.flags | _SECRET if is_secret else hit.flags
        if hit.keyword is None:
            return replace(hit, flags=flags)
        row, found = hit.row, self._marker.found(hit.row.excerpt)
        matches = merged(found)
        is_partly_seen = len({token.text for token in found}) < max(1, hit.keyword.matched_terms)
        if row.content_chars > EXCERPT_CHARS and is_partly_seen and not is_secret:
            seen = text[:MAX_PASSAGE_CHARS]
            found = self._marker.found(seen)
            start = passage_start(seen, found, EXCERPT_CHARS)
            if start:
                excerpt = seen[start : start + EXCERPT_CHARS]
                row = replace(row, excerpt=excerpt, excerpt_start=start)
                matches = places_within(merged(found), start, start + len(excerpt))
        return replace(hit, row=row, flags=flags, matches=matches)

    def marks(self, text: str) -> tuple[Span, ...]:
        """The (start, end) of what was looked for in any text."""
        return self._marker.marks(text)
