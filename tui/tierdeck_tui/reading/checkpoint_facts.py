"""What the Overview tells of saved sessions: 4 KB of each file are read, in a worker, and nothing is verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.folder import SessionInfo, list_sessions
from tierdeck.errors import CheckpointError, StoppedError
from tierdeck_tui.reading.checkpoint_sessions import folder_of

_OPEN = ("pending", "running")


@dataclass(frozen=True, slots=True)
class CheckpointFacts:
    """Saved sessions in numbers.

    `newest` is the one with the newest checkpoint; `unfinished` are the operations that are pending or running in
    the checkpoint that a session goes on from. `problems` counts sessions that can't be read.
    """

    sessions: int
    files: int
    newest: SessionInfo | None
    running: int
    damaged: int
    newer: int
    unfinished: int
    problems: int


def read_checkpoint_facts(root: Path, should_stop: Callable[[], bool] = lambda: False) -> CheckpointFacts:
    """Count what is there; a session that can't be read is counted as such and hides none of the others.

    Raises:
        CheckpointError: the root can't be read.
        StoppedError: `should_stop` said so.
    """
    infos = list_sessions(root)
    states: Counter[str] = Counter()
    unfinished, problems = 0, 0
    for info in infos:
        if should_stop():
            raise StoppedError("count checkpoints: stopped")
        problems += info.problem is not None
        try:
            listed = folder_of(info).listed()
        except CheckpointError:
            problems += info.problem is None
            continue
        states.update(each.state for each in listed)
        heads = [each.summary for each in listed if each.is_head]
        unfinished += sum(head.pending.get(name, 0) for head in heads if head is not None for name in _OPEN)
    return CheckpointFacts(
        sessions=len(infos),
        files=states.total(),
        newest=next((info for info in infos if info.newest_ns is not None), None),
        running=sum(info.is_live for info in infos),
        damaged=states["damaged"],
        newer=states["newer"],
        unfinished=unfinished,
        problems=problems,
    )
