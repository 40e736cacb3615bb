"""Going on after the promotion log's end was cut off or changed, and the record of it, which never goes away.

Its INSERT trigger refuses a row while the log does not end where its head says: going on would hide what happened.
A person who has looked at it (`check.verify_log`) accepts the break, and from then on each check tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import apsw

from tierdeck.errors import StoreError
from tierdeck.promote.log.entries import EMPTY_HEAD, HEAD_KEY, head_in
from tierdeck.promote.reason import checked_reason
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor
from tierdeck.store.settings import keep_setting, setting_in

_KEY = "promotion_log_breaks"


@dataclass(frozen=True, slots=True)
class LogBreak:
    """One time that the log went on from another end than its head said. Heads are "count:digest"."""

    at_ms: int
    actor: str
    reason: str
    old_head: str
    new_head: str


def accept_break(store: Store, actor: str, reason: str) -> LogBreak | None:
    """Let the log go on from the end it has, and keep a record of that.

    Rows that don't fit before its end stay, and are reported as before.

    Args:
        reason: what is known of it; at least 3 visible characters.

    Returns:
        The record; None when the log ends where its head says: nothing was written.

    Raises:
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: nothing was written.
    Spec: SPEC-09.14
    """
    checked_actor(actor)
    checked_reason(reason, "accept the log's break")
    with store.writing() as conn:
        found: Any = conn.execute("SELECT id, digest FROM td_promotion_log ORDER BY id DESC LIMIT 1").fetchone()
        new_head = EMPTY_HEAD if found is None else f"{found[0]}:{found[1]}"
        old_head = head_in(conn)
        if new_head == old_head:
            return None
        accepted = LogBreak(store.now_ms(), actor, reason, old_head, new_head)
        keep_breaks(conn, [*breaks_in(conn), accepted])
        keep_setting(conn, HEAD_KEY, new_head)
    return accepted


def breaks_in(conn: apsw.Connection) -> list[LogBreak]:
    """Every break that was accepted, oldest first.

    Raises:
        StoreError: another program changed the record of them.
    """
    text = setting_in(conn, _KEY) or "[]"
    try:
        return [LogBreak(**values) for values in json.loads(text)]
    except (ValueError, TypeError, RecursionError) as e:
        raise StoreError(f"read the promotion log's breaks: their record was changed ({text[:40]!r})") from e


def keep_breaks(conn: apsw.Connection, breaks: Sequence[LogBreak]) -> None:
    """Keep these as all that there are, oldest first, inside the caller's transaction."""
    keep_setting(conn, _KEY, json.dumps([asdict(each) for each in breaks]))
