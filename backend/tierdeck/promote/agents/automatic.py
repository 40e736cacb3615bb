"""The rules run by themselves: in the transaction of a pull, an outcome or a session's end, for what it touched."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import apsw

from tierdeck.config import PromotionSettings
from tierdeck.promote.evidence.facts import facts_in
from tierdeck.promote.evidence.facts_sql import facts_sql
from tierdeck.promote.log.entries import end_fault
from tierdeck.promote.moves.chunks import PAUSE_MS, writing_after
from tierdeck.promote.moves.move import MAX_CHUNK_ROWS, apply_decisions
from tierdeck.promote.moves.runs import add_to_run, begin_run, end_run
from tierdeck.promote.records import AUTOMATIC_ACTOR, Refused, RunKind, RunReport
from tierdeck.promote.rules import Decision, Rules, decide, rules_of
from tierdeck.store import Store


def run_rules(
    conn: apsw.Connection, store: Store, ids: Sequence[str], rules: Rules, *, run_id: int | None = None
) -> tuple[tuple[str, ...], tuple[Refused, ...]]:
    """Decide on these memories and make the moves that are due, inside the caller's IMMEDIATE transaction.

    Each moves one step at most. What was decided in this transaction can't have changed since, so nothing is
    refused but what a damaged store holds.

    Args:
        ids: at most `MAX_CHUNK_ROWS`, so that no other writer waits long; one that does not exist is passed over.

    Returns:
        The ids moved, in their order, and those refused.
    Spec: SPEC-09.11, SPEC-09.12
    """
    due = [decision for decision in _decisions(conn, store, ids, rules) if decision.is_due]
    return _apply(conn, store, due, run_id) if due else ((), ())


def apply_rules(
    store: Store,
    change: Callable[[apsw.Connection], Sequence[str]],
    settings: PromotionSettings,
    *,
    run_kind: RunKind | None = None,
    is_synced: bool = True,
) -> RunReport:
    """Make a change and let the rules look at the memories that it gives back, in one transaction.

    Of more than `MAX_CHUNK_ROWS` memories the others are looked at in transactions of their own, with a rest before
    each, so that no other writer waits long (5,000 without a rest kept one waiting for 1.4 s, the whole time). When
    the process is killed between them, the next pull, session's end or sweep goes on.

    Args:
        settings: when `automatic` is off, no rule runs.
        run_kind: what the run is called; it is on record when something is due. None: no run, as for a pull.
        is_synced: as for `Store.writing`, for the first transaction.
    """
    rules = rules_of(settings)
    work = _Work(store, rules, run_kind)
    with store.writing(is_synced=is_synced) as conn:
        changed = change(conn)
        ids = list(changed) if settings.automatic else []
        work.take(conn, ids[:MAX_CHUNK_ROWS], is_last=len(ids) <= MAX_CHUNK_ROWS)
    for start in range(MAX_CHUNK_ROWS, len(ids), MAX_CHUNK_ROWS):
        time.sleep(PAUSE_MS / 1000)
        with writing_after(store, start) as conn:
            work.take(conn, ids[start : start + MAX_CHUNK_ROWS], is_last=start + MAX_CHUNK_ROWS >= len(ids))
    return work.report


class _Work:
    """The memories of one change, looked at in pieces."""

    def __init__(self, store: Store, rules: Rules, run_kind: RunKind | None) -> None:
        self._store = store
        self._rules = rules
        self._run_kind = run_kind
        self._run_id: int | None = None
        self._done: list[tuple[tuple[str, ...], tuple[Refused, ...]]] = []
        self._rejections: Counter[str] = Counter()

    @property
    def report(self) -> RunReport:
        """What was moved and refused so far."""
        moved = tuple(chain.from_iterable(moved for moved, _ in self._done))
        return RunReport(self._run_id, moved, tuple(chain.from_iterable(refused for _, refused in self._done)))

    def take(self, conn: apsw.Connection, ids: Sequence[str], *, is_last: bool) -> None:
        """Look at one piece, in the caller's transaction."""
        decisions = _decisions(conn, self._store, ids, self._rules) if ids else []
        due = [decision for decision in decisions if decision.is_due]
        self._rejections.update(criterion.name for decision in decisions for criterion in decision.lacking)
        if due:
            self._move(conn, due)
        if is_last and self._run_id is not None:
            end_run(conn, self._run_id, at_ms=self._store.now_ms(), rejections=self._rejections)

    def _move(self, conn: apsw.Connection, due: Sequence[Decision]) -> None:
        """Make the moves; in a run, if there is to be one, which the first of them begins."""
        if self._run_id is None and self._run_kind is not None:
            self._run_id = begin_run(
                conn, self._run_kind, at_ms=self._store.now_ms(), actor=AUTOMATIC_ACTOR, planned=0,
                rule_version=self._rules.version,
            )  # fmt: skip
        moved, refused = _apply(conn, self._store, due, self._run_id)
        self._done.append((moved, refused))
        if self._run_id is not None:
            add_to_run(conn, self._run_id, planned=len(due), moved=len(moved), refused=len(refused))


def _decisions(conn: apsw.Connection, store: Store, ids: Sequence[str], rules: Rules) -> list[Decision]:
    now = store.now_ms()
    found = facts_in(conn, facts_sql(store), ids, now)
    return [decide(found[node_id], rules, now) for node_id in ids if node_id in found]


def _apply(
    conn: apsw.Connection, store: Store, due: Sequence[Decision], run_id: int | None
) -> tuple[tuple[str, ...], tuple[Refused, ...]]:
    # An agent's pull is recorded all the same: it must not be lost because somebody cut the log.
    fault = end_fault(conn)
    if fault is not None:
        return (), tuple(Refused(decision.node_id, fault, decision.from_tier) for decision in due)
    return apply_decisions(conn, store, due, kind="auto", actor=AUTOMATIC_ACTOR, run_id=run_id, expected_rules=None)
