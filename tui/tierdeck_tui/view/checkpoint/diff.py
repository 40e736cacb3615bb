"""What changed between two checkpoints, a variable a row, as their tables tell it; and how one value did. Pure.

Nothing was decoded for the rows: equal digests are equal values.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from tierdeck.checkpoint import UnitEntry
from tierdeck.checkpoint.file.table import PART
from tierdeck.checkpoint.folder.diff import Change, Diff
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.checkpoint.value import value_lines, whole_text
from tierdeck_tui.view.format import count, counted, size
from tierdeck_tui.view.line import Line, Piece, Role, fit, line, text_of
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import pad, visible

MAX_VALUE_ROWS = 2_000  # of each side; comparing takes the product of both at worst
_NAME_CELLS = 20
_SIGNS: dict[str, Role] = {"+": "good", "-": "error", "~": "warning"}


def diff_lines(found: Diff, cells: int = 80, *, limit_rows: int | None = None) -> list[Line]:
    """What is new (`+`), gone (`-`) and changed (`~`), each exactly `cells` wide, then how many variables are not.

    Args:
        limit_rows: at most so many rows; what is left out is counted.
    """
    rows = [fit(row, cells) for row in _rows(found)]
    shown = rows if limit_rows is None else rows[:limit_rows]
    if len(shown) < len(rows):
        shown.append(fit([Piece(f"  and {count(len(rows) - len(shown))} more", "muted")], cells))
    same = sum(unit.kind != PART for unit in found.same)
    return [*shown, fit([Piece(f"  {counted(same, 'variable')} the same", "muted")], cells)]


def value_diff_lines(before: object, after: object, *, reveal: bool = False) -> list[Line]:
    """The rows of one value that the other lacks, with a little of what is around them; empty when they read alike.

    Of each value no more than 2,000 rows are compared.
    """
    rows = difflib.unified_diff(
        _value_rows(before, reveal), _value_rows(after, reveal), "before", "after", "", "", 2, ""
    )
    return [line(Piece(row, _SIGNS.get(row[:1], "muted" if row.startswith("@@") else "plain"))) for row in rows]


def _rows(found: Diff) -> Iterator[list[Piece]]:
    for unit in found.added:
        yield [*_head("+", unit), Piece(f"{size(unit.raw_bytes):>9}  ", "muted"), Piece(safe(unit.preview))]
    for unit in found.removed:
        yield [*_head("-", unit), Piece(f"{size(unit.raw_bytes):>9}  ", "muted"), Piece(safe(unit.preview))]
    for change in found.changed:
        yield [*_head("~", change.after), *_change_pieces(change)]


def _head(sign: str, unit: UnitEntry) -> list[Piece]:
    name = pad(safe(unit.name), _NAME_CELLS)
    if unit.kind == PART:
        return [Piece(f"{sign} ", _SIGNS[sign]), Piece(f"{name} ", "muted")]
    return [Piece(f"{sign} ", _SIGNS[sign]), Piece(f"{name} ", "strong")]


def _change_pieces(change: Change) -> list[Piece]:
    before, after = change.before, change.after
    if before.kind == PART:
        return [Piece(f"{size(before.raw_bytes)} → {size(after.raw_bytes)}", "muted")]
    types = safe(after.type_name)
    if before.type_name != after.type_name:
        types = f"{safe(before.type_name)} → {types}"
    sizes = f"{size(before.raw_bytes)} → {size(after.raw_bytes)}"
    if before.preview != after.preview:
        return [Piece(f"{types}  ", "type"), Piece(f"{safe(before.preview)} → {safe(after.preview)}")]
    return [Piece(f"{types}  ", "type"), Piece(f"{sizes}  ", "muted"), Piece(safe(after.preview))]


def _value_rows(value: object, reveal: bool) -> Sequence[str]:
    text = whole_text(value)
    if text is not None:
        shown = text if reveal else mask_secrets(text)
        return [visible(row, one_line=True) for row in shown.splitlines()[:MAX_VALUE_ROWS]]
    return [text_of(row).rstrip() for row in value_lines(value, 200, limit_rows=MAX_VALUE_ROWS, reveal=reveal)]
