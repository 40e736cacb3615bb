"""A memory's own rows of the log, played back: what still stands, and what it was like before each of them. Pure.

Undo goes back step by step. `done` are the rows that stand, `undone` the undos that could still be taken back, as
in a text editor: a new decision ends the way forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from tierdeck.promote.records import LogKind

# A rule's move: taken back, its evidence begins anew, since the old pulls would repeat it.
BY_RULE: frozenset[LogKind] = frozenset({"auto", "approve"})


@dataclass(frozen=True, slots=True)
class LogStep:
    """A row of the log, as far as undo looks at it. `sets_hold`: a row of td_hold came with it."""

    id: int
    at_ms: int
    kind: LogKind
    from_tier: str | None
    to_tier: str | None
    undoes: int | None
    evolution_id: int | None
    access_id: int
    counted_after: int
    sets_hold: bool

    @property
    def is_move(self) -> bool:
        """Whether the memory changed its tier by it."""
        return self.from_tier != self.to_tier


@dataclass(frozen=True, slots=True)
class State:
    """What the log says a memory is like, beside its tier.

    `counted_after` and `moved_at_ms` are its evidence's beginning; `tier_after` the access after which it came to
    its tier, None where no move of ours brought it there. `hold` and `dismissal` are the rows of the log that set
    those that stand.
    """

    counted_after: int = 0
    moved_at_ms: int | None = None
    tier_after: int | None = None
    hold: int | None = None
    dismissal: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The played-back log of one memory, each list oldest first; `before` is by the id of a row.

    `taken_back` names, by the id of a row, the latest undo of it; `now` is the state after all rows.
    """

    done: tuple[LogStep, ...]
    undone: tuple[LogStep, ...]
    taken_back: dict[int, int]
    before: dict[int, State]
    now: State

    def why_not(self, log_id: int) -> str | None:
        """Why this row can't be taken back now; None when it can."""
        if log_id in (step.id for step in (*self.done[-1:], *self.undone[-1:])):
            return None
        if log_id in self.taken_back:
            return f"row {log_id} was taken back already, by row {self.taken_back[log_id]}"
        newer = next((step for step in reversed((*self.done, *self.undone)) if step.id > log_id), None)
        if newer is not None and any(step.id == log_id for step in (*self.done, *self.undone)):
            return f"a newer one stands, the {newer.kind} in row {newer.id}: it comes first"
        return f"something was decided after row {log_id}, so that it can't be taken back any more"


def standing_of(conn: apsw.Connection, node_id: str) -> Standing:
    """The memory's log played back as it is now."""
    rows: Any = conn.execute(
        "SELECT l.id, l.at, l.kind, l.from_tier, l.to_tier, l.undoes, l.evolution_id, l.access_id, "
        "l.counted_after, EXISTS (SELECT 1 FROM td_hold h WHERE h.log_id = l.id AND h.node_id = l.node_id) "
        "FROM td_promotion_log l WHERE l.node_id = ? ORDER BY l.id",
        (node_id,),
    ).fetchall()
    return play_back([LogStep(*row) for row in rows])


def play_back(steps: Iterable[LogStep]) -> Standing:
    """Which steps stand after all of them."""
    done: list[LogStep] = []
    undone: list[LogStep] = []
    taken_back: dict[int, int] = {}
    before: dict[int, State] = {}
    by_id: dict[int, LogStep] = {}
    state = State()
    for step in steps:
        before[step.id] = state
        by_id[step.id] = step
        target = None if step.undoes is None else by_id.get(step.undoes)
        state = _after(step, state, target, before)
        if target is None:
            done.append(step)
            undone.clear()
            continue
        taken_back[target.id] = step.id
        is_redo = any(other.id == target.id for other in undone)
        done, undone = _without(done, target), _without(undone, target)
        (done if is_redo else undone).append(step)
    return Standing(tuple(done), tuple(undone), taken_back, before, state)


def _after(step: LogStep, state: State, target: LogStep | None, before: dict[int, State]) -> State:
    """What the memory is like after a step; `target` is what an undo took back."""
    if target is not None and target.kind not in BY_RULE:
        was = before[target.id]
        # What is no move left the evidence alone, and a rule's move that was taken back since may have ended it.
        return was if target.is_move else replace(state, hold=was.hold, dismissal=was.dismissal)
    if step.kind == "hold":
        return replace(state, hold=step.id)
    if step.kind == "release":
        return replace(state, hold=None)
    if step.kind == "dismiss":
        return replace(state, dismissal=step.id)
    return State(
        counted_after=step.counted_after,
        moved_at_ms=state.moved_at_ms if step.kind in BY_RULE else step.at_ms,
        tier_after=step.access_id,
        hold=step.id if step.sets_hold else state.hold,
    )


def _without(steps: Sequence[LogStep], gone: LogStep) -> list[LogStep]:
    return [step for step in steps if step.id != gone.id]
