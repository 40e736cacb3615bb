"""What is taken away after a save: checkpoints beyond what retention keeps, and journals nothing refers to."""

from __future__ import annotations

from contextlib import suppress

from tierdeck.checkpoint.folder import RetentionPolicy, SessionFolder, list_trash, plan_prune, prune
from tierdeck.checkpoint.journal import journal_path, journalled_branches
from tierdeck.errors import ConflictError


def tidy(folder: SessionFolder, policy: RetentionPolicy) -> None:
    """Prune by the policy, then unlink journals of branches that no checkpoint is of. For the holder of the lease.

    Raises:
        CheckpointError: marks, HEAD or a folder can't be read, or the disk refuses; nothing protected is gone.
    """
    with suppress(ConflictError):  # HEAD was switched meanwhile: the next save does it
        prune(folder, plan_prune(folder, policy), is_automatic=True)
    sweep_journals(folder)


def sweep_journals(folder: SessionFolder) -> None:
    """Unlink journals that nothing can come back to; none while a checkpoint can't be read or lies in the trash."""
    branches = journalled_branches(folder.path)
    if len(branches) <= 1 or list_trash(folder):
        return
    listed = folder.listed()
    if any(each.summary is None for each in listed):
        return
    needed = {each.summary.branch for each in listed if each.summary is not None}
    head = folder.head()
    if head is not None:
        needed.add(head.branch)
    for branch in branches:
        if branch not in needed:
            with suppress(OSError):
                journal_path(folder.path, branch).unlink()
