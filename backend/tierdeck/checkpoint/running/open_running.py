"""A running session, opened by the process of its agent."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tierdeck.checkpoint.file.key_file import checked_key
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.running.question import CallRules
from tierdeck.checkpoint.running.running_session import RunningSession
from tierdeck.checkpoint.running.troubles import Troubles
from tierdeck.errors import ConflictError, InvalidValueError

DEFAULT_EVERY_TURNS = 5
MAX_EVERY_TURNS = 10_000
_NO_RULES = CallRules()


def open_running(
    root: Path,
    session_id: str,
    *,
    every: int = DEFAULT_EVERY_TURNS,
    depth: int = 0,
    takes_restores: bool = True,
    rules: CallRules = _NO_RULES,
    on_problem: Callable[[str], None] | None = None,
    after_save: Callable[[SessionFolder], None] | None = None,
    key: bytes | None = None,
    clock_ns: Callable[[], int] = time.time_ns,
) -> RunningSession:
    """Open a session for the agent that runs it. It begins anew unless `resume` is called.

    Args:
        root: the folder of all sessions' checkpoints; made when it is not there.
        session_id: any text of 1 to 1,024 bytes.
        every: an automatic checkpoint after so many turns; 0 for none.
        depth: of recursion, for a sub-agent.
        takes_restores: whether the agent goes on with what `end_turn` gives it; else such requests are refused.
        on_problem: told in a sentence what could not be saved or journalled.
        after_save: called on the background thread after each checkpoint.
        key: the operator's, 1 to 64 bytes: checkpoints are sealed with it, and only such are gone on from.

    Raises:
        ConflictError: another process runs this session; nothing was changed.
        InvalidValueError: the id, `every` or the key is none.
        CheckpointError: the folder can't be made or written.

    Spec: SPEC-09.20, SPEC-09.24
    """
    if type(every) is not int or not 0 <= every <= MAX_EVERY_TURNS:
        raise InvalidValueError(
            f"open session: a checkpoint every {every!r:.40} turns can't be made", hint="give 0 (none) to 10,000"
        )
    folder = open_session_folder(root, session_id, create=True, limits=AGENT_LIMITS, key=checked_key(key))
    lease = folder.try_lease()
    if lease is None:
        raise ConflictError(
            f"open session {session_id[:80]}: another process runs it", hint="wait for it, or give another id"
        )
    try:
        return RunningSession(
            folder,
            lease,
            every=every,
            depth=depth,
            takes_restores=takes_restores,
            rules=rules,
            troubles=Troubles(on_problem),
            after_save=after_save,
            clock_ns=clock_ns,
        )
    except BaseException:
        lease.release()
        raise
