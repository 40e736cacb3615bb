"""Filters that leave half, a tenth, 1/100 and 1/1000 of the memories, for us and for those we are compared with.

Each is one `NodeFilter`; as a mask over all rows it says what is right, as SQL or conditions what others are asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tests.bench.scale_rows import NOW_MS, SPAN_MS, session_name
from tierdeck.model import NodeFilter, NodeType

Mask = NDArray[np.bool_]
_DECISIONS = frozenset({NodeType.DECISION})
# What is left of a tenth by 1 - x² = 1/9, when a tenth of what is left is archived.
_CONFIDENT = (8 / 9) ** 0.5


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A filter under the name that the table gives it."""

    name: str
    node_filter: NodeFilter


ALL_ROWS = Narrowing("all rows", NodeFilter(include_archived=True))
EVERYTHING = Narrowing("not archived", NodeFilter())
NARROWINGS = (
    Narrowing("half: since", NodeFilter(since_ms=NOW_MS - int(SPAN_MS / 1.8))),
    Narrowing("a tenth: type", NodeFilter(types=_DECISIONS, include_archived=True)),
    Narrowing("1/100: type, confidence", NodeFilter(types=_DECISIONS, min_confidence=_CONFIDENT)),
    Narrowing(
        "1/1000: and time",
        NodeFilter(types=_DECISIONS, min_confidence=_CONFIDENT, since_ms=NOW_MS - SPAN_MS // 10),
    ),
    Narrowing("1/100: a tag", NodeFilter(tag="tag-007", include_archived=True)),
    Narrowing("1/1000: a session", NodeFilter(session=session_name(500), include_archived=True)),
)


@dataclass(frozen=True, slots=True)
class Columns:
    """What the filters look at, one entry a memory, in the order of their numbers."""

    type: NDArray[np.str_]
    tier: NDArray[np.str_]
    confidence: NDArray[np.float64]
    created_at: NDArray[np.int64]
    in_session: Mask
    tagged: Mask

    def mask(self, node_filter: NodeFilter) -> Mask:
        """Which memories meet the filter; of sessions and tags only those of `NARROWINGS` are known."""
        found = np.ones(len(self.in_session), np.bool_)
        if not node_filter.shows_archived:
            found &= self.tier != "archive"
        if node_filter.types:
            found &= np.isin(self.type, sorted(node_filter.types))
        if node_filter.min_confidence is not None:
            found &= self.confidence >= node_filter.min_confidence
        if node_filter.since_ms is not None:
            found &= self.created_at >= node_filter.since_ms
        if node_filter.session is not None:
            found &= self.in_session
        if node_filter.tag is not None:
            found &= self.tagged
        return found


def read_columns(conn: apsw.Connection) -> Columns:
    """The columns of a built store."""
    rows = conn.execute("SELECT type, tier, confidence, created_at FROM nodes ORDER BY pk").fetchall()
    types, tiers, confidences, times = zip(*rows, strict=True)
    session, tag = NARROWINGS[-1].node_filter.session, NARROWINGS[-2].node_filter.tag
    used = (
        "SELECT n.pk FROM td_session s JOIN td_access a ON a.session_id = s.id JOIN nodes n ON n.id = a.node_id"
        " WHERE s.external_id = ? AND a.kind <> 'maintenance'"
    )
    named = "SELECT pk FROM nodes WHERE metadata ->> 'session_id' = ?"
    tagged = "SELECT pk FROM nodes, json_each(metadata, '$.tags') WHERE value = ?"
    return Columns(
        np.array(types),
        np.array(tiers),
        np.array(confidences, np.float64),
        np.array(times, np.int64),
        _mask(conn, f"{named} UNION {used}", len(rows), session, session),
        _mask(conn, tagged, len(rows), tag),
    )


def plain_conditions(node_filter: NodeFilter) -> list[tuple[str, str, str | float]]:
    """A filter on tier, type, confidence and time as (column, operator, value), all of which must hold."""
    found: list[tuple[str, str, str | float]] = []
    if not node_filter.shows_archived:
        found.append(("tier", "!=", "archive"))
    found += [("type", "=", str(kind)) for kind in node_filter.types]
    if node_filter.min_confidence is not None:
        found.append(("confidence", ">=", node_filter.min_confidence))
    if node_filter.since_ms is not None:
        found.append(("created_at", ">=", node_filter.since_ms))
    return found


def is_plain(node_filter: NodeFilter) -> bool:
    """Whether `plain_conditions` says all of it."""
    return node_filter.session is None and node_filter.tag is None


def _mask(conn: apsw.Connection, sql: str, rows: int, *params: str | None) -> Mask:
    found = np.zeros(rows, np.bool_)
    found[[int(str(row[0])) - 1 for row in conn.execute(sql, params)]] = True
    return found
