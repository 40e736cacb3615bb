"""The rows of the Checkpoints screen's tree: sessions, in opened ones branches, and their checkpoints. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from tierdeck.checkpoint.folder import Listed, SessionInfo
from tierdeck_tui.reading.checkpoint_sessions import SessionContents, Sessions
from tierdeck_tui.view.checkpoint.branch import Branch, Known, branch_line, branches, sign_of
from tierdeck_tui.view.checkpoint.row import checkpoint_line, session_info_line
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible

_OPEN, _CLOSED = "▾ ", "▸ "
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session; `contents` None while it is closed."""

    info: SessionInfo
    contents: SessionContents | None

    @property
    def key(self) -> str:
        """What tells it from the other rows."""
        return self.info.path.name


@dataclass(frozen=True, slots=True)
class BranchRow:
    """The heading of a branch; there is none in a session of one branch with nothing to say of it."""

    info: SessionInfo
    branch: Branch

    @property
    def key(self) -> str:
        """What tells it from the other rows."""
        return f"{self.info.path.name}//{self.branch.name}"


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint of an opened session; `is_left` where the session does not go on from it: see `_Part`."""

    info: SessionInfo
    listed: Listed
    is_left: bool

    @property
    def key(self) -> str:
        """What tells it from the other rows."""
        return _key(self.info.path.name, self.listed)


TreeRow = SessionRow | BranchRow | CheckpointRow


class TreeRows(Sequence[TreeRow]):
    """All rows: sessions in their order, in each the branches, in each the checkpoints, the newest first.

    A row is made when it is asked for: of ten thousand a screen shows forty, and each that is kept is one more
    thing for a full collection to walk while somebody types.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._parts = [part for info in sessions.infos for part in _parts_of(info, sessions)]
        self._starts = [0]
        for part in self._parts:
            self._starts.append(self._starts[-1] + len(part))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> TreeRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[TreeRow]: ...

    def __getitem__(self, index: int | slice) -> TreeRow | Sequence[TreeRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        at = bisect_right(self._starts, number) - 1
        return self._parts[at].row(number - self._starts[at])

    def keys(self) -> Iterator[str]:
        """The rows' keys, from the top."""
        return (key for part in self._parts for key in part.row_keys())

    def checkpoint_keys(self) -> Iterator[str]:
        """The keys of the rows that are checkpoints."""
        return (key for part in self._parts for key in part.row_keys()[len(part.heads) :])


def row_line(row: TreeRow, now_ms: int, cells: int) -> Line:
    """One row, exactly `cells` wide."""
    if isinstance(row, SessionRow):
        sign = Piece(_CLOSED if row.contents is None else _OPEN, "mark")
        return (sign, *session_info_line(row.info, now_ms, cells - 2))
    if isinstance(row, BranchRow):
        return (Piece(_INDENT), *branch_line(row.branch, cells - 2))
    return (sign_of(is_left=row.is_left), *checkpoint_line(row.listed, now_ms, cells - 1))


def nothing_there(sessions: Sessions, cells: int) -> list[Line]:
    """Why there is no row, and what to do."""
    root = Piece(_tail(str(sessions.root), cells), "strong")
    if sessions.is_there:
        said = [line("No session has a checkpoint in"), line(root)]
    else:
        said = [line("There is no checkpoint folder yet:"), line(root)]
    return [
        line(""),
        *said,
        line(""),
        line(Piece("An agent makes checkpoints when its session is opened with them: see", "muted")),
        line(Piece("`tierdeck.open_session(…, checkpoints=…)` in the README.", "muted")),
        line(Piece("Another folder: `tierdeck --checkpoints DIR`, RLM_CHECKPOINT_DIR, or", "muted")),
        line(Piece("[checkpoints] folder in the settings.", "muted")),
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """A session's heading, a branch's, or none of both; and the checkpoints below it.

    The session does not go on from the first `left` of these.
    """

    info: SessionInfo
    heads: tuple[SessionRow | BranchRow, ...]
    listed: tuple[Listed, ...] = ()
    left: int = 0

    def __len__(self) -> int:
        return len(self.heads) + len(self.listed)

    def row(self, number: int) -> TreeRow:
        if number < len(self.heads):
            return self.heads[number]
        at = number - len(self.heads)
        return CheckpointRow(self.info, self.listed[at], at < self.left)

    def row_keys(self) -> list[str]:
        folder = self.info.path.name
        return [*(head.key for head in self.heads), *(_key(folder, each) for each in self.listed)]


def _parts_of(info: SessionInfo, sessions: Sessions) -> Iterator[_Part]:
    contents = sessions.contents.get(info.path.name)
    yield _Part(info, (SessionRow(info, contents),))
    if contents is None:
        return
    found = branches(contents.listed, Known(contents.beginnings, contents.trash))
    for branch in found:
        heads = (BranchRow(info, branch),) if len(found) > 1 or branch.is_told else ()
        yield _Part(info, heads, branch.rows, branch.left)


def _key(folder: str, listed: Listed) -> str:
    return f"{folder}/{listed.file}"


def _tail(text: str, cells: int) -> str:
    shown = visible(text, one_line=True)
    return shown if len(shown) <= cells else "…" + shown[-(cells - 1) :]
