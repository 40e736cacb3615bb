"""A person's order to move memories, carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.model import Tier
from tierdeck.promote.evidence.counts import forget_pulls
from tierdeck.promote.evidence.facts import facts_in
from tierdeck.promote.evidence.facts_sql import FactsSQL, facts_sql, has_confidence_log
from tierdeck.promote.moves.chunks import Pace, chunks, writing_after
from tierdeck.promote.moves.hold_rows import holds_in, keep_tier, set_hold, words_of
from tierdeck.promote.moves.known import known_tiers, tiers_in
from tierdeck.promote.moves.move import MoveNote, Step, log_moves, set_tiers
from tierdeck.promote.moves.open_run import OpenRun
from tierdeck.promote.moves.refusal import moved_meanwhile, no_memory
from tierdeck.promote.records import Hold, Refused, RunReport
from tierdeck.promote.rules import Rules, decide
from tierdeck.store import Store


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for. `rules` None: what they say of the memory is not looked at."""

    to_tier: Tier
    actor: str
    reason: str | None
    at_ms: int
    holds: bool
    until_ms: int | None
    passes_holds: bool
    seen: Mapping[str, str | None]
    rules: Rules | None


def run_order(store: Store, ids: Sequence[str], order: Order, pace: Pace) -> RunReport:
    """Move the memories as ordered, in short transactions; each is moved and logged, or neither.

    Args:
        ids: each once.
    """
    form = facts_sql(store)
    logs_confidence = has_confidence_log(store)
    version = None if order.rules is None else order.rules.version
    run = OpenRun("override", planned=len(ids), actor=order.actor, reason=order.reason, rule_version=version)
    for chunk in chunks(ids, pace):
        with writing_after(store, run.done_rows) as conn:
            if run.is_fresh:
                known_tiers(conn, ids, "move memory")
            steps, refused = _steps(conn, form, chunk, order)
            run_id = run.id_in(conn, order.at_ms) if steps else None
            run.add(
                conn,
                _apply(conn, steps, order, run_id, logs_confidence=logs_confidence),
                refused,
                store.now_ms(),
            )
    return run.close(store)


def _steps(
    conn: apsw.Connection, form: FactsSQL, ids: Sequence[str], order: Order
) -> tuple[list[Step], list[Refused]]:
    """The moves to make among these memories, and the others with why not."""
    tiers = tiers_in(conn, ids)
    held = held_among(conn, ids, order.at_ms, passes_holds=order.passes_holds)
    facts = {} if order.rules is None else facts_in(conn, form, ids, order.at_ms)
    steps: list[Step] = []
    refused: list[Refused] = []
    for node_id in ids:
        if node_id not in tiers:
            refused.append(no_memory(node_id))
            continue
        tier = tiers[node_id]
        if node_id in order.seen and order.seen[node_id] != tier:
            refused.append(moved_meanwhile(node_id, tier, order.seen[node_id]))
        elif tier == order.to_tier:
            refused.append(Refused(node_id, f"it is in {tier} already", tier))
        elif node_id in held:
            refused.append(Refused(node_id, words_of(held[node_id]), tier))
        elif order.rules is None:
            steps.append(Step(node_id, tier, order.to_tier.value))
        else:
            said = decide(facts[node_id], order.rules, order.at_ms)
            steps.append(
                Step(node_id, tier, order.to_tier.value, rule_version=said.rule_version, criteria=said.criteria)
            )
    return steps, refused


def _apply(
    conn: apsw.Connection, steps: Sequence[Step], order: Order, run_id: int | None, *, logs_confidence: bool
) -> list[str]:
    note = MoveNote("override", order.actor, order.at_ms, order.reason, run_id)
    # Read in this very transaction, so that nothing can be refused now.
    done, _ = set_tiers(conn, steps, note)
    ids = [moved.step.node_id for moved in done]
    forget_pulls(conn, ids, at_ms=order.at_ms, logs_confidence=logs_confidence)
    for node_id, log_id in zip(ids, log_moves(conn, done, note), strict=True):
        if order.holds:
            hold = Hold(
                node_id, order.to_tier.value, order.at_ms, order.until_ms, order.actor, order.reason, log_id
            )
            set_hold(conn, hold)
        else:
            keep_tier(conn, node_id)
    return ids


def held_among(conn: apsw.Connection, ids: Sequence[str], now_ms: int, *, passes_holds: bool) -> dict[str, Hold]:
    """The holds that stand in the way of moving these memories by hand, by id."""
    return {} if passes_holds else {hold.node_id: hold for hold in holds_in(conn, ids, now_ms)}
