"""Many lines, kept small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from tierdeck_tui.view.line import Line, Piece, Role


class Lines(Sequence[Line]):
    """Lines of a text, of which most are plain: those are kept as strings and become lines when asked for.

    A line of pieces is objects that Python's garbage collector walks through: 35,000 of them held the event loop up
    for 40 ms at each full collection.
    """

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._kept: list[Line | str] = []
        self.extend(lines)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Lines: ...
    def __getitem__(self, at: int | slice) -> Line | Lines:
        if isinstance(at, slice):
            return Lines(self[n] for n in range(*at.indices(len(self))))
        kept = self._kept[at]
        return (Piece(kept),) if isinstance(kept, str) else kept

    def with_role(self, role: Role) -> tuple[int, ...]:
        """The numbers of the lines that hold a piece of that role, other than "plain"."""
        return tuple(
            at
            for at, kept in enumerate(self._kept)
            if not isinstance(kept, str) and any(piece.role == role for piece in kept)
        )

    def extend(self, lines: Iterable[Line]) -> None:
        """Put lines at the end."""
        self._kept += [line[0].text if len(line) == 1 and line[0].role == "plain" else line for line in lines]
