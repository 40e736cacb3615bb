"""Candidates that a person lets through: the rules' own move, signed by who approved it."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from tierdeck.promote.evidence.facts import check_tracked, facts_in
from tierdeck.promote.evidence.facts_sql import FactsSQL, facts_sql
from tierdeck.promote.moves.chunks import Pace, chunks, writing_after
from tierdeck.promote.moves.hold_rows import holds_in, words_of
from tierdeck.promote.moves.known import known_tiers
from tierdeck.promote.moves.move import apply_decisions
from tierdeck.promote.moves.open_run import OpenRun
from tierdeck.promote.moves.refusal import dismissed, no_candidate, no_memory
from tierdeck.promote.records import Refused, RunReport
from tierdeck.promote.rules import DEFAULT_RULES, Decision, Rules, decide
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor, checked_text


def approve(
    store: Store,
    ids: Sequence[str],
    *,
    rules: Rules = DEFAULT_RULES,
    actor: str,
    reason: str | None = None,
    pace: Pace | None = None,
) -> RunReport:
    """Make the rules' move for candidates now, out of the archive too, which no rule does by itself.

    Decided and moved in the same transaction: what is moved is a candidate at that moment. Above `MAX_CHUNK_ROWS`
    memories there are several; the same call again goes on with what is still to do.

    Args:
        ids: full ids; each counts once.
        rules: by default those of the README's table.
        actor: who approves; the log names it.

    Returns:
        The ids moved, in their order; the others with why: held, dismissed, or what each lacks.

    Raises:
        NotFoundError: an id does not exist; it is named.
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was moved in each case.
        StoreError: the log's end is missing; at most earlier transactions of a big set stand.
    Spec: SPEC-09.15
    """
    check_tracked(store)
    actor, reason = checked_actor(actor), checked_text(reason, "reason")
    form = facts_sql(store)
    unique = list(dict.fromkeys(ids))
    run = OpenRun("approve", planned=len(unique), actor=actor, reason=reason, rule_version=rules.version)
    for chunk in chunks(unique, pace or Pace()):
        with writing_after(store, run.done_rows) as conn:
            if run.is_fresh:
                known_tiers(conn, unique, "approve memory")
            now = store.now_ms()
            due, refused = _due(conn, form, chunk, rules, now)
            moved, lost = apply_decisions(
                conn,
                store,
                due,
                kind="approve",
                actor=actor,
                reason=reason,
                run_id=run.id_in(conn, now) if due else None,
                expected_rules=None,
            )
            run.add(conn, moved, [*refused, *lost], now)
    return run.close(store)


def _due(
    conn: apsw.Connection, form: FactsSQL, ids: Sequence[str], rules: Rules, now_ms: int
) -> tuple[list[Decision], list[Refused]]:
    """The candidates among these memories, and the others with why they are none."""
    facts = facts_in(conn, form, ids, now_ms)
    held = {hold.node_id: hold for hold in holds_in(conn, ids, now_ms)}
    due: list[Decision] = []
    refused: list[Refused] = []
    for node_id in ids:
        if node_id not in facts:
            refused.append(no_memory(node_id))
            continue
        decision = decide(facts[node_id], rules, now_ms)
        if node_id in held:
            refused.append(Refused(node_id, words_of(held[node_id]), decision.from_tier))
        elif not decision.passes:
            refused.append(Refused(node_id, no_candidate(decision), decision.from_tier))
        elif decision.block == "dismissed":
            refused.append(dismissed(node_id, decision.from_tier))
        else:
            due.append(decision)
    return due, refused
