"""Breaking text into screen lines by cell width. Pure; linear in the text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tierdeck_tui.view.line import Line, Piece, text_of
from tierdeck_tui.view.sanitise import clusters


def wrap(pieces: Line, cells: int) -> list[Line]:
    """The line broken at blanks, and inside a word only where it alone is wider than `cells`.

    Gives at least one line, none wider than `cells` (unless a single cluster is); blanks that would stick out at
    the end of a line are left out.
    """
    points = break_points(text_of(pieces), max(1, cells))
    lines = _split(pieces, points) if points else [pieces]
    return [one if cell_len(text_of(one)) <= cells else _without_end_blanks(one) for one in lines]


def break_points(text: str, cells: int) -> list[int]:
    """The offsets at which a new screen line begins, in order; empty when the text fits into one."""
    if len(text) <= cells and text.isascii():
        return []
    # The usual text has one cell for each character, and is broken without looking at them one by one.
    is_narrow = all(cell_len(char) == 1 for char in set(text))
    return _narrow_breaks(text, cells) if is_narrow else _wide_breaks(text, cells)


def _narrow_breaks(text: str, cells: int) -> list[int]:
    points, start = [], 0
    while len(text) - start > cells:
        blank = text.rfind(" ", start, start + cells + 1)
        start = blank + 1 if blank >= start else start + cells
        points.append(start)
    return points if not points or points[-1] < len(text) else points[:-1]


def _wide_breaks(text: str, cells: int) -> list[int]:
    points: list[int] = []
    start = at = used = after_blank = used_after_blank = 0
    for cluster, width in clusters(text):
        while used + width > cells and at > start and cluster != " ":
            if after_blank > start:
                start, used = after_blank, used - used_after_blank
            else:
                start, used = at, 0
            points.append(start)
            used_after_blank = 0
        at += len(cluster)
        used += width
        if cluster == " ":
            after_blank, used_after_blank = at, used
    return points


def _split(pieces: Line, points: Sequence[int]) -> list[Line]:
    lines: list[list[Piece]] = [[]]
    at, waiting = 0, list(points)
    for piece in pieces:
        text = piece.text
        while waiting and waiting[0] <= at + len(text):
            size = waiting.pop(0) - at
            lines[-1].append(Piece(text[:size], piece.role))
            lines.append([])
            text, at = text[size:], at + size
        if text:
            lines[-1].append(Piece(text, piece.role))
            at += len(text)
    return [tuple(one) for one in lines]


def _without_end_blanks(pieces: Line) -> Line:
    kept = list(pieces)
    while kept and not kept[-1].text.rstrip(" "):
        kept.pop()
    if kept:
        kept[-1] = Piece(kept[-1].text.rstrip(" "), kept[-1].role)
    return tuple(kept)
