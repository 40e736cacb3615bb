"""Why a memory was not moved, in words, with the tier it is in now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import apsw

from tierdeck.promote.evidence.facts_sql import DISMISSED, HELD
from tierdeck.promote.moves.rules_in_force import rules_in_force
from tierdeck.promote.records import Refused
from tierdeck.promote.rules import Criterion, Decision

_NO_MEMORY = "there is no such memory (any more)"
_STANDS = f"""SELECT n.tier,
    (SELECT h.actor || coalesce(': ' || h.reason, '') FROM td_hold h
        WHERE h.node_id = n.id AND h.released_at IS NULL AND {HELD}),
    (SELECT h.until FROM td_hold h WHERE h.node_id = n.id AND h.released_at IS NULL),
    (SELECT d.at FROM td_dismissal d WHERE d.node_id = n.id AND {DISMISSED})
    FROM nodes n LEFT JOIN td_facts f ON f.node_id = n.id WHERE n.id = :id"""


def why_not_moved(
    conn: apsw.Connection, node_id: str, seen: str | None, *, now_ms: int, expected_rules: str | None
) -> Refused:
    """Why a move that was tried right now found the memory not as it was seen."""
    row: Any = conn.execute(_STANDS, {"id": node_id, "now": now_ms}).fetchone()
    if row is None:
        return Refused(node_id, _NO_MEMORY)
    tier, holder, until, dismissed_at = row
    if tier != seen:
        return moved_meanwhile(node_id, tier, seen)
    if holder is not None:
        return Refused(node_id, held_words(holder, until), tier)
    if dismissed_at is not None:
        return dismissed(node_id, tier)
    stands = rules_in_force(conn)
    return Refused(node_id, f"the rules changed since: {expected_rules} → {stands}", tier)


def no_memory(node_id: str) -> Refused:
    """It was there when the run began."""
    return Refused(node_id, _NO_MEMORY)


def dismissed(node_id: str, tier: str | None) -> Refused:
    """A person took it off the list of candidates."""
    return Refused(node_id, "it was dismissed as a candidate", tier)


def moved_meanwhile(node_id: str, tier_now: str | None, seen: str | None) -> Refused:
    """Somebody moved it since it was looked at."""
    return Refused(node_id, f"it is in {tier_now} by now, no longer in {seen}", tier_now)


def held_words(holder: str, until_ms: int | None) -> str:
    """That a hold stands against it. `holder` is its actor, and after a colon the reason."""
    if until_ms is None:
        return f"it is held by {holder}"
    try:
        until = f"{datetime.fromtimestamp(until_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):  # no calendar holds it; another program wrote it
        until = f"{until_ms} ms"
    return f"it is held until {until} by {holder}"


def lacking_words(criteria: Sequence[Criterion]) -> str:
    """What a memory lacks to be a candidate: each criterion with what was found and what is needed."""
    parts = []
    for criterion in criteria:
        found = "none" if criterion.found is None else f"{round(criterion.found, 4):g}"
        parts.append(f"{criterion.name} {found}, needed {criterion.comparison} {criterion.needed:g}")
    return "; ".join(parts)


def no_candidate(decision: Decision) -> str:
    """That a memory is no candidate, and why."""
    return f"it is no candidate: {lacking_words(decision.lacking) or f'no rule is for {decision.from_tier}'}"
