"""The rows of the Checkpoints screen's tree: sessions, in opened ones branches, and their checkpoints. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.checkpoint.folder import Listed, SessionInfo
from tierdeck_tui.reading.checkpoint_sessions import SessionContents, Sessions
from tierdeck_tui.view.checkpoint.row import Branch, branch_line, branches, checkpoint_line, session_info_line
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
    """The heading of a branch; there are none in a session of one branch."""

    info: SessionInfo
    branch: Branch
    has_head_elsewhere: bool

    @property
    def key(self) -> str:
        """What tells it from the other rows."""
        return f"{self.info.path.name}//{self.branch.name}"


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint of an opened session; `is_left` on a branch that the session does not go on from."""

    info: SessionInfo
    listed: Listed
    is_left: bool

    @property
    def key(self) -> str:
        """What tells it from the other rows."""
        return f"{self.info.path.name}/{self.listed.file}"


TreeRow = SessionRow | BranchRow | CheckpointRow


def tree_rows(sessions: Sessions) -> list[TreeRow]:
    """All rows, sessions in their order, in each the branches, in each the checkpoints, the newest first."""
    rows: list[TreeRow] = []
    for info in sessions.infos:
        contents = sessions.contents.get(info.path.name)
        rows.append(SessionRow(info, contents))
        if contents is not None:
            rows += _inside(info, contents)
    return rows


def row_line(row: TreeRow, now_ms: int, cells: int) -> Line:
    """One row, exactly `cells` wide."""
    if isinstance(row, SessionRow):
        sign = Piece(_CLOSED if row.contents is None else _OPEN, "mark")
        return (sign, *session_info_line(row.info, now_ms, cells - 2))
    if isinstance(row, BranchRow):
        name = branch_line(row.branch, cells - 2, has_head_elsewhere=row.has_head_elsewhere)
        return (Piece(_INDENT), *name)
    sign = Piece("╎" if row.is_left else "│", "muted")
    return (sign, *checkpoint_line(row.listed, now_ms, cells - 1))


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
        line(Piece("Another folder: RLM_CHECKPOINT_DIR, or [checkpoints] folder in the settings.", "muted")),
    ]


def _inside(info: SessionInfo, contents: SessionContents) -> list[TreeRow]:
    found = branches(contents.listed)
    has_head = any(branch.has_head for branch in found)
    rows: list[TreeRow] = []
    for branch in found:
        is_left = has_head and not branch.has_head
        if len(found) > 1:
            rows.append(BranchRow(info, branch, has_head))
        rows += [CheckpointRow(info, listed, is_left) for listed in branch.rows]
    return rows


def _tail(text: str, cells: int) -> str:
    shown = visible(text, one_line=True)
    return shown if len(shown) <= cells else "…" + shown[-(cells - 1) :]
