"""What an agent is told after a restore: the session's note, and what only this adapter knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tierdeck.adapters.rlms.run_record import RunRecord
from tierdeck.checkpoint import Inert, Loss
from tierdeck.checkpoint.running import Resumed

_SHOWN = 10


def restore_note(
    back: Resumed,
    record: RunRecord,
    left_out: Mapping[str, object],
    *,
    rebuilt: Mapping[str, int],
    problems: Mapping[str, str],
) -> str:
    """In plain sentences, at most ten of each list.

    Args:
        left_out: variables that are not in the REPL, since only a description of them was there.
        rebuilt: how many functions and modules each variable has again.
        problems: why one of a variable's was not rebuilt.
    """
    losses = (*_still_inert(back.losses, rebuilt), *_carried(back.losses, left_out))
    told = replace(back, checkpoint=replace(back.checkpoint, losses=losses))
    lines = [told.note]
    if left_out:
        lines.append(f"Not defined now; import or define again what you need: {_some(left_out)}.")
    if rebuilt:
        lines.append(f"Rebuilt from their source, or imported again: {_some(rebuilt)}.")
    lines += [f"Not rebuilt: {name}: {why}" for name, why in list(problems.items())[:_SHOWN]]
    if record.files:
        lines.append(f"The working folder is a new one; these files are not in it: {_some(record.files)}.")
    lines.append(f"Turn {back.checkpoint.turn + 1} begins now; cells that it may have run before are run again.")
    return "\n".join(lines)


def _still_inert(losses: tuple[Loss, ...], rebuilt: Mapping[str, int]) -> Iterator[Loss]:
    """The losses without those that were made good."""
    for loss in losses:
        listed = sum(other.variable == loss.variable and other.kind == "inert" for other in losses)
        if loss.kind != "inert" or listed > rebuilt.get(loss.variable, 0):
            yield loss


def _carried(losses: tuple[Loss, ...], left_out: Mapping[str, object]) -> Iterator[Loss]:
    """Descriptions that are older than the checkpoint: its own losses do not name them."""
    named = {loss.variable for loss in losses}
    for name, value in left_out.items():
        if name not in named:
            kind = value.kind if isinstance(value, Inert) else "value"
            yield Loss(name, name, kind, "only a description of it was there", "inert")


def _some(names: Iterable[str]) -> str:
    all_of_them = list(names)
    more = f" and {len(all_of_them) - _SHOWN} more" if len(all_of_them) > _SHOWN else ""
    return ", ".join(all_of_them[:_SHOWN]) + more
