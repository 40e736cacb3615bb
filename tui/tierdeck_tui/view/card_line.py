"""A line of an Overview card, before it has a place on the screen. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from tierdeck_tui.view.sanitise import cut, pad, visible
from tierdeck_tui.view.wrap import break_points

State = Literal["plain", "good", "warn", "bad", "muted"]
BAR = "█"
GAP = " "
MAX_ROWS = 3


@dataclass(frozen=True, slots=True)
class CardLine:
    """A label, a value, and a share from 0 to 1 that is drawn as a bar.

    `query` is what the Search screen opens with, `tab` a tab of the Promotions screen, with `rule` only that rule's
    memories; None, both, when the line leads nowhere, or with `opens_checkpoints` to the Checkpoints screen. Label
    and value may hold anybody's text: laying out makes it safe.
    """

    label: str
    value: str = ""
    share: float | None = None
    state: State = "plain"
    query: str | None = None
    tab: str | None = None
    rule: str | None = None
    opens_checkpoints: bool = False

    @property
    def leads_on(self) -> bool:
        """Whether choosing it opens something."""
        return self.query is not None or self.tab is not None or self.opens_checkpoints


@dataclass(frozen=True, slots=True)
class LaidOut:
    """One row of the card: label and value cut or filled to their columns, the bar, and the line it belongs to."""

    label: str
    value: str
    bar: str
    index: int


def lay_out(lines: Sequence[CardLine], cells: int) -> list[LaidOut]:
    """The lines as rows within `cells`: labels, then values (right-aligned before bars), then bars.

    A value too long for its column goes on below, for `MAX_ROWS` rows at most; a line without a value has the whole
    width for its label.
    """
    pairs = [line for line in lines if line.value or line.share is not None]
    label_cells = min(max((_cells(line.label) for line in pairs), default=0), max(cells // 2, 10))
    number_cells = max((_cells(line.value) for line in lines if line.share is not None), default=0)
    rows: list[LaidOut] = []
    for index, line in enumerate(lines):
        rows += _rows(line, index, cells, label_cells, number_cells)
    return rows


def bar(share: float, cells: int) -> str:
    """A bar of at most `cells`; what is there at all has at least one."""
    filled = min(cells, round(share * cells))
    return BAR * (max(filled, 1) if share > 0 and cells > 0 else filled)


def _rows(line: CardLine, index: int, cells: int, label_cells: int, number_cells: int) -> list[LaidOut]:
    label, value = visible(line.label, one_line=True), visible(line.value, one_line=True)
    if not value and line.share is None:
        return [LaidOut(row, "", "", index) for row in _broken(label, cells)]
    room = max(cells - label_cells - len(GAP), 1)
    if line.share is None:
        first, *more = _broken(value, room)
        head = LaidOut(pad(label, label_cells), first, "", index)
        return [head, *(LaidOut(" " * label_cells, row, "", index) for row in more)]
    shown = cut(value, room)
    number = " " * (min(number_cells, room) - cell_len(shown)) + shown
    return [LaidOut(pad(label, label_cells), number, bar(line.share, room - cell_len(number) - len(GAP)), index)]


def _broken(text: str, cells: int) -> list[str]:
    ends = [*break_points(text, cells), len(text)]
    starts = [0, *ends[:-1]]
    rows = [text[start:end].rstrip() for start, end in zip(starts, ends, strict=True)]
    if len(rows) <= MAX_ROWS:
        return rows
    return [*rows[: MAX_ROWS - 1], cut(text[starts[MAX_ROWS - 1] :], cells)]


def _cells(text: str) -> int:
    return cell_len(visible(text, one_line=True))
