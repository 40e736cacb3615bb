"""A line of the screen before it has colours: pieces of text, each with the part it plays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from tierdeck_tui.view.sanitise import cut

ROW_LINES = 2  # of a row in any list
Role = Literal[
    "plain",
    "muted",
    "strong",
    "match",
    "score",
    "keyword",
    "semantic",
    "tier",
    "type",
    "warning",
    "error",
    "mark",
    "good",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some safe text and what it is; the theme decides how that looks."""

    text: str
    role: Role = "plain"


Line = tuple[Piece, ...]


def line(*parts: Piece | str) -> Line:
    """A line of pieces; bare strings are plain."""
    return tuple(Piece(part) if isinstance(part, str) else part for part in parts)


def text_of(pieces: Iterable[Piece]) -> str:
    """What the line says."""
    return "".join(piece.text for piece in pieces)


def fit(pieces: Iterable[Piece], cells: int) -> Line:
    """The line cut (with `…`) or filled with spaces to exactly `cells` terminal cells."""
    kept: list[Piece] = []
    left = cells
    rest = [piece for piece in pieces if piece.text]
    for at, piece in enumerate(rest):
        width = cell_len(piece.text)
        if width > left or (width == left and at + 1 < len(rest)):
            # Something is left out here, so the last cell that is left is the ellipsis's.
            short = cut(piece.text + ("" if width > left else " "), left)
            kept.append(Piece(short, piece.role))
            left -= cell_len(short)
            break
        kept.append(piece)
        left -= width
    if left > 0:
        kept.append(Piece(" " * left))
    return tuple(kept)
