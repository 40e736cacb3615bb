"""The promotion log checked from its first row to its head: `verify_log`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError, StoppedError
from tierdeck.promote.log.breaks import LogBreak, breaks_in
from tierdeck.promote.log.entries import EMPTY_HEAD, HEAD_KEY
from tierdeck.promote.log.kept_head import HEAD
from tierdeck.promote.log.row import CHECKED_COLUMNS, checked_row, row_digest
from tierdeck.store import Store, get_setting
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.store.settings import setting_in

_BATCH_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a check of the log found. `rows` were read and fit, up to the first that does not.

    `problem` says what is wrong with row `first_bad`, None for both when all fits. `head` is what the log's end is
    now, as "count:digest". `breaks` were accepted by a person: at each, rows had been cut off or changed.
    """

    rows: int
    problem: str | None
    first_bad: int | None
    head: str
    breaks: tuple[LogBreak, ...] = ()


@dataclass(frozen=True, slots=True)
class _Head:
    """An end that the log had: so many rows, and the digest of the last of them; `whose` head it is, in words."""

    rows: int
    digest: str
    whose: str


def verify_log(
    store: Store,
    *,
    head: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> LogCheck:
    """Look at every row of the promotion log, and name the first that does not fit.

    Found are a row that was edited, removed (in the middle, the first, or the last ones), inserted or moved to
    another place. What cannot be found is a log that was rewritten as a whole together with its heads, by somebody
    who computes each digest anew: give a `head` that was kept elsewhere, out of their reach, to find that too.

    Rows are read in short transactions of 1,000, so that a log of any length takes little memory and holds nobody
    up; rows written meanwhile are checked too.

    Args:
        head: also compare with this head, as a backup or an export carries it (`kept_head`).
        on_progress: called with the rows checked so far and the rows there are.
        should_stop: asked between reads.

    Raises:
        InvalidValueError: the given head is none.
        StoppedError: it was asked to stop.
        DamagedStoreError, StoreBusyError: as for every read. Nothing is ever written.
    Spec: SPEC-09.14
    """
    kept = None if head is None else _head(head, "the given head")
    if not store.has_table("td_promotion_log"):
        empty = _Batch([], 0, get_setting(store, HEAD_KEY), EMPTY_HEAD, ())
        return _found(0, _end_problem(0, "", kept, empty) or _no_log_problem(store), empty)
    rows, last_digest = 0, ""
    while True:
        if should_stop is not None and should_stop():
            raise StoppedError(f"verify promotion log: stopped after {rows:,} rows")
        batch = store.read(partial(_read, after=rows))
        for values in batch.rows:
            row = checked_row(values)
            problem = _problem(row, rows, last_digest, kept)
            if problem is not None:
                return _found(rows, problem, batch)
            rows, last_digest = rows + 1, str(row["digest"])
        if on_progress is not None:
            on_progress(rows, max(rows, batch.last_id))
        if len(batch.rows) < _BATCH_ROWS:
            return _found(rows, _end_problem(rows, last_digest, kept, batch), batch)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows of the log and, from the same moment, its head as the store keeps it, and its real end."""

    rows: list[Any]
    last_id: int
    head: str | None
    end: str
    breaks: tuple[LogBreak, ...]


def _read(conn: apsw.Connection, *, after: int) -> _Batch:
    # A row before the first is none of the log's, and must be seen.
    first = after + 1 if after else -(2**63)
    sql = f"SELECT {CHECKED_COLUMNS} FROM td_promotion_log l WHERE l.id >= ? ORDER BY l.id LIMIT {_BATCH_ROWS}"
    rows = conn.execute(sql, (first,)).fetchall()
    last: Any = conn.execute(
        f"SELECT l.id, {as_bytes('l.digest')} FROM td_promotion_log l ORDER BY l.id DESC LIMIT 1"
    ).fetchone()
    end = EMPTY_HEAD if last is None else f"{last[0]}:{text_of(last[1])}"
    return _Batch(rows, last[0] if last else 0, setting_in(conn, HEAD_KEY), end, tuple(breaks_in(conn)))


def _problem(
    row: Mapping[str, object], before: int, last_digest: str, kept: _Head | None
) -> tuple[str, int] | None:
    """What is wrong with the row after so many good ones, and which row that is."""
    row_id = int(str(row["id"]))
    if row_id <= before:
        return f"row {row_id} is none of the log's: it begins with row 1", row_id
    if row_id > before + 1:
        after = f"after row {before} comes row {row_id}" if before else f"the first is row {row_id}"
        return f"row {before + 1} is missing: {after}", before + 1
    if row["digest"] != row_digest(row):
        return f"row {row_id} was changed: its digest is not that of what it says", row_id
    if row["prev_digest"] != last_digest:
        return f"row {row_id} does not follow row {before}: it names another digest than that one has", row_id
    if kept is not None and kept.rows == row_id and kept.digest != row["digest"]:
        return f"row {row_id} is another one than {kept.whose} names", row_id
    return None


def _end_problem(rows: int, last_digest: str, kept: _Head | None, batch: _Batch) -> tuple[str, int] | None:
    """What is wrong with the end of a log that is whole in itself, by the heads."""
    if kept is not None and kept.rows > rows:
        return f"row {rows + 1} is missing: {kept.whose} says there are {kept.rows:,} rows", rows + 1
    if batch.head is None:
        return (f"the log's head is gone: nothing says that row {rows} is the last", rows + 1) if rows else None
    if HEAD.fullmatch(batch.head) is None:
        return f"the log's head is none: {batch.head[:40]!r}", rows + 1
    stored = _head(batch.head, "the log's head")
    if stored.rows > rows:
        return f"row {rows + 1} is missing: {stored.whose} says there are {stored.rows:,} rows", rows + 1
    if stored.rows < rows:
        return f"row {stored.rows + 1} was added past the log's head", stored.rows + 1
    if stored.digest != last_digest:
        return f"row {rows} is another one than the log's head names", rows
    return None


def _no_log_problem(store: Store) -> tuple[str, int] | None:
    """A store that keeps what the rules count had a log from its first day on, be it empty."""
    return ("the whole log is gone: its table is missing", 1) if store.has_table("td_facts") else None


def _found(rows: int, problem: tuple[str, int] | None, batch: _Batch) -> LogCheck:
    why, first_bad = problem or (None, None)
    return LogCheck(rows, why, first_bad, batch.end, batch.breaks)


def _head(text: str, whose: str) -> _Head:
    if HEAD.fullmatch(text) is None:
        raise InvalidValueError(
            f"verify promotion log: {text[:80]!r} is no head of it",
            hint="it reads count:digest, as `log_head` gives it",
        )
    rows, _, digest = text.partition(":")
    return _Head(int(rows), digest, whose)
