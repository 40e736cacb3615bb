"""The balance between words and meaning, as one line. Pure."""

from __future__ import annotations

from tierdeck_tui.view.format import short_number
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.memory_row import KEYWORD_GLYPH, SEMANTIC_GLYPH

ALPHA_STEP = 0.1
WIDE_CELLS = 38
_STEPS = 10
_NARROW_STEPS = 4


def alpha_line(alpha: float, cells: int, *, is_meaning_off: bool = False) -> Line:
    """Both ends by word and by the glyph of their bars, the knob between them, the number behind.

    Args:
        alpha: the weight of meaning, 0 to 1.
        is_meaning_off: only words count whatever the knob says; then that is said instead of the number.
    """
    is_wide = cells >= WIDE_CELLS
    steps = _STEPS if is_wide else _NARROW_STEPS
    at = round(alpha * steps)
    track = "─" * at + "●" + "─" * (steps - at)
    gap = " " if is_wide else ""
    number = Piece("off", "warning") if is_meaning_off else Piece(short_number(alpha), "strong")
    return line(
        Piece(KEYWORD_GLYPH, "keyword"),
        f"{gap}words ",
        Piece(f"◄{track}►", "muted" if is_meaning_off else "plain"),
        f" meaning{gap}",
        Piece(SEMANTIC_GLYPH, "semantic"),
        " ",
        number,
    )


def stepped(alpha: float, steps: int) -> float:
    """Alpha moved by tenths, to a whole tenth, within 0 and 1."""
    tenths = alpha / ALPHA_STEP
    whole = round(tenths) if abs(tenths - round(tenths)) < 1e-9 else (int(tenths) + (steps < 0))
    return min(1.0, max(0.0, round((whole + steps) * ALPHA_STEP, 1)))
