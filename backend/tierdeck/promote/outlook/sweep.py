"""A sweep: every move that the rules ask for, made in short transactions that other programs can write between."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import apsw

from tierdeck.errors import ConflictError
from tierdeck.promote.evidence.facts import facts_in
from tierdeck.promote.evidence.facts_sql import facts_sql
from tierdeck.promote.moves.chunks import Pace, writing_after
from tierdeck.promote.moves.move import MAX_CHUNK_ROWS, apply_decisions
from tierdeck.promote.moves.refusal import lacking_words, no_memory
from tierdeck.promote.moves.rules_in_force import put_in_force, rules_in_force
from tierdeck.promote.moves.runs import add_to_run, begin_run, end_run
from tierdeck.promote.outlook.candidate_page import NOT_BLOCKED, pick
from tierdeck.promote.outlook.due_sql import in_row_order, parameters
from tierdeck.promote.outlook.sweep_plan import SweepPlan, swept_sources
from tierdeck.promote.records import Refused, RunReport
from tierdeck.promote.rules import DEFAULT_RULES, Decision, Rules, decide
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor


def apply_sweep(
    store: Store,
    plan: SweepPlan,
    *,
    rules: Rules = DEFAULT_RULES,
    actor: str,
    confirmed: bool = False,
    pace: Pace | None = None,
) -> RunReport:
    """Move what the plan found due, each memory one step at most, up to 200 in a transaction.

    Each memory is decided anew inside the transaction that moves it, as of the plan's time: one that was used,
    held or moved since stays where it is. Nothing but its tier changes. A sweep that was killed leaves every memory
    moved and logged or neither; a new plan goes on with the rest.

    Args:
        rules: those the plan was made by.
        actor: who lets it run, for the log.
        confirmed: that somebody saw the plan; needed where `plan.needs_confirmation` says why.
        pace: a sweep that it asked to stop counts as ended; what was moved by then stays.

    Returns:
        The memories moved, in the order they were, and those that no longer were what the plan saw. `run_id` None:
        nothing was due.

    Raises:
        ConflictError: it is not confirmed, the rules are not the plan's, or others were put in force since the
            plan: nothing was moved.
        ReadOnlyStoreError, StoreBusyError: what earlier transactions moved stays, and the run stays open.
    Spec: SPEC-09.11 to SPEC-09.15
    """
    actor = checked_actor(actor)
    if rules.version != plan.rule_version:
        raise ConflictError(
            f"apply sweep: it was planned by the rules {plan.rule_version}, these are {rules.version}; "
            "nothing was moved",
            hint="plan it again",
        )
    if plan.needs_confirmation is not None and not confirmed:
        raise ConflictError(
            f"apply sweep: {plan.needs_confirmation}; nothing was moved",
            hint="look at what it would move, then run it with --apply",
        )
    if plan.due_rows == 0:  # what became due since was never shown to anybody
        return RunReport(None, (), ())
    return _Sweep(store, plan, rules, actor, pace or Pace()).run()


@dataclass(slots=True)
class _Sweep:
    """One sweep under way."""

    store: Store
    plan: SweepPlan
    rules: Rules
    actor: str
    pace: Pace
    run_id: int | None = None
    moved: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    has_other_rules: bool = False

    def run(self) -> RunReport:
        """Go through all that is due, then record the end."""
        for ids in self._due():
            self._apply(ids)
            if self.pace.on_progress is not None:
                done = len(self.moved) + len(self.refused)
                self.pace.on_progress(done, max(done, self.plan.due_rows))
        if self.run_id is not None:
            with self.store.writing() as conn:
                end_run(conn, self.run_id, at_ms=self.store.now_ms(), rejections=self.plan.rejections)
        return RunReport(self.run_id, tuple(self.moved), tuple(self.refused))

    def _due(self) -> Iterator[list[str]]:
        """What is due now, in pieces of at most `MAX_CHUNK_ROWS`.

        The tiers come in falling order: a memory that this sweep moved is in a tier that it has gone through.
        """
        form = facts_sql(self.store)
        values = parameters(self.rules, self.plan.now_ms)
        for source in reversed(swept_sources(form)):
            ordered, key = in_row_order(source, form), None
            while not self._is_over():
                if self.run_id is not None:
                    time.sleep(self.pace.pause_ms / 1000)
                found = self.store.read(
                    partial(
                        pick, source=ordered, values=values, after=key, limit_rows=MAX_CHUNK_ROWS, also=NOT_BLOCKED
                    )
                )
                if not found:
                    break
                key = found[-1][1]
                yield [node_id for node_id, _ in found]

    def _is_over(self) -> bool:
        return self.has_other_rules or (self.pace.should_stop is not None and self.pace.should_stop())

    def _apply(self, ids: list[str]) -> None:
        """Decide and move some memories, and count them, in one transaction."""
        with writing_after(self.store, len(self.moved) + len(self.refused)) as conn:
            run_id = self._begin(conn) if self.run_id is None else self.run_id
            due, refused = self._decide(conn, ids)
            moved, not_moved = apply_decisions(
                conn, self.store, due, kind="auto", actor=self.actor, run_id=run_id,
                expected_rules=self.rules.version,
            )  # fmt: skip
            add_to_run(conn, run_id, moved=len(moved), refused=len(refused) + len(not_moved))
            has_other_rules = rules_in_force(conn) != self.rules.version
        # Only now is it certain; a transaction that failed is not part of the report.
        self.run_id, self.has_other_rules = run_id, has_other_rules
        self.moved += moved
        self.refused += [*refused, *not_moved]

    def _begin(self, conn: apsw.Connection) -> int:
        if not put_in_force(conn, self.rules.version, seen=self.plan.rules_seen):
            raise ConflictError(
                f"apply sweep: the rules changed since the plan: {self.plan.rules_seen} → {rules_in_force(conn)}; "
                "nothing was moved",
                hint="plan it again",
            )
        return begin_run(
            conn, "sweep", at_ms=self.store.now_ms(), actor=self.actor, planned=self.plan.due_rows,
            rule_version=self.rules.version,
        )  # fmt: skip

    def _decide(self, conn: apsw.Connection, ids: list[str]) -> tuple[list[Decision], list[Refused]]:
        """What the rules say of them now: the moves, and those that are no longer due."""
        facts = facts_in(conn, facts_sql(self.store), ids, self.plan.now_ms)
        due: list[Decision] = []
        refused: list[Refused] = []
        for node_id in ids:
            if node_id not in facts:
                refused.append(no_memory(node_id))
                continue
            decision = decide(facts[node_id], self.rules, self.plan.now_ms)
            if decision.is_due:
                due.append(decision)
            else:
                refused.append(Refused(node_id, _why_not_due(decision), decision.from_tier))
        return due, refused


def _why_not_due(decision: Decision) -> str:
    if decision.block is not None:
        return f"it was {decision.block} since the plan"
    return f"it is no longer due: {lacking_words(decision.lacking) or 'moved by hand only'}"
