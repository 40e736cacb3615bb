"""What has become of a restore's plan since it was shown: its agent goes on, and other people restore too. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tierdeck_tui.reading.restore_offer import RestoreOffer
from tierdeck_tui.reading.restore_plan import RestorePlan
from tierdeck_tui.view.checkpoint.state import OUTCOMES
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.safe_text import safe

T = TypeVar("T")
_MAX_CALLS = 3


@dataclass(frozen=True, slots=True)
class Moved:
    """What is not any more as it was shown, in words.

    `expected` is what the plan for a running agent says itself: it saves and calls more until it answers. With
    anything in `unexpected` the plan is another one; `dropped` are choices that do not hold for their calls.
    """

    expected: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def is_as_said(self) -> bool:
        """Whether who said yes to the plan as it was shown has said yes to it as it is."""
        return not self.unexpected and not self.dropped

    @property
    def words(self) -> str:
        """All of it in one line; empty when nothing moved."""
        return "; ".join((*self.dropped, *self.unexpected, *self.expected))


def what_moved(shown: RestoreOffer, now: RestoreOffer | None, decided: Collection[str] = ()) -> Moved:
    """What differs between an offer as it was shown and as it is.

    Args:
        now: of the same way to restore; None when it can't be done so any more.
        decided: the ids of the calls that something was chosen about.
    """
    if now is None:
        return Moved(unexpected=("the session stands at no checkpoint any more",))
    grown, other = list(_calls(shown, now, decided)), []
    if shown.plan.mode == "rewind":
        grown = [*_saved(shown.plan, now.plan), *grown]
        other = list(_switched(shown.plan, now.plan))
    other += [safe(each) for each in now.plan.problems if each not in shown.plan.problems]
    dropped = tuple(_dropped(shown, now, decided))
    if shown.plan.is_live and now.plan.is_live:
        return Moved(tuple(grown), tuple(other), dropped)
    return Moved((), (*other, *grown), dropped)


def still_chosen(shown: RestoreOffer, now: RestoreOffer, chosen: Mapping[str, T]) -> dict[str, T]:
    """What was chosen about calls that are in the state in which it was chosen."""
    before, after = _states(shown), _states(now)
    return {op_id: each for op_id, each in chosen.items() if op_id in after and after[op_id] == before.get(op_id)}


def _switched(shown: RestorePlan, now: RestorePlan) -> Iterator[str]:
    if shown.is_live != now.is_live:
        yield "an agent runs the session by now" if now.is_live else "its agent has ended"
    if shown.generation != now.generation:
        stands = now.present
        where = "" if stands is None else f": it is at checkpoint {stands.sequence}, turn {stands.turn}"
        yield f"HEAD was switched{where}"


def _saved(shown: RestorePlan, now: RestorePlan) -> Iterator[str]:
    before, after = ({each.file for each in plan.later} for plan in (shown, now))
    if after - before:
        yield f"{counted(len(after - before), 'checkpoint was', 'checkpoints were')} saved"
    if before - after and shown.generation == now.generation:
        yield f"{counted(len(before - after), 'later checkpoint was', 'later checkpoints were')} cleared away"
    elif after == before and _file(shown) != _file(now) and shown.generation == now.generation:
        yield f"it stands at {_file(now)}"


def _calls(shown: RestoreOffer, now: RestoreOffer, decided: Collection[str]) -> Iterator[str]:
    before, after = _states(shown), _states(now)
    new = after.keys() - before.keys()
    if new:
        yield f"{counted(len(new), 'call was', 'calls were')} made or planned"
    others = [op_id for op_id in before if op_id not in decided and after.get(op_id) != before[op_id]]
    if others:
        yield f"{counted(len(others), 'call', 'calls')} went on"


def _dropped(shown: RestoreOffer, now: RestoreOffer, decided: Collection[str]) -> Iterator[str]:
    before, after = _states(shown), _states(now)
    kinds = {each.entry.op_id: each.entry.kind for each in shown.operations}
    moved = [op_id for op_id in before if op_id in decided and after.get(op_id) != before[op_id]]
    for op_id in moved[:_MAX_CALLS]:
        state = "not open any more" if op_id not in after else f"{OUTCOMES[after[op_id]]} by now"
        yield f"{safe(kinds[op_id])[:80]} is {state}: what was chosen about it does not count"
    if len(moved) > _MAX_CALLS:
        yield f"{counted(len(moved) - _MAX_CALLS, 'other call')} likewise"


def _states(offer: RestoreOffer) -> dict[str, str]:
    return {each.entry.op_id: each.entry.state for each in offer.operations}


def _file(plan: RestorePlan) -> str | None:
    return None if plan.present is None else plan.present.file
