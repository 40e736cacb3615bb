"""The checkpoints of a session by branch: where each begins, and what of it the session does not go on from. Pure.

A session goes on from HEAD. Its past is HEAD, what was saved before that on its branch, and what that branch began
at, and so on; a restore left all else behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tierdeck.checkpoint.folder import Listed, Trashed
from tierdeck.checkpoint.folder.names import SUFFIX
from tierdeck.checkpoint.journal import BranchLine
from tierdeck_tui.view.checkpoint.row import checkpoint_line
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe

_LEFT, _PAST = "╎", "│"
_ID_CHARS = 8  # of a checkpoint's id, in its file's name


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a branch went on from: a branch of the session, turn and sequence, each None where it is not known.

    `session_id` is another session's, of which it was forked. `lack` says why the checkpoint is not listed.
    """

    branch: str | None
    turn: int | None
    sequence: int | None = None
    session_id: str | None = None
    lack: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """The checkpoints of one branch, the newest first; None collects the files whose summary can't be read.

    `has_head`: HEAD is one of them. The session does not go on from the first `left` of them: it left the branch
    after `left_turn`, or was never on it where that is None.
    """

    name: str | None
    rows: tuple[Listed, ...]
    has_head: bool
    begins: Beginning | None = None
    left: int = 0
    left_turn: int | None = None

    @property
    def is_told(self) -> bool:
        """Whether there is something to say of it, were it the only one."""
        return bool(self.left) or self.begins is not None


@dataclass(frozen=True, slots=True)
class Known:
    """What a folder tells of its branches besides its checkpoints: how each began, and what lies in the trash."""

    beginnings: Mapping[str, BranchLine]
    trash: Sequence[Trashed] = ()


class _Place(NamedTuple):
    branch: str
    turn: int
    sequence: int | None


NOTHING_KNOWN = Known({})


def branches(listed: Sequence[Listed], known: Known = NOTHING_KNOWN) -> list[Branch]:
    """The checkpoints by branch: HEAD's first, then by their newest file; what can't be read comes last.

    Args:
        listed: of one session, in any order.
    """
    by_name: dict[str | None, list[Listed]] = {}
    places: dict[str | None, _Place] = {}
    for each in sorted(listed, key=lambda each: each.sequence, reverse=True):
        # Kept, the summaries of ten thousand would be walked by each full collection while somebody types.
        summary = each.glance()
        if summary is not None:
            places[summary.checkpoint_id] = _Place(summary.branch, summary.turn, each.sequence)
        by_name.setdefault(None if summary is None else summary.branch, []).append(each)
    files = [each.file for each in listed]
    begins = {
        name: _beginning(rows[-1], places, known, files) for name, rows in by_name.items() if name is not None
    }
    past = dict(_past(by_name, begins, known))
    found = []
    for name, rows in by_name.items():
        has_head, last = any(each.is_head for each in rows), past.get(name or "")
        left = _left(rows, last) if past and name is not None else 0
        turn = None if last is None else last.turn
        found.append(Branch(name, tuple(rows), has_head, begins.get(name or ""), left, turn))
    return sorted(found, key=lambda each: (each.name is None, not each.has_head, -each.rows[0].sequence))


def branch_line(branch: Branch, cells: int = 80) -> Line:
    """The heading of a branch, exactly `cells` wide: what it went on from, and from where on it was left."""
    if branch.name is None:
        return fit([Piece("can't be read", "error")], cells)
    turn = "" if branch.left_turn is None else f" after turn {branch.left_turn}"
    left = f"  left{turn}" if branch.left else ""
    begins = f"  {_begin_words(branch.begins)}" if branch.begins is not None else ""
    lack = f" ({branch.begins.lack})" if branch.begins is not None and branch.begins.lack else ""
    name, state = Piece(f"branch {branch.name}", "strong"), Piece(left, "warning")
    return fit([name, state, Piece(begins, "muted"), Piece(lack, "warning")], cells)


def sign_of(*, is_left: bool) -> Piece:
    """What stands before a checkpoint's row: whether the session goes on from it."""
    return Piece(_LEFT if is_left else _PAST, "muted")


def session_lines(
    listed: Sequence[Listed], now_ms: int, cells: int = 80, known: Known = NOTHING_KNOWN
) -> list[Line]:
    """All checkpoints of a session: each branch's heading, then its rows, the newest first."""
    lines: list[Line] = []
    for branch in branches(listed, known):
        lines.append(branch_line(branch, cells))
        for number, each in enumerate(branch.rows):
            sign = sign_of(is_left=True) if number < branch.left else Piece(" ")
            lines.append(line(sign, *checkpoint_line(each, now_ms, cells - 1)))
    return lines


def _beginning(
    oldest: Listed, places: Mapping[str | None, _Place], known: Known, files: Sequence[str]
) -> Beginning | None:
    """What the branch of this checkpoint, its oldest, went on from; None when it is the session's own beginning."""
    summary = oldest.summary
    if summary is None:
        return None
    parent, origin, noted = summary.parent, summary.origin, known.beginnings.get(summary.branch)
    if parent in places:
        place = places[parent]
        return Beginning(*place) if place.branch != summary.branch else None
    if origin is not None and (noted is None or all(noted.parent != place.branch for place in places.values())):
        turn = summary.turn if parent is None else None if noted is None else noted.parent_turn
        return Beginning(None, turn, session_id=origin.session_id)
    lack = "gone" if parent is None else _lack(parent, files, known.trash)
    if noted is not None:  # without a parent: the beginning of the session's first branch was cleared away
        return None if noted.parent is None else Beginning(noted.parent, noted.parent_turn, lack=lack)
    return None if parent is None else Beginning(None, None, lack=lack)


def _lack(checkpoint_id: str, files: Sequence[str], trash: Sequence[Trashed]) -> str:
    end = f"-{checkpoint_id[:_ID_CHARS]}{SUFFIX}"
    if any(file.endswith(end) for file in files):
        return ""
    return "in the trash" if any(each.file.endswith(end) for each in trash) else "gone"


def _past(
    by_name: Mapping[str | None, Sequence[Listed]], begins: Mapping[str, Beginning | None], known: Known
) -> Iterator[tuple[str, _Place]]:
    """By branch, where the session goes on from it; nothing when HEAD is none of what is listed."""
    heads = [
        _Place(name, each.turn, each.sequence)
        for name, rows in by_name.items()
        for each in rows
        if each.is_head and name
    ]
    seen: set[str] = set()
    at = heads[0] if heads else None
    while at is not None and at.branch not in seen:
        seen.add(at.branch)
        yield at.branch, at
        noted, begun = known.beginnings.get(at.branch), begins.get(at.branch)
        if begun is not None and begun.branch is not None and begun.turn is not None:
            at = _Place(begun.branch, begun.turn, begun.sequence)
        elif noted is not None and noted.parent is not None and at.branch not in begins:
            at = _Place(noted.parent, noted.parent_turn, None)  # all of a branch is gone that others began on
        else:
            at = None


def _left(rows: Sequence[Listed], last: _Place | None) -> int:
    """How many of them, the newest first, come after the last that the session goes on from."""
    if last is None:
        return len(rows)
    for at, each in enumerate(rows):
        if each.turn <= last.turn if last.sequence is None else each.sequence <= last.sequence:
            return at
    return len(rows)


def _begin_words(begins: Beginning) -> str:
    turn = f" turn {begins.turn}" if begins.turn is not None else ""
    if begins.session_id is not None:
        return f"forked from {safe(begins.session_id)}{turn}"
    return f"from {begins.branch or 'a checkpoint'}{turn}"
