"""A snapshot into raw bytes, and what of it could not be saved. Pure; on any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint, Unread
from tierdeck.checkpoint.file.snapshot import Snapshot, take_snapshot
from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.file.table import LOST, MEMORY, PARTS
from tierdeck.checkpoint.kinds.loss import MAX_ALL_LOSSES, Loss
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits
from tierdeck.checkpoint.values.encode import EncodedPool, EncodedUnit, encode, encode_units
from tierdeck.checkpoint.values.nodes import Source


@dataclass(frozen=True, slots=True)
class Packed:
    """A checkpoint as raw bytes; how many they are, the summary says once they are sealed.

    `losses` is all that was not saved as it was, also by earlier saves.
    """

    summary: Summary
    units: tuple[EncodedUnit, ...]
    pools: tuple[EncodedPool, ...]
    losses: tuple[Loss, ...]
    unread: tuple[Unread, ...]
    minor: int


def pack_checkpoint(
    checkpoint: Checkpoint, *, source_text: Mapping[CodeType, str] | None = None, limits: Limits = AGENT_LIMITS
) -> Packed:
    """Take a snapshot and pack it at once; see `take_snapshot` and `pack`. Spec: SPEC-09.21"""
    return pack(take_snapshot(checkpoint, source_text=source_text, limits=limits))


def pack(snapshot: Snapshot) -> Packed:
    """Everything of a checkpoint that can be saved, as bytes, and a list of what can't. Spec: SPEC-09.21"""
    encoded = encode(snapshot.nodes, _left_for(snapshot))
    saved = {unit.facts.name for unit in encoded.units if unit.facts.is_part}
    missing = [name for name in PARTS if name not in saved and name != LOST]
    emptied = encode_units([Source(name, {} if name == MEMORY else [], is_part=True) for name in missing])
    all_losses = _all_losses((*snapshot.refused, *encoded.losses), snapshot.earlier)
    losses = all_losses[:MAX_ALL_LOSSES]
    fields = [_loss_fields(loss) for loss in losses]
    listed = encode_units([Source(LOST, fields, is_part=True)], limits=snapshot.limits)
    units = (*encoded.units, *emptied.units, *listed.units)
    summary = replace(
        snapshot.summary,
        variables=sum(not unit.facts.is_part for unit in units),
        lost=len({loss.variable for loss in all_losses if loss.kind == "lost"}),
        inert=sum(loss.kind != "lost" for loss in all_losses),
    )
    minor = max([encoded.minor, *(unread.minor for unread in snapshot.unread)])
    return Packed(summary, units, encoded.pools, losses, snapshot.unread, minor)


def _left_for(snapshot: Snapshot) -> Limits:
    """What variables and parts may take, so that the list of losses and what was not understood fit beside them.

    A file is no longer than its limit either, with its table: a sixteenth of the bytes is left for both.
    """
    limits, unread = snapshot.limits, snapshot.unread
    return replace(
        limits,
        units=limits.units - len(PARTS) - len(unread),
        raw_bytes=limits.raw_bytes - limits.raw_bytes // 16 - sum(len(each.raw) for each in unread),
    )


def _loss_fields(loss: Loss) -> list[str]:
    return [loss.variable, loss.path, loss.type_name, loss.reason, loss.kind]


def _all_losses(now: Sequence[Loss], before: Sequence[Loss]) -> tuple[Loss, ...]:
    """What this save lost, then what an earlier one had lost already and this one did not meet again."""
    seen = {loss.path for loss in now}
    return (*now, *(loss for loss in before if loss.path not in seen))
