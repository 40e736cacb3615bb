"""Where a text holds a piece of a query. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tierdeck.terms.pieces import NAME, Piece, is_part_boundary
from tierdeck.terms.scripts import changes_script, is_glued, is_run_edge
from tierdeck.terms.words import is_letter


def holds(piece: Piece, text: str) -> bool:
    """Whether the text holds the piece where one may begin and end."""
    return next(spans(piece, text), None) is not None


def spans(piece: Piece, text: str) -> Iterator[tuple[int, int]]:
    """Where the text holds the piece, as (start, end) in characters."""
    if piece.kind == "pair":
        at = text.find(piece.text)
        while at >= 0:
            yield at, at + len(piece.text)
            at = text.find(piece.text, at + 1)
        return
    if piece.kind == "name":
        for start, end in glued_names(text):
            if text[start:end].lower().startswith(piece.text.lower()):
                yield start, start + len(piece.text)
        return
    for match in re.finditer(re.escape(piece.text), text, re.IGNORECASE):
        start, end = match.span()
        if _may_stand(piece, text, start, end):
            yield start, end


def glued_names(text: str) -> Iterator[tuple[int, int]]:
    """Where names of several words stand that are glued to another script, as (start, end) in characters."""
    if not text.isascii():
        yield from (m.span() for m in NAME.finditer(text) if is_glued(text, *m.span()))


def _may_stand(piece: Piece, text: str, start: int, end: int) -> bool:
    if piece.kind == "sign":
        # `-flow` is no part of `cross-flow`, but `.NET` is of `ASP.NET`.
        first = piece.text[1:2] if piece.text[0] == "-" else piece.text[0]
        return not (
            (start and _is_one_word(text[start - 1], first))
            or (end < len(text) and _is_one_word(piece.text[-1], text[end]))
        )
    if piece.is_short:
        return is_run_edge(text, start) and is_run_edge(text, end) and is_glued(text, start, end)
    return is_part_boundary(text, start) and (piece.is_prefix or is_part_boundary(text, end))


def _is_one_word(before: str, after: str) -> bool:
    return bool(after) and is_letter(before) and is_letter(after) and not changes_script(before, after)
