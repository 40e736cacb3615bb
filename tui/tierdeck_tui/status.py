"""What the header says on every screen, and how it is cut to the terminal's width. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len

from tierdeck_tui.view.sanitise import cut, visible

STORE_NAME_CELLS = 28
GAP_CELLS = 2

Role = Literal["name", "memories", "access", "degraded", "progress"]


@dataclass(frozen=True, slots=True)
class StatusPart:
    """One piece of the header's line and what it is about, so that it can be coloured."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ModeTitle:
    """A mode as the header shows it: its digit and title; `name` is the app's word for it.

    `brief` stands for the title in a narrow terminal, where it is not empty.
    """

    name: str
    digit: str
    title: str
    brief: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class FrameStatus:
    """The facts of the header.

    `memories` None: not counted yet. `degraded` reads `what: why`. `progress` is what goes on in the background.
    `badges` count, by mode, what waits for a person.
    """

    store_name: str
    access: str
    memories: int | None = None
    degraded: str = ""
    progress: str = ""
    badges: Mapping[str, int] = field(default_factory=dict)
    modes: tuple[ModeTitle, ...] = ()

    def parts(self, cells: int) -> list[StatusPart]:
        """The pieces that fit into `cells`, two cells between them; the least important are left out first.

        What may be done with the store stays longest; before it the store's name, what is degraded, the number of
        memories, and what is going on.
        """
        name = StatusPart("name", cut(visible(self.store_name, one_line=True), STORE_NAME_CELLS))
        access = StatusPart("access", self.access)
        degraded = StatusPart("degraded", self.degraded)
        what = StatusPart("degraded", self.degraded.partition(":")[0])
        progress = StatusPart("progress", self.progress)
        long, short = self._memories()
        for pieces in (
            (name, long, access, degraded, progress),
            (name, long, access, degraded),
            (name, short, access, degraded),
            (name, short, access, what),
            (name, access, what),
        ):
            found = [piece for piece in pieces if piece.text]
            if line_cells(found) <= cells:
                return found
        rest = [piece for piece in (access, what) if piece.text]
        room = cells - line_cells(rest) - GAP_CELLS
        if room > 1:
            return [StatusPart("name", cut(name.text, room)), *rest]
        return [StatusPart("access", cut(self.access, cells))]

    def _memories(self) -> tuple[StatusPart, StatusPart]:
        if self.memories is None:
            return StatusPart("memories", ""), StatusPart("memories", "")
        noun = "memory" if self.memories == 1 else "memories"
        return StatusPart("memories", f"{self.memories:,} {noun}"), StatusPart("memories", f"{self.memories:,}")


def line_cells(parts: list[StatusPart]) -> int:
    """The width of the pieces in one line, with the gaps between them."""
    return sum(cell_len(part.text) for part in parts) + GAP_CELLS * max(len(parts) - 1, 0)
