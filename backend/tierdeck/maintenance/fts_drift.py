"""Whether the full-text index says what the memories say, row by row.

`content_fts` keeps its own copy of each text, so SQLite's integrity check passes on an index that is in order
within itself and out of step with `nodes` (399 memories, 400 rows). Here ids are compared both ways and texts by
digest, in one pass over two sorted streams: constant memory at any size, and no trust in rowids, which the family's
own rebuild renumbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

import apsw

EXAMPLES = 20

# Cast to bytes: text that is not UTF-8 must be compared too, and bytes sort alike in SQLite and in Python.
_MEMORIES = (
    "SELECT CAST(id AS BLOB) AS k, td_text_digest(CAST(content AS BLOB), {type}) "
    "FROM nodes WHERE id IS NOT NULL ORDER BY k"
)
_INDEXED = (
    "SELECT CAST(node_id AS BLOB) AS k, td_text_digest(CAST(content AS BLOB), {type}) "
    "FROM content_fts WHERE node_id IS NOT NULL ORDER BY k"
)


@dataclass(frozen=True, slots=True)
class Drift:
    """How the full-text index differs from the memories, in rows; `examples` name the first few memories.

    `missing` memories can't be found by word; `stale` ones are found by an older text; `extra` rows belong to no
    memory; `duplicated` counts rows beyond the first for one memory.
    """

    missing: int = 0
    stale: int = 0
    extra: int = 0
    duplicated: int = 0
    examples: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether index and memories say the same."""
        return not (self.missing or self.stale or self.extra or self.duplicated)

    @property
    def summary(self) -> str:
        """The differences in words, the weightiest first; empty when there are none."""
        named = (
            (self.missing, "missing"),
            (self.stale, "with another text"),
            (self.extra, "of no memory"),
            (self.duplicated, "more than once"),
        )
        return ", ".join(f"{count:,} {words}" for count, words in named if count)


def find_drift(conn: apsw.Connection, *, compares_type: bool) -> Drift:
    """Compare index and memories, all of them.

    Args:
        conn: sees one snapshot of the store; it stays in use for as long as this takes.
        compares_type: whether a row's type counts as well. Our trigger follows a changed type; the family's fires
            on `content` only, so in its stores an old type in the index is no fault.
    """
    conn.create_scalar_function("td_text_digest", _text_digest, 2, deterministic=True)
    kind = "type" if compares_type else "''"
    missing = stale = extra = duplicated = 0
    examples: list[str] = []
    memories = iter(conn.execute(_MEMORIES.format(type=kind)))
    for key, wanted, found in _side_by_side(memories, iter(conn.execute(_INDEXED.format(type=kind)))):
        what = None
        if wanted is None:
            extra, what = extra + len(found), "in the index, but no memory"
        elif not found:
            missing, what = missing + 1, "not in the index"
        elif wanted not in found:
            stale, what = stale + 1, "indexed with another text"
        if wanted is not None and len(found) > 1:
            duplicated, what = duplicated + len(found) - 1, what or f"in the index {len(found)} times"
        if what and len(examples) < EXAMPLES:
            examples.append(f"{key.decode('utf-8', 'replace')}: {what}")
    extra += _nameless_rows(conn)
    return Drift(missing, stale, extra, duplicated, tuple(examples))


def _side_by_side(
    memories: Iterator[tuple[bytes, bytes]], indexed: Iterator[tuple[bytes, bytes]]
) -> Iterator[tuple[bytes, bytes | None, list[bytes]]]:
    """Each id of either stream once: the memory's digest, or None without one, and its index rows' digests."""
    groups = groupby(indexed, key=lambda row: row[0])
    group = _next_group(groups)
    for key, digest in memories:
        while group is not None and group[0] < key:
            yield group[0], None, group[1]
            group = _next_group(groups)
        if group is not None and group[0] == key:
            yield key, digest, group[1]
            group = _next_group(groups)
        else:
            yield key, digest, []
    while group is not None:
        yield group[0], None, group[1]
        group = _next_group(groups)


def _next_group(
    groups: Iterator[tuple[bytes, Iterator[tuple[bytes, bytes]]]],
) -> tuple[bytes, list[bytes]] | None:
    for key, rows in groups:
        return key, [digest for _, digest in rows]
    return None


def _nameless_rows(conn: apsw.Connection) -> int:
    """Index rows without an id beyond what memories without an id account for (the family's column allows NULL)."""
    rows = conn.execute("SELECT count(*) FROM content_fts WHERE node_id IS NULL").get
    nodes = conn.execute("SELECT count(*) FROM nodes WHERE id IS NULL").get
    return max(0, int(rows) - int(nodes))


def _text_digest(*values: object) -> bytes:
    content, kind = values
    data = content if isinstance(content, bytes) else b""
    return blake2b(data, digest_size=12, salt=str(kind or "").encode()[:16]).digest()
