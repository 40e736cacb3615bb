"""What can be done with a checkpoint: fork it, or have its session go back; with the calls to be decided about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tierdeck.checkpoint.folder import FoundCheckpoint
from tierdeck.checkpoint.running import OpenOperation, RestoreMode, operations_at
from tierdeck_tui.reading.restore_plan import RestorePlan, read_restore_plan

MODES: tuple[RestoreMode, ...] = ("fork", "rewind")


@dataclass(frozen=True, slots=True)
class RestoreOffer:
    """One way to restore: what it would do, and the calls that can be decided about first."""

    plan: RestorePlan
    operations: tuple[OpenOperation, ...]


def read_offers(
    found: FoundCheckpoint,
    *,
    key: bytes | None,
    on_progress: Callable[[int, int], None],
    should_stop: Callable[[], bool],
) -> Mapping[RestoreMode, RestoreOffer]:
    """The ways to restore it; a rewind is left out where the session stands at no checkpoint.

    Args:
        key: the operator's, when checkpoints are sealed with one.
        on_progress: told how many of how many bytes were read.
        should_stop: asked while the file is read.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError, CheckpointKeyError, CheckpointError: it
            can't be restored: says why.
        StoppedError: it was asked to stop.
    """
    offers: dict[RestoreMode, RestoreOffer] = {}
    for mode in MODES:
        plan = read_restore_plan(found, mode, key=key, on_progress=on_progress, should_stop=should_stop)
        if mode == "fork" or plan.present is not None:
            offers[mode] = RestoreOffer(plan, operations_at(found, mode))
    return offers
