"""The memories that one query looks at, each read once: its list row and its text lie on the same page.

A page that was not touched of late takes 2 to 15 µs, more than everything that is done with it, and the words of a
query, its nearest vectors and its answer ask for the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.model import EXCERPT_CHARS, NodeRow, content_hash
from tierdeck.search.rows.condition import Condition
from tierdeck.store.rows import SQLValue, as_bytes, node_row_of, read_rows, text_of

# Of longer texts the beginning is scored; 200,000 characters take 5 ms.
MAX_SCORED_CHARS = 200_000
# Longer texts, and what comes beyond so much of all, are not kept but read anew by whoever needs one.
MAX_KEPT_BYTES = 65_536
MAX_KEPT_CHARS_IN_ALL = 16_000_000
_IS_KEPT = f"octet_length(n.content) <= {MAX_KEPT_BYTES} AND typeof(n.content) = 'text'"
_FIELDS = ("type", "tier", "confidence", "created_at", "last_accessed", "access_count")
_COLUMNS = ", ".join(
    [
        "n.rowid",
        as_bytes("n.id"),
        f"CASE WHEN {_IS_KEPT} THEN CAST(n.content AS BLOB) END",
        f"CASE WHEN {_IS_KEPT} THEN length(n.content) END",
        *(as_bytes(f"n.{name}") for name in _FIELDS),
    ]
)
_EVERY = Condition("1", ())


@dataclass(frozen=True, slots=True)
class _Read:
    """One memory: its text, None where it is too long to be kept or is no text, and the values of its list row."""

    text: str | None
    values: tuple[SQLValue, ...]

    def row(self, node_id: str) -> NodeRow:
        """The list row; only of a text that was kept."""
        kind, tier, confidence, chars, created, accessed, count = self.values
        excerpt = (self.text or "")[:EXCERPT_CHARS]
        return node_row_of((node_id, kind, tier, confidence, excerpt, chars, created, accessed, count))


class ReadMemories:
    """The memories that were read inside one snapshot."""

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn
        self._read: dict[str, _Read] = {}
        self._kept_chars = 0

    def numbered(self, numbers: Sequence[int], condition: Condition) -> dict[int, str]:
        """The ids of the memories with those rowids that meet the condition, by rowid, in no order."""
        source = "json_each(?) j CROSS JOIN nodes n ON n.rowid = j.value"
        return dict(self._look(source, json.dumps(list(numbers)), condition))

    def meeting(self, ids: Sequence[str], condition: Condition) -> set[str]:
        """Those of the memories that meet the condition."""
        # CROSS: else SQLite may begin with an index of the condition, which lists a tenth of the store.
        source = "json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
        return {node_id for _, node_id in self._look(source, json.dumps(list(ids)), condition)}

    def texts(self, ids: Collection[str]) -> Iterator[tuple[str, str]]:
        """Each of those memories that exists, and its text, of a long one the beginning; in no order."""
        self._read_missing(ids)
        kept = self.kept_texts(ids)
        yield from kept.items()
        others = [node_id for node_id in ids if node_id not in kept]
        yield from self._columns(others, f"substr(n.content, 1, {MAX_SCORED_CHARS})")

    def rows(self, ids: Sequence[str]) -> dict[str, NodeRow]:
        """The list rows of those of the memories that exist, in the order asked."""
        self._read_missing(ids)
        kept = {node_id: self._read[node_id].row(node_id) for node_id in self.kept_texts(ids)}
        others = [node_id for node_id in ids if node_id not in kept]
        found = kept | read_rows(self._conn, others) if others else kept
        return {node_id: found[node_id] for node_id in ids if node_id in found}

    def digests(self, ids: Sequence[str]) -> dict[str, str]:
        """The `content_hash` of the whole text of each of those memories that exists."""
        self._read_missing(ids)
        found = {node_id: content_hash(text) for node_id, text in self.kept_texts(ids).items()}
        others = self._columns([node_id for node_id in ids if node_id not in found], "n.content")
        return found | {node_id: content_hash(text) for node_id, text in others}

    def kept_texts(self, ids: Iterable[str]) -> dict[str, str]:
        """The whole texts of those of the memories whose text was kept."""
        return {node_id: text for node_id in ids if (text := self._text(node_id)) is not None}

    def heads(self, ids: Sequence[str], chars: int) -> Iterator[tuple[str, str]]:
        """Each of those memories that exists, and the first characters of its text; one at a time, in no order."""
        return self._columns(ids, f"substr(n.content, 1, {int(chars)})")

    def _text(self, node_id: str) -> str | None:
        read = self._read.get(node_id)
        return None if read is None else read.text

    def _read_missing(self, ids: Iterable[str]) -> None:
        missing = [node_id for node_id in ids if node_id not in self._read]
        if missing:
            self.meeting(missing, _EVERY)

    def _look(self, source: str, numbers_or_ids: str, condition: Condition) -> list[tuple[int, str]]:
        rows = self._conn.execute(
            f"SELECT {_COLUMNS} FROM {source} WHERE {condition.sql}", (numbers_or_ids, *condition.params)
        )
        found = []
        for number, raw_id, content, chars, kind, tier, confidence, *rest in rows:
            node_id = text_of(raw_id)
            found.append((number, node_id))
            text = _strictly(content) if self._kept_chars < MAX_KEPT_CHARS_IN_ALL else None
            self._kept_chars += len(text or "")
            self._read[node_id] = _Read(text, (kind, tier, confidence, chars, *rest))
        return found

    def _columns(self, ids: Sequence[str], column: str) -> Iterator[tuple[str, str]]:
        """One column of each of the memories as text, one at a time."""
        if ids:
            rows = self._conn.execute(
                f"SELECT {as_bytes('n.id')}, {as_bytes(column)} FROM json_each(?) j CROSS JOIN nodes n"
                " ON n.id = j.value",
                (json.dumps(list(ids)),),
            )
            for node_id, content in rows:
                yield text_of(node_id), text_of(content)


def _strictly(content: SQLValue) -> str | None:
    """A text to be kept; None of one that SQLite sees otherwise: its bytes are no UTF-8, or hold a NUL."""
    if not isinstance(content, bytes) or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
