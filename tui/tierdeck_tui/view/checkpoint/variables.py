"""The variables of a checkpoint and what of them is missing, as the table and the list of losses have it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tierdeck.checkpoint import Loss, UnitEntry
from tierdeck_tui.view.format import count, size
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import cut, pad
from tierdeck_tui.view.wrap import wrap

_NAME_CELLS, _TYPE_CELLS, _SIZE_CELLS = 20, 20, 9
# Below so many cells names and types are cut shorter, and the preview gets the room.
_WIDE_CELLS, _SHORT_NAME_CELLS, _SHORT_TYPE_CELLS = 72, 12, 8
_KINDS = {"lost": "LOST", "inert": "as text", "record": "as fields"}


def variable_line(unit: UnitEntry, cells: int = 80, *, changed: Collection[str] = ()) -> Line:
    """One variable, exactly `cells` wide: name, type, size before compression, preview. Nothing was decoded.

    Args:
        changed: names of which something is not as it was, by the list of losses.
    """
    mark = Piece("! " if unit.name in changed else "  ", "warning")
    is_wide = cells >= _WIDE_CELLS
    pieces = [
        mark,
        Piece(f"{pad(safe(unit.name), _NAME_CELLS if is_wide else _SHORT_NAME_CELLS)} ", "strong"),
        Piece(f"{pad(safe(unit.type_name), _TYPE_CELLS if is_wide else _SHORT_TYPE_CELLS)} ", "type"),
        Piece(f"{size(unit.raw_bytes):>{_SIZE_CELLS}}  ", "muted"),
        Piece(safe(unit.preview)),
    ]
    return fit(pieces, cells)


def variables_lines(units: Sequence[UnitEntry], losses: Sequence[Loss], cells: int = 80) -> list[Line]:
    """All variables in the session's order, then those that are lost; `!` before what is not as it was."""
    kept = {unit.name for unit in units}
    changed = {loss.variable for loss in losses}
    lines = [variable_line(unit, cells, changed=changed) for unit in units]
    for name in dict.fromkeys(loss.variable for loss in losses if loss.kind == "lost"):
        if name not in kept:
            why = next(loss for loss in losses if loss.variable == name)
            name_cells = _NAME_CELLS if cells >= _WIDE_CELLS else _SHORT_NAME_CELLS
            lines.append(fit([Piece(f"! {pad(safe(name), name_cells)} ", "strong"), *_loss_pieces(why)], cells))
    return lines


def loss_lines(losses: Sequence[Loss], cells: int = 80) -> list[Line]:
    """What a checkpoint does not hold, or not as it was: where it stood, its type, why; wrapped to `cells`."""
    return [
        part
        for loss in losses
        for part in wrap(line(Piece(f"{safe(loss.path)}  ", "strong"), *_loss_pieces(loss)), cells)
    ]


def losses_words(losses: Sequence[Loss]) -> str:
    """How many of each kind: `2 lost, 1 as text`."""
    return ", ".join(_counts(losses)) or "nothing is missing"


def _counts(losses: Sequence[Loss]) -> Iterator[str]:
    for kind, word in _KINDS.items():
        number = sum(loss.kind == kind for loss in losses)
        if number:
            yield f"{count(number)} {word.lower()}"


def _loss_pieces(loss: Loss) -> list[Piece]:
    kind = Piece(f"{_KINDS.get(loss.kind, loss.kind)}  ", "error" if loss.kind == "lost" else "warning")
    return [kind, Piece(f"{cut(safe(loss.type_name), 60)}  ", "type"), Piece(safe(loss.reason))]
