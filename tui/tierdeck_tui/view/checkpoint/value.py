"""A value out of a checkpoint, as rows: each thing in it on a line of its own, down to a depth and a number. Pure.

A value of a foreign file may hold itself, or one list in a thousand places: what was shown once is named by its
path when it comes again. Only types of the format's closed list come here, so nothing of anybody's class is called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tierdeck.checkpoint import Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.values.preview import preview
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import Line, Piece, fit
from tierdeck_tui.view.sanitise import visible

MAX_ROWS = 1_000
_MAX_DEPTH = 20  # rows further in would have half of a screen of 80 cells left
_MAX_PATH_CHARS = 80
_INDENT = "  "
# Where the closed list's types without parts are from; their repr is the interpreter's or numpy's own.
_PRINTABLE = frozenset(
    {"builtins", "datetime", "decimal", "fractions", "numpy", "pathlib", "re", "uuid", "zoneinfo"}
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A value that holds others: how many, and each with its place in it (`[3]`, `['key']`, `.field`)."""

    size: int
    children: Iterator[tuple[str, object]]


@dataclass(frozen=True, slots=True)
class _Level:
    children: Iterator[tuple[str, object]]
    path: str


def opened(value: object) -> Opened | None:
    """What stands in the value; None for one that is whole in itself."""
    if isinstance(value, Record):
        return Opened(len(value.fields), ((f".{name}", each) for name, each in value.fields.items()))
    if isinstance(value, Placeholder):
        return Opened(len(value.operands), _numbered(value.operands))
    if isinstance(value, Mapping):
        return Opened(len(value), ((f"[{preview(key)}]", each) for key, each in value.items()))
    if isinstance(value, AbstractSet):
        return Opened(len(value), (("·", each) for each in value))
    if isinstance(value, list | tuple | deque):
        return Opened(len(value), _numbered(value))
    return None


def value_lines(value: object, cells: int = 80, *, limit_rows: int = MAX_ROWS, reveal: bool = False) -> list[Line]:
    """The value in rows, each exactly `cells` wide; what stands in it is indented below it, in its own order.

    Args:
        limit_rows: at most so many, and one that says there is more.
        reveal: show what looks like a secret.
    """
    rows = [_row("", value, 0, cells, reveal=reveal)]
    first: dict[int, str] = {}
    levels = _open(value, "", first)
    while levels:
        child = next(levels[-1].children, None)
        if child is None:
            levels.pop()
            continue
        if len(rows) >= limit_rows:
            more = f"… and more: only the first {counted(limit_rows, 'row')} are shown"
            return [*rows, fit([Piece(more, "muted")], cells)]
        name, each = child
        depth, path = len(levels), levels[-1].path + name
        if id(each) in first:
            rows.append(_again_row(name, first[id(each)], depth, cells))
            continue
        rows.append(_row(name, each, depth, cells, reveal=reveal))
        if depth < _MAX_DEPTH:
            levels += _open(each, path, first)
    return rows


def kind_words(value: object) -> str:
    """What it is in a word or two; of what did not come back as itself, that too."""
    if isinstance(value, Record):
        return f"{value.type_name} (its fields only)"
    if isinstance(value, Inert):
        return f"{value.kind} {value.name} (a note; nothing is imported)"
    if isinstance(value, Placeholder):
        return f"unknown, tag {value.tag}: {value.why}"
    if isinstance(value, Unsaved):
        return f"{value.type_name}, not saved: {value.reason}"
    return type(value).__name__


def value_words(value: object) -> str:
    """What a row says of a value: its preview; of a type that has none its text, or how much is in it."""
    told = preview(value)
    if not told.startswith("<"):
        return told
    inner = opened(value)
    if inner is not None:
        return f"{type(value).__name__} of {inner.size:,}"
    return leaf_text(value)


def leaf_text(value: object) -> str:
    """The text of a number, moment, path or pattern of the closed list; of any other type only its name."""
    if type(value).__module__.partition(".")[0] not in _PRINTABLE:
        return preview(value)
    try:
        return repr(value)
    except ValueError:  # it holds an int of more digits than Python prints
        return f"{type(value).__name__}, too long to print"
    except SystemError:  # what numpy raises for text of its own that is no Unicode
        return f"{type(value).__name__} of text that is no Unicode"


def whole_text(value: object) -> str | None:
    """The text that the value is: a str, or the source that a note of a function kept. None for anything else."""
    return value.source if isinstance(value, Inert) else value if isinstance(value, str) else None


def _open(value: object, path: str, first: dict[int, str]) -> list[_Level]:
    inner = opened(value)
    if inner is None or not inner.size:
        return []
    first[id(value)] = path
    return [_Level(inner.children, path)]


def _numbered(items: Iterable[object]) -> Iterator[tuple[str, object]]:
    return ((f"[{number}]", each) for number, each in enumerate(items))


def _row(name: str, value: object, depth: int, cells: int, *, reveal: bool) -> Line:
    head = [Piece(_INDENT * depth), Piece(f"{_shown(name, reveal)}  " if name else "", "strong")]
    inner = opened(value) if depth >= _MAX_DEPTH else None
    if inner is not None and inner.size:
        return fit([*head, Piece("… nested deeper than is shown", "muted")], cells)
    if isinstance(value, Record | Inert | Placeholder | Unsaved):
        return fit([*head, Piece(_shown(kind_words(value), reveal), "warning")], cells)
    return fit([*head, Piece(_shown(value_words(value), reveal))], cells)


def _again_row(name: str, path: str, depth: int, cells: int) -> Line:
    shown = path if len(path) <= _MAX_PATH_CHARS else f"…{path[-_MAX_PATH_CHARS:]}"
    same = f"the same object as {_shown(shown, False)}" if path else "the whole value again"
    return fit([Piece(_INDENT * depth), Piece(f"{_shown(name, False)}  ", "strong"), Piece(same, "muted")], cells)


def _shown(text: str, reveal: bool) -> str:
    return visible(text if reveal else mask_secrets(text), one_line=True)
