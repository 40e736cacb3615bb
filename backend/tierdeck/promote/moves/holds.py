"""What a person decides about memories without moving them: hold, release, and a candidate dismissed.

A hold beats every rule until it is released or past its end; it is looked at when read, so that nothing has to run
to end it. A dismissal lapses by itself when the memory is pulled or moved afterwards. Each leaves a row in the log,
and can be taken back (`undo_move`). Spec: SPEC-09.15
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import apsw

from tierdeck.promote.evidence.counts import ensure_facts
from tierdeck.promote.evidence.facts import check_tracked, facts_in
from tierdeck.promote.evidence.facts_sql import facts_sql
from tierdeck.promote.log.entries import append
from tierdeck.promote.moves.chunks import Pace, chunks, writing_after
from tierdeck.promote.moves.dismissal_rows import set_dismissal
from tierdeck.promote.moves.hold_rows import checked_until, holds_in, release_hold, set_hold, words_of
from tierdeck.promote.moves.known import known_tiers, tiers_in
from tierdeck.promote.moves.refusal import no_candidate, no_memory
from tierdeck.promote.reason import checked_reason
from tierdeck.promote.records import Hold, LogDraft, Refused, RunReport
from tierdeck.promote.rules import DEFAULT_RULES, Decision, Rules, decide
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor, checked_text

# One memory, its tier: what is decided about it is written, or why it is not.
_Decide = Callable[[apsw.Connection, str, str | None], Refused | None]


def holds(store: Store, *, ids: Sequence[str] | None = None, now_ms: int | None = None) -> list[Hold]:
    """The holds that stand, newest first; `moved_to` is set where another program moved the memory meanwhile.

    Args:
        ids: of these memories only.
        now_ms: holds that ended before are left out; None is the store's clock.

    Returns:
        None in a store without our tables.
    """
    if not store.has_table("td_hold"):
        return []
    at_ms = store.now_ms() if now_ms is None else now_ms
    return store.read(lambda conn: holds_in(conn, ids, at_ms))


def hold(
    store: Store,
    ids: Sequence[str],
    *,
    actor: str,
    reason: str,
    until_ms: int | None = None,
    pace: Pace | None = None,
) -> RunReport:
    """Let no rule move these memories; a hold that stands is replaced.

    Args:
        reason: at least 3 visible characters.
        until_ms: when the hold ends by itself; None is never.
        pace: how a set above `MAX_CHUNK_ROWS` goes on; when it is stopped, what was held until then stays so.

    Returns:
        The ids held, as `moved`; it is no run and has no id.

    Raises:
        NotFoundError: an id does not exist; it is named.
        InvalidValueError: the reason is too short, `until_ms` has passed.
        ReadOnlyStoreError, StoreBusyError, StoreError: as for every write. Nothing was changed in each case, but
            that earlier transactions of a set above `MAX_CHUNK_ROWS` stand.
    Spec: SPEC-09.15
    """
    now = store.now_ms()
    note = (checked_actor(actor), checked_reason(reason, "hold memories"), now)
    until = checked_until(until_ms, now)

    def decide_one(conn: apsw.Connection, node_id: str, tier: str | None) -> None:
        log_id = append(conn, _draft(node_id, tier, "hold", *note))
        set_hold(conn, Hold(node_id, tier or "", now, until, note[0], note[1], log_id))

    return _each(store, ids, decide_one, "hold memory", pace)


def release(
    store: Store, ids: Sequence[str], *, actor: str, reason: str | None = None, pace: Pace | None = None
) -> RunReport:
    """Let the rules move held memories again; those that are not held are refused. Returns and raises as `hold`.

    Spec: SPEC-09.15
    """
    note = (checked_actor(actor), checked_text(reason, "reason"), store.now_ms())

    def decide_one(conn: apsw.Connection, node_id: str, tier: str | None) -> Refused | None:
        if not holds_in(conn, [node_id], note[2]):
            return Refused(node_id, "it is not held", tier)
        release_hold(conn, node_id, note[2])
        append(conn, _draft(node_id, tier, "release", *note))
        return None

    return _each(store, ids, decide_one, "release memory", pace)


def dismiss(
    store: Store,
    ids: Sequence[str],
    *,
    actor: str,
    reason: str | None = None,
    rules: Rules = DEFAULT_RULES,
    pace: Pace | None = None,
) -> RunReport:
    """Take candidates off the list until they are pulled, used or moved; no rule moves them meanwhile.

    Returns:
        The ids dismissed, as `moved`; what is no candidate, held or dismissed already is refused.

    Raises:
        As `hold`.
    Spec: SPEC-09.15
    """
    note = (checked_actor(actor), checked_text(reason, "reason"), store.now_ms())
    check_tracked(store)
    form = facts_sql(store)

    def decide_one(conn: apsw.Connection, node_id: str, tier: str | None) -> Refused | None:
        decision = decide(facts_in(conn, form, [node_id], note[2])[node_id], rules, note[2])
        why = _why_not_dismissed(conn, decision, note[2])
        if why is not None:
            return Refused(node_id, why, tier)
        ensure_facts(conn, [node_id])
        draft = LogDraft(
            node_id, tier, tier, "dismiss", note[0], note[2], decision.rule, decision.rule_version,
            decision.criteria, note[1],
        )  # fmt: skip
        set_dismissal(conn, node_id, append(conn, draft))
        return None

    return _each(store, ids, decide_one, "dismiss memory", pace)


def _why_not_dismissed(conn: apsw.Connection, decision: Decision, now_ms: int) -> str | None:
    if not decision.passes:
        return no_candidate(decision)
    if decision.block == "held":
        return words_of(holds_in(conn, [decision.node_id], now_ms)[0])
    return "it was dismissed already" if decision.block == "dismissed" else None


def _draft(
    node_id: str, tier: str | None, kind: Literal["hold", "release"], actor: str, reason: str | None, at_ms: int
) -> LogDraft:
    return LogDraft(node_id, tier, tier, kind, actor, at_ms, reason=reason)


def _each(store: Store, ids: Sequence[str], decide_one: _Decide, doing: str, pace: Pace | None) -> RunReport:
    """Decide about each memory, in short transactions."""
    check_tracked(store)
    unique = list(dict.fromkeys(ids))
    done: list[str] = []
    refused: list[Refused] = []
    for chunk in chunks(unique, pace or Pace()):
        with writing_after(store, len(done) + len(refused)) as conn:
            if not done and not refused:
                known_tiers(conn, unique, doing)
            tiers = tiers_in(conn, chunk)
            for node_id in chunk:
                why = decide_one(conn, node_id, tiers[node_id]) if node_id in tiers else no_memory(node_id)
                if why is None:
                    done.append(node_id)
                else:
                    refused.append(why)
    return RunReport(None, tuple(done), tuple(refused))
