"""What the rules look at, read from the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from tierdeck.errors import NotFoundError, ReadOnlyStoreError
from tierdeck.promote.evidence.facts_sql import ALL, FactsSQL, facts_sql
from tierdeck.promote.rules import Block, Facts
from tierdeck.store import Store
from tierdeck.store.rows import text_of


def read_facts(store: Store, ids: Sequence[str], now_ms: int) -> list[Facts]:
    """The facts of memories, in the order of the ids.

    Raises:
        NotFoundError: an id does not exist; it is named.
        ReadOnlyStoreError: another program's store that was not adopted has none.
    """
    check_tracked(store)
    form = facts_sql(store)
    found = store.read(lambda conn: facts_in(conn, form, ids, now_ms))
    missing = next((node_id for node_id in ids if node_id not in found), None)
    if missing is not None:
        raise NotFoundError(f"read memory {missing[:80]}: there is none in {store.path}")
    return [found[node_id] for node_id in ids]


def facts_in(conn: apsw.Connection, form: FactsSQL, ids: Sequence[str], now_ms: int) -> dict[str, Facts]:
    """The facts of those memories that exist, by id, as the connection sees them now."""
    sql = f"SELECT {form.columns} FROM {ALL} WHERE n.id IN (SELECT value FROM json_each(:ids))"
    rows: Any = conn.execute(sql, {"ids": json.dumps(list(ids)), "now": now_ms})
    return {facts.node_id: facts for facts in (facts_of_row(row, now_ms) for row in rows)}


def facts_of_row(row: Sequence[Any], now_ms: int) -> Facts:
    """A row of `FactsSQL.columns` as a value."""
    (
        node_id, tier, max_pulls, sessions, successes, failures, confidence, held, has_history, last_accessed,
        last_pull, moved_at, last_use, pulls_since, is_held, is_dismissed,
    ) = row  # fmt: skip
    times = (("last accessed", last_accessed), ("last pull", last_pull), ("moved by hand", moved_at))
    block: Block | None = "held" if is_held else "dismissed" if is_dismissed else None
    return Facts(
        node_id=text_of(node_id),
        tier=text_of(tier) if isinstance(tier, bytes) else str(tier),
        max_pulls=max_pulls,
        sessions=sessions,
        successes=successes,
        failures=failures,
        confidence=_number(confidence, 0.0),
        confidence_held=None if held is None else _number(held, 0.0),
        has_history=bool(has_history),
        last_use_ms=last_use,
        pulls_since=pulls_since,
        last_pull_ms=last_pull,
        block=block,
        future=tuple(name for name, at in times if at is not None and at > now_ms),
    )


def check_tracked(store: Store) -> None:
    """Refuse a store that has no access records, rather than show that nothing was ever used.

    Raises:
        ReadOnlyStoreError: it is another program's, not adopted, or was made by an older tierdeck and is only read.
    """
    if not store.has_table("td_facts"):
        raise ReadOnlyStoreError(
            f"look at promotion in {store.path}: no accesses are recorded in it",
            hint="`tierdeck adopt` begins to record them"
            if store.kind == "foreign"
            else "open it for writing once",
        )


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise
