"""Which checkpoint a session goes on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.file.load import load_checkpoint
from tierdeck.checkpoint.file.reading import open_checkpoint
from tierdeck.checkpoint.folder import HeadPointer, Listed, SessionFolder, Skipped
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.errors import CheckpointError, CheckpointKeyError, DamagedCheckpointError, NotFoundError

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """A checkpoint that was read whole. `branch` is the one to go on with; None when it has to be a new one."""

    path: Path
    checkpoint: Checkpoint
    branch: str | None
    pointer: HeadPointer
    skipped: tuple[Skipped, ...]


def load_from(
    path: Path,
    *,
    session_id: str | None = None,
    key: bytes | None = None,
    watch: Callable[[int], None] | None = None,
) -> Checkpoint:
    """The whole checkpoint in a file; raises as `open_checkpoint` and `load_checkpoint`.

    Args:
        session_id: whose it has to be; one of another session is damage then.
        key: the operator's; then the trailer has to be made with it.
        watch: called after each read, see `open_checkpoint`.
    """
    with open_checkpoint(path, limits=AGENT_LIMITS, key=key, watch=watch) as file:
        found = load_checkpoint(file)
    if session_id is not None and found.session_id != session_id:
        raise DamagedCheckpointError(f"read checkpoint {path.name}: it is of session {found.session_id[:80]!r}")
    return found


def choose(folder: SessionFolder) -> Chosen | None:
    """The checkpoint at HEAD, else the newest that can be read whole; None when the session has no checkpoints.

    One that is damaged, newer or too large is passed over and named.

    Raises:
        DamagedCheckpointError: there are checkpoints, and none of them can be read; names them.
        CheckpointKeyError: the same, and one was sealed with another key, or with none.
        CheckpointError: the folder can't be read.
    """
    listed = folder.listed()
    pointer = folder.head()
    skipped: list[Skipped] = []
    refused: list[CheckpointKeyError] = []
    for each, branch in _in_order(listed, pointer, _own_pointer(folder)):
        found = _read(each, skipped, refused, folder.key)
        if found is not None and pointer is not None:
            # Those whose branch nobody can read may be what the session stood at.
            unread = [Skipped(other.file, other.why or other.state) for other in _newer_unread(listed, each)]
            named = dict.fromkeys((*unread, *skipped))
            return Chosen(each.path, found, branch, pointer, tuple(named))
    if listed:
        all_unread = [Skipped(each.file, each.why or each.state) for each in listed]
        raise _none_is_good(folder, skipped or all_unread, refused)
    return None


def _read(
    listed: Listed, skipped: list[Skipped], refused: list[CheckpointKeyError], key: bytes | None
) -> Checkpoint | None:
    """The whole checkpoint; None when it can't be read, which is noted."""
    if listed.summary is None:
        skipped.append(Skipped(listed.file, listed.why or listed.state))
        return None
    try:
        return load_from(listed.path, key=key)
    except (CheckpointError, NotFoundError) as e:
        skipped.append(Skipped(listed.file, e.message))
        if isinstance(e, CheckpointKeyError):
            refused.append(e)
        return None


def _newer_unread(listed: list[Listed], chosen: Listed) -> list[Listed]:
    return [each for each in reversed(listed) if each.summary is None and each.sequence > chosen.sequence]


def _own_pointer(folder: SessionFolder) -> HeadPointer | None:
    try:
        return folder.switched_head()
    except DamagedCheckpointError:
        return None


def _in_order(
    listed: list[Listed], pointer: HeadPointer | None, own: HeadPointer | None
) -> Iterator[tuple[Listed, str | None]]:
    """Candidates with the branch to go on with: HEAD's branch from its newest, HEAD's own file, then the others."""
    branch = None if pointer is None else pointer.branch
    given: set[str] = set()
    newest_first = list(reversed(listed))
    for each in newest_first:
        if each.summary is not None and each.summary.branch == branch:
            given.add(each.file)
            yield each, branch
    for each in newest_first:
        if own is not None and each.file == own.file and each.file not in given:
            given.add(each.file)
            yield each, branch
    yield from ((each, None) for each in newest_first if each.file not in given)


def _none_is_good(
    folder: SessionFolder, skipped: list[Skipped], refused: list[CheckpointKeyError]
) -> CheckpointError:
    named = "; ".join(f"{file}: {why}" for file, why in skipped[:_NAMED])
    more = f"; and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
    said = f"resume session {folder.session_id[:80]}: none of its checkpoints can be read: {named}{more}"
    if refused:
        return CheckpointKeyError(said, hint=refused[0].hint)
    return DamagedCheckpointError(said, hint="without `resume` it begins anew; the files stay as they are")
