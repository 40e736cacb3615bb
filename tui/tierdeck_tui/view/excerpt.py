"""The second line of a row: as much of a memory's text as fits, from where the query matches it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tierdeck.model import NodeRow
from tierdeck.secret_scan import find_secrets
from tierdeck_tui.view.line import Line, Piece, fit
from tierdeck_tui.view.sanitise import ELLIPSIS, visible

# How far a row may start before its first match: a third of the row is what came before, two thirds what follows.
_LEAD_SHARE = 3

Span = tuple[int, int]


def excerpt_line(row: NodeRow, cells: int, *, matches: Sequence[Span] = (), reveal: bool = False) -> Line:
    """One safe line of exactly `cells` cells of the row's excerpt, with the matches set off.

    Args:
        matches: (start, end) offsets in the excerpt, in order; one inside a masked secret is not shown.
        reveal: show what looks like a secret; otherwise it is masked.
    """
    text = row.excerpt
    start = _first_shown(text, matches, cells)
    before, after = ELLIPSIS if start or row.excerpt_start else "", ELLIPSIS if row.goes_on else ""
    shown = masked_pieces(text, matches, start=start, reveal=reveal)
    return fit([Piece(before, "muted"), *shown, Piece(after, "muted")], cells)


def masked_pieces(
    text: str, matches: Sequence[Span] = (), *, start: int = 0, reveal: bool, one_line: bool = True
) -> Iterator[Piece]:
    """The text from `start` on in safe pieces: matches set off, secrets replaced by what they are.

    Secrets are looked for in the whole text: what names a password may stand before `start`.
    """
    secrets = [] if reveal else [(begin, end, f"[hidden: {kind}]") for begin, end, kind in find_secrets(text)]
    marks: list[tuple[int, int, str]] = [(begin, end, "") for begin, end in matches]
    at = start
    # A secret comes before a match that begins where it does, and swallows those inside it.
    for begin, end, instead in sorted([*secrets, *marks], key=lambda mark: (mark[0], not mark[2])):
        if end <= at or (begin < at and not instead):
            continue
        yield Piece(visible(text[at:begin], one_line=one_line))
        shown = instead or visible(text[begin:end], one_line=one_line)
        yield Piece(shown, "muted" if instead else "match")
        at = end
    yield Piece(visible(text[at:], one_line=one_line))


def _first_shown(text: str, matches: Sequence[Span], cells: int) -> int:
    """Where the line starts, so that its first match shows: 0, or the start of a word shortly before it."""
    if not matches or matches[0][1] <= cells - 2:
        return 0
    # No later than where the rest of the text still fills the row.
    start = max(0, min(matches[0][0] - cells // _LEAD_SHARE, len(text) - cells + 2))
    blank = text.find(" ", start, matches[0][0])
    return blank + 1 if blank >= 0 else start
