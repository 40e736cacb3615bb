"""Rows of `nodes` as values. What a row holds against the schema is named in `problems`, and the row still shows.

Other programs write these rows too: a text may be no valid UTF-8 (the driver then raises on fetching it), a time
may be a word, a tier may be NULL. Text is therefore fetched as bytes and decoded here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import apsw

from tierdeck.model import EXCERPT_CHARS, Node, NodeRow, NodeType, Tier
from tierdeck.store.finite_json import parse_json
from tierdeck.times import parse_time_ms

SQLValue = None | int | float | str | bytes


def as_bytes(column: str) -> str:
    """SQL for a column whose text comes as bytes, since invalid UTF-8 can't be fetched as text."""
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END"


def as_kinds(texts: str, numbers: str) -> dict[str, str]:
    """SQL for columns of a table of ours, each as the kind it should hold, by name; NULL stays NULL.

    No program of ours puts anything else there, but somebody may, and one such row must not stop a list.

    Args:
        texts, numbers: names of columns, with a space between them.
    """
    return {name: f"CAST({name} AS TEXT)" for name in texts.split()} | {
        name: f"CAST({name} AS INTEGER)" for name in numbers.split()
    }


def quoted_name(name: str) -> str:
    """The name of a table or column as an SQL identifier, whatever characters another program gave it."""
    return '"' + name.replace('"', '""') + '"'


NODE_FIELDS = (
    "id", "type", "content", "tier", "confidence", "subtype", "provenance", "metadata",
    "created_at", "updated_at", "last_accessed", "access_count",
)  # fmt: skip
NODE_COLUMNS = ", ".join(as_bytes(f"n.{name}") for name in NODE_FIELDS)
# Only the head of a text is read: a page of rows never drags in a 10 MB body.
ROW_COLUMNS = ", ".join(
    [
        *(as_bytes(f"n.{name}") for name in ("id", "type", "tier", "confidence")),
        f"CAST(substr(n.content, 1, {EXCERPT_CHARS}) AS BLOB)",
        "length(n.content)",
        *(as_bytes(f"n.{name}") for name in ("created_at", "last_accessed", "access_count")),
    ]
)


def node_of(values: Sequence[SQLValue]) -> Node:
    """The memory of a row selected as `NODE_COLUMNS`."""
    problems: list[str] = []
    return Node(
        id=_text(values[0], "id", problems),
        type=_type(values[1], problems),
        content=_text(values[2], "content", problems),
        tier=_tier(values[3], problems),
        confidence=_confidence(values[4], problems),
        subtype=_text_or_none(values[5], "subtype", problems),
        provenance=_text_or_none(values[6], "provenance", problems),
        metadata=_metadata(values[7], problems),
        created_at_ms=_time(values[8], "created_at", problems),
        updated_at_ms=_time(values[9], "updated_at", problems),
        last_accessed_ms=_time(values[10], "last_accessed", problems),
        access_count=_count(values[11], problems),
        problems=tuple(problems),
    )


def node_row_of(values: Sequence[SQLValue]) -> NodeRow:
    """The list row of a row selected as `ROW_COLUMNS`."""
    problems: list[str] = []
    excerpt = _text(values[4], "content", problems)
    return NodeRow(
        id=_text(values[0], "id", problems),
        type=_type(values[1], problems),
        tier=_tier(values[2], problems),
        confidence=_confidence(values[3], problems),
        excerpt=excerpt,
        content_chars=values[5] if isinstance(values[5], int) else len(excerpt),
        created_at_ms=_time(values[6], "created_at", problems),
        last_accessed_ms=_time(values[7], "last_accessed", problems),
        access_count=_count(values[8], problems),
        problems=tuple(problems),
    )


def read_nodes(conn: apsw.Connection, ids: Sequence[str]) -> dict[str, Node]:
    """The memories of those ids that exist, in the order asked; unknown ids are left out."""
    found = {node.id: node for node in map(node_of, _select(conn, NODE_COLUMNS, ids))}
    return {node_id: found[node_id] for node_id in ids if node_id in found}


def read_rows(conn: apsw.Connection, ids: Sequence[str]) -> dict[str, NodeRow]:
    """The list rows of those ids that exist, in the order asked; unknown ids are left out."""
    found = {row.id: row for row in map(node_row_of, _select(conn, ROW_COLUMNS, ids))}
    return {node_id: found[node_id] for node_id in ids if node_id in found}


def _select(conn: apsw.Connection, columns: str, ids: Sequence[str]) -> apsw.Cursor:
    return conn.execute(
        f"SELECT {columns} FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )


def text_of(value: SQLValue) -> str:
    """A value as text, whatever it is; bytes that are no UTF-8 show as U+FFFD."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _text(value: SQLValue, column: str, problems: list[str]) -> str:
    if value is None:
        problems.append(f"{column}: it is NULL")
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            problems.append(f"{column}: it holds bytes that are not UTF-8")
    return text_of(value)


def _text_or_none(value: SQLValue, column: str, problems: list[str]) -> str | None:
    return None if value is None else _text(value, column, problems)


def _type(value: SQLValue, problems: list[str]) -> NodeType:
    text = text_of(value)
    try:
        return NodeType(text)
    except ValueError:
        problems.append(f"type: {_shown(value)} is not a type; shown as fact")
        return NodeType.FACT


def _tier(value: SQLValue, problems: list[str]) -> Tier:
    text = text_of(value)
    try:
        return Tier(text)
    except ValueError:
        problems.append(f"tier: {_shown(value)} is not a tier; shown as task")
        return Tier.TASK


def _confidence(value: SQLValue, problems: list[str]) -> float:
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    problems.append(f"confidence: {_shown(value)} is not a number from 0 to 1; shown as 0.5")
    return 0.5


def _count(value: SQLValue, problems: list[str]) -> int:
    if isinstance(value, int) and value >= 0:
        return value
    problems.append(f"access_count: {_shown(value)} is not a count; shown as 0")
    return 0


def _time(value: SQLValue, column: str, problems: list[str]) -> int | None:
    if value is None:
        return None
    found = parse_time_ms(text_of(value) if isinstance(value, bytes) else value)
    if found is None:
        problems.append(f"{column}: {_shown(value)} is not a time")
    return found


def _metadata(value: SQLValue, problems: list[str]) -> dict[str, object]:
    if value is None:
        return {}
    try:
        found = parse_json(_text(value, "metadata", problems))
    except (ValueError, RecursionError) as e:
        problems.append(f"metadata: it is not JSON ({e})")
        return {}
    if not isinstance(found, dict):
        problems.append(f"metadata: it is a JSON {type(found).__name__}, not an object")
        return {}
    return found


def _shown(value: SQLValue) -> str:
    if value is None:
        return "NULL"
    text = text_of(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")
