"""From which checkpoints others come: branches of the same session, and sessions that were forked from it."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.checkpoint.folder.listing import Listed, Owner, file_names, list_one
from tierdeck.checkpoint.folder.session_folder import SessionFolder
from tierdeck.checkpoint.folder.sessions import session_folders
from tierdeck.checkpoint.folder.verify import Progress, Stop
from tierdeck.errors import StoppedError


def branch_points(listed: Sequence[Listed]) -> set[str]:
    """The ids of checkpoints that one of another branch has as its parent."""
    branches = {each.summary.checkpoint_id: each.summary.branch for each in listed if each.summary is not None}
    return {
        each.summary.parent
        for each in listed
        if each.summary is not None
        and each.summary.parent is not None
        and branches.get(each.summary.parent, each.summary.branch) != each.summary.branch
    }


def fork_parents(
    folder: SessionFolder, *, on_progress: Progress | None = None, should_stop: Stop | None = None
) -> set[str]:
    """The ids of checkpoints that another session under the same root says it began from.

    Of each session the oldest and the newest checkpoint that can be read are asked: all of a forked one say it.
    Raises CheckpointError when a folder can't be read, StoppedError when it was asked to stop.

    Args:
        on_progress: told how many of how many sessions were asked.
        should_stop: asked before each.
    """
    found = set()
    others = [path for path in session_folders(folder.path.parent) if path != folder.path]
    for done, path in enumerate(others):
        if should_stop is not None and should_stop():
            raise StoppedError("look for forks: it was asked to stop; nothing was changed")
        if on_progress is not None:
            on_progress(done, len(others))
        files = [file for _, file in file_names(path)]
        for order in (files, files[::-1]):
            for file in order:
                listed = list_one(path / file, Owner(None, folder.limits))
                if listed is None or listed.summary is None:
                    continue
                origin = listed.summary.origin
                if origin is not None and origin.session_id == folder.session_id:
                    found.add(origin.checkpoint_id)
                break
    return found
