"""Where a text holds a piece of a query. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from tierdeck.terms.hashes import MAX_HASH_CHARS, hash_begins, is_hash, is_of_crumbs
from tierdeck.terms.normal_form import normal_form, normal_places
from tierdeck.terms.pieces import NAME, Piece, camel_parts, is_part_boundary
from tierdeck.terms.readings import readings
from tierdeck.terms.scripts import changes_script, is_glued, is_run_edge
from tierdeck.terms.words import is_letter

# On each side; in Base64 one place of 120 is taken for a name so.
_NEAR_CHARS = 32


def holds(piece: Piece, text: str) -> bool:
    """Whether the text holds the piece where one may begin and end."""
    return any(
        next(_spans_as_written(piece, reading, is_normal=form_of is not None), None) is not None
        for reading, form_of in readings(text)
    )


def spans(piece: Piece, text: str) -> Iterator[tuple[int, int]]:
    """Where the text holds the piece, as (start, end) in characters; some places may come twice."""
    for reading, form_of in readings(text):
        found = _spans_as_written(piece, reading, is_normal=form_of is not None)
        if form_of is None:
            yield from found
        else:
            place = normal_places(form_of)
            yield from (place(*span) for span in found)


def _spans_as_written(piece: Piece, text: str, *, is_normal: bool) -> Iterator[tuple[int, int]]:
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
        if _may_stand(piece, text, start, end, is_normal=is_normal):
            yield start, end


def stands_alone(word: str, text: str) -> bool:
    """Whether a reader sees the word there, though another script or an escape sequence is glued to it.

    Also where it stands by itself, in any form; not as a part of a longer name (`Go` in `letItGo`).

    Args:
        word: of one script, in normal form.
    """
    if word.lower() not in normal_form(text).lower():
        return False
    return any(
        is_run_edge(reading, match.start()) and is_run_edge(reading, match.end())
        for reading, _ in readings(text)
        for match in re.finditer(re.escape(word), reading, re.IGNORECASE)
    )


def glued_names(text: str) -> Iterator[tuple[int, int]]:
    """Where names of several words stand that are glued to another script, as (start, end) in characters."""
    if not text.isascii():
        yield from (m.span() for m in NAME.finditer(text) if is_glued(text, *m.span()))


def _may_stand(piece: Piece, text: str, start: int, end: int, *, is_normal: bool) -> bool:
    if piece.kind in ("sign", "whole"):
        # `-flow` is no part of `cross-flow`, but `.NET` is of `ASP.NET`.
        letter = piece.text[1:2] if piece.text[0] == "-" else piece.text[0]
        return not (
            (start and _is_one_word(text[start - 1], letter))
            or (end < len(text) and _is_one_word(piece.text[-1], text[end]))
        )
    if piece.is_short:
        is_run = is_run_edge(text, start) and is_run_edge(text, end)
        return is_run and (is_normal or is_glued(text, start, end))
    return _is_part(piece, text, start, end)


def _is_part(piece: Piece, text: str, start: int, end: int) -> bool:
    if not is_part_boundary(text, start) and text[start - 1] not in "gG":  # a hash may have a g before it
        return False
    is_part = is_part_boundary(text, start) and (piece.is_prefix or is_part_boundary(text, end))
    if not (is_part or piece.may_begin_hash):
        return False
    first, last = _run_around(text, start, end)
    if (first, last) == (start, end):
        return True
    if last - first > MAX_HASH_CHARS:  # of Base64 and what stands behind it only what is near tells
        first, last = max(first, start - _NEAR_CHARS), min(last, end + _NEAR_CHARS)
    word, parts = text[first:last], camel_parts(text[first:last])
    is_in_crumbs = is_of_crumbs(word, parts)
    if piece.may_begin_hash and (is_in_crumbs or is_hash(word)) and start - first in hash_begins(word):
        return True
    if not is_part or not is_in_crumbs:
        return is_part
    return not is_hash(word) and _is_one_part(parts, start - first, end - first, piece)


def _is_one_part(parts: Sequence[str], start: int, end: int, piece: Piece) -> bool:
    ends = list(accumulate(map(len, parts)))
    for first, last in pairwise([0, *ends]):
        if first == start:
            return end <= last if piece.is_prefix else end == last
    return False


def _run_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The letters of one script that stand there together, no further than a hash is long."""
    first, last = start, end
    while first and start - first <= MAX_HASH_CHARS and not is_run_edge(text, first):
        first -= 1
    while last < len(text) and last - end <= MAX_HASH_CHARS and not is_run_edge(text, last):
        last += 1
    return first, last


def _is_one_word(before: str, after: str) -> bool:
    return bool(after) and is_letter(before) and is_letter(after) and not changes_script(before, after)
