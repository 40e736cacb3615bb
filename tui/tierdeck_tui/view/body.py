"""A memory's whole text as screen lines: masked, safe, wrapped. Pure, and meant for a worker thread.

Textual's own widgets lay a text out on the event loop: 64 kB in a Static took 0.12 s, 10 MB in a TextArea 1.9 s.
Here a text of any size is worked on in parts, so that other threads get their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tierdeck.errors import StoppedError
from tierdeck.secret_scan import find_secrets
from tierdeck_tui.view.line import Piece
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap

_TAB = "    "
_PART_CHARS = 24_000
# The longest secret that is looked for across the border of two parts: a private key of 8,192 bits has 6,400.
_OVERLAP_CHARS = 8_000

Span = tuple[int, int]


def body_lines(
    text: str,
    cells: int,
    *,
    matches: Sequence[Span] = (),
    reveal: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Lines:
    """The text wrapped to `cells`; secrets are masked unless `reveal`, `matches` (offsets in `text`) set off.

    Raises:
        StoppedError: `should_stop` said so, which is asked for every 24,000 characters.
    """
    marks: list[tuple[int, int, str]] = [(start, end, "") for start, end in matches]
    if not reveal:
        marks += [(start, end, f"[hidden: {kind}]") for start, end, kind in _secrets(text, should_stop)]
    lines = Lines()
    current: list[Piece] = []
    for piece in _marked(text, sorted(marks, key=lambda mark: (mark[0], not mark[2]))):
        first, *rest = piece.text.split("\n")
        current.append(Piece(first, piece.role))
        for row in rest:
            lines.extend(wrap(tuple(current), cells))
            current = [Piece(row, piece.role)]
        if should_stop():
            raise StoppedError("lay out a text: stopped")
    lines.extend(wrap(tuple(current), cells))
    return lines


def _secrets(text: str, should_stop: Callable[[], bool]) -> Iterator[tuple[int, int, str]]:
    reached = 0
    for start in range(0, max(1, len(text)), _PART_CHARS):
        begin = max(0, start - _OVERLAP_CHARS)
        part = text[begin : start + _PART_CHARS + _OVERLAP_CHARS]
        for s, e, kind in find_secrets(part):
            if begin + e > reached:
                yield max(reached, begin + s), begin + e, kind
                reached = begin + e
        if should_stop():
            raise StoppedError("lay out a text: stopped")


def _marked(text: str, marks: Sequence[tuple[int, int, str]]) -> Iterator[Piece]:
    at = 0
    for start, end, instead in marks:
        if end <= at or (start < at and not instead):
            continue
        yield from _plain(text, at, start)
        yield Piece(instead, "muted") if instead else Piece(_safe(text[start:end]), "match")
        at = end
    yield from _plain(text, at, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[Piece]:
    for at in range(start, end, _PART_CHARS):
        yield Piece(_safe(text[at : min(end, at + _PART_CHARS)]))


def _safe(text: str) -> str:
    # Line by line as rows are, so that nothing in a pane has a width that terminals disagree on.
    lines = text.replace("\r\n", "\n").replace("\t", _TAB).split("\n")
    return "\n".join(visible(line, one_line=True) for line in lines)
