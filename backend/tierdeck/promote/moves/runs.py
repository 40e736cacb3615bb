"""Runs over several memories: what each planned, moved and refused; a run can be taken back as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.promote.records import Run, RunKind
from tierdeck.store import Store
from tierdeck.store.finite_json import parse_json
from tierdeck.store.rows import as_kinds

_NAMES = "id kind at ended_at actor reason rule_version planned moved refused rejections"
_KINDS = as_kinds("kind actor reason rule_version rejections", "id at ended_at planned moved refused")
_COLUMNS = ", ".join(_KINDS[name] for name in _NAMES.split())


def runs(
    store: Store, *, kind: RunKind | None = None, before_id: int | None = None, limit_rows: int = 50
) -> list[Run]:
    """The runs, newest first; none in a store without our tables.

    Args:
        kind: only runs of this kind.
        before_id: only runs before this one: the last id of the page before.
        limit_rows: how many at most, 1 or more.

    Raises:
        InvalidValueError: the limit is none.
    """
    if limit_rows < 1:
        raise InvalidValueError(f"list runs: {limit_rows} rows is no limit", hint="1 or more")
    if not store.has_table("td_promotion_run"):
        return []
    sql = f"""SELECT {_COLUMNS} FROM td_promotion_run
        WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3"""
    rows = store.read(lambda conn: conn.execute(sql, (kind, before_id, limit_rows)).fetchall())
    return [_run(row) for row in rows]


def count_runs(store: Store) -> int:
    """How many runs there were; 0 in a store without our tables."""
    if not store.has_table("td_promotion_run"):
        return 0
    return int(store.read(lambda conn: conn.execute("SELECT count(*) FROM td_promotion_run").get))


def run(store: Store, run_id: int) -> Run:
    """One run.

    Raises:
        NotFoundError: there is none with this id.
    """
    row = None
    if store.has_table("td_promotion_run"):
        sql = f"SELECT {_COLUMNS} FROM td_promotion_run WHERE id = ?"
        row = store.read(lambda conn: conn.execute(sql, (run_id,)).fetchone())
    if row is None:
        raise NotFoundError(f"read run: there is no run {run_id} in {store.path}")
    return _run(row)


def begin_run(
    conn: apsw.Connection,
    kind: RunKind,
    *,
    at_ms: int,
    actor: str,
    planned: int,
    reason: str | None = None,
    rule_version: str | None = None,
) -> int:
    """Record that a run begins, in the transaction of its first moves; its id."""
    conn.execute(
        "INSERT INTO td_promotion_run (kind, at, actor, reason, rule_version, planned) VALUES (?, ?, ?, ?, ?, ?)",
        (kind, at_ms, actor, reason, rule_version, planned),
    )
    return conn.last_insert_rowid()


def add_to_run(conn: apsw.Connection, run_id: int, *, moved: int, refused: int, planned: int = 0) -> None:
    """Count what one transaction of a run did, inside that transaction.

    Args:
        planned: how many more were planned than when it began.
    """
    conn.execute(
        "UPDATE td_promotion_run SET planned = planned + ?, moved = moved + ?, refused = refused + ? WHERE id = ?",
        (planned, moved, refused, run_id),
    )


def end_run(conn: apsw.Connection, run_id: int, *, at_ms: int, rejections: Mapping[str, int] | None = None) -> None:
    """Record that a run ended, by itself or because it was asked to."""
    conn.execute(
        "UPDATE td_promotion_run SET ended_at = ?, rejections = coalesce(?, rejections) WHERE id = ?",
        (at_ms, json.dumps(dict(rejections)) if rejections else None, run_id),
    )


def _run(row: Any) -> Run:
    *fields, rejections = row
    values: Any = (*fields, _rejections(rejections))
    return Run(*values)


def _rejections(text: str | None) -> tuple[tuple[str, int], ...]:
    """None where what stands there was not written here."""
    try:
        found = parse_json(text or "{}")
    except (ValueError, RecursionError):
        return ()
    counts = found.items() if isinstance(found, dict) else ()
    return tuple((name, count) for name, count in counts if isinstance(count, int))
