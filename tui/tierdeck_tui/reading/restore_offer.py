"""What can be done with a checkpoint: fork it, or have its session go back; with the calls to be decided about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder
from tierdeck.checkpoint.journal import journal_path, journalled_branches
from tierdeck.checkpoint.running import OpenOperation, RestoreMode, operations_at
from tierdeck_tui.reading.checkpoint_sessions import stamp_of
from tierdeck_tui.reading.restore_plan import RestorePlan, check_restorable, plan_as_it_stands

MODES: tuple[RestoreMode, ...] = ("fork", "rewind")
_Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RestoreOffer:
    """One way to restore: what it would do, and the calls that can be decided about first."""

    plan: RestorePlan
    operations: tuple[OpenOperation, ...]


@dataclass(frozen=True, slots=True)
class Offers:
    """The ways to restore a checkpoint, as its session stood: a fork always, a rewind unless it stands nowhere.

    `signature` is that of its folder before it was read: what changed meanwhile has another one.
    """

    found: FoundCheckpoint
    by_mode: Mapping[RestoreMode, RestoreOffer]
    signature: _Signature


def read_offers(
    found: FoundCheckpoint,
    *,
    key: bytes | None,
    on_progress: Callable[[int, int], None],
    should_stop: Callable[[], bool],
) -> Offers:
    """The ways to restore it. The whole file is checked against its trailer first, once.

    Args:
        key: the operator's, when checkpoints are sealed with one.
        on_progress: told how many of how many bytes were read.
        should_stop: asked while the file is read.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError, CheckpointKeyError, CheckpointError: it
            can't be restored: says why.
        StoppedError: it was asked to stop.
    """
    check_restorable(found.listed, key, on_progress, should_stop)
    return offers_as_they_stand(found)


def is_changed(offers: Offers) -> bool:
    """Whether something was saved, called, switched or cleared away since, or an agent has begun or ended.

    Raises:
        CheckpointError: that can't be told.
    """
    return _signature(offers.found.folder) != offers.signature


def offers_as_they_stand(found: FoundCheckpoint) -> Offers:
    """The ways to restore a checkpoint that was checked: who restores it reads it whole.

    Raises:
        NotFoundError, DamagedCheckpointError, CheckpointError: the file or the folder can't be read any more.
    """
    signature = _signature(found.folder)
    plan = plan_as_it_stands(found, "fork")
    fork = RestoreOffer(plan, operations_at(found, "fork"))
    offers: dict[RestoreMode, RestoreOffer] = {"fork": fork}
    if plan.present is not None:
        offers["rewind"] = RestoreOffer(replace(plan, mode="rewind"), fork.operations)
    return Offers(found, offers, signature)


def _signature(folder: SessionFolder | None) -> _Signature:
    """Changes with each file of the session, each line of its journals, and when its agent begins or ends."""
    if folder is None:
        return ()
    journals = [journal_path(folder.path, branch) for branch in journalled_branches(folder.path)]
    return (folder.is_live(), stamp_of(folder.path), *map(stamp_of, journals))
