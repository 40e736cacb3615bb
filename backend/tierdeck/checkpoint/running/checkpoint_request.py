"""A checkpoint that somebody else than its agent wants of a session."""

from __future__ import annotations

import time
from collections.abc import Callable

from tierdeck.checkpoint.folder import Request, SessionFolder
from tierdeck.checkpoint.running.restore import Asked
from tierdeck.errors import ConflictError


def request_checkpoint(
    folder: SessionFolder, *, by: str, label: str | None = None, clock_ns: Callable[[], int] = time.time_ns
) -> Asked:
    """Ask the agent that runs a session to save a checkpoint at the end of its turn.

    Args:
        folder: of the session.
        by: who asks, 1 to 200 characters.
        label: of the checkpoint, 1 to 200 characters; None for none.

    Raises:
        ConflictError: no agent runs the session, or another request waits.
        InvalidValueError: `by` or the label is none.
        CheckpointError: the disk refuses. Nothing was asked in each case.

    Spec: SPEC-09.25
    """
    if not folder.is_live():
        raise ConflictError(
            f"ask for a checkpoint: no agent runs session {folder.session_id[:80]}",
            hint="what it saved last is its newest checkpoint",
        )
    return Asked(folder.ask(Request("checkpoint", None, "", 0, by, clock_ns(), label)))
