"""The two lines that a memory takes in a list: as a search hit, as a row of the store, as a relation. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.model import NodeRow
from tierdeck.search.answer.hit import Hit
from tierdeck.store import RelatedNode
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import AGE_CELLS, age, count, local_time, percent, score
from tierdeck_tui.view.line import Line, Piece, Role, fit
from tierdeck_tui.view.sanitise import pad, visible

KEYWORD_GLYPH = "█"
SEMANTIC_GLYPH = "▒"
_REST_GLYPH = "·"
_CURSOR_GLYPH = "▌"
_MARK_GLYPH = "✓"
_GUTTER_CELLS = 2
_TIER_CELLS, _TYPE_CELLS, _PERCENT_CELLS, _ID_CELLS = 8, 10, 4, 8
_USED_CELLS, _DAY_CELLS = 6, 16

# What a list of so many cells has room for on a hit's first line: (at least, cells of the bar, columns after it).
_HIT_LAYOUTS = (
    (67, 20, ("tier", "type", "confidence", "age", "id")),
    (57, 10, ("tier", "type", "confidence", "age", "id")),
    (53, 6, ("tier", "type", "confidence", "age", "id")),
    (44, 6, ("tier", "type", "confidence", "age")),
    (0, 6, ("tier", "age")),
)
_NODE_LAYOUTS = (
    (64, ("tier", "type", "confidence", "used", "age", "created", "id")),
    (47, ("tier", "type", "confidence", "used", "age", "id")),
    (0, ("tier", "type", "age")),
)


@dataclass(frozen=True, slots=True)
class RowLook:
    """How a row is to be drawn: its width, the clock, the weight of meaning, and what the operator did to it."""

    cells: int
    now_ms: int
    alpha: float = 0.0
    is_cursor: bool = False
    is_marked: bool = False
    reveal: bool = False


# What a list of memories can hold.
Row = Hit | NodeRow | RelatedNode


def memory_of(row: Row) -> NodeRow:
    """The memory that a row of a list stands for."""
    return row if isinstance(row, NodeRow) else row.row


def row_lines(row: Row, look: RowLook) -> tuple[Line, Line]:
    """The two lines of any kind of row, each exactly as wide as the look says."""
    if isinstance(row, Hit):
        return hit_lines(row, look)
    return node_lines(row, look) if isinstance(row, NodeRow) else related_lines(row, look)


def hit_lines(hit: Hit, look: RowLook) -> tuple[Line, Line]:
    """A search hit: score, its two weighted parts as bars, what it is and how old; below, the text that matched."""
    bar_cells, columns = next((bar, names) for least, bar, names in _HIT_LAYOUTS if look.cells >= least)
    head = [*_gutter(look), Piece(score(hit.score), "score"), Piece(" "), *bar(hit, look.alpha, bar_cells)]
    head += _columns(hit.row, columns, look)
    flags = _words_of(hit)
    return fit(head, look.cells), _text_line(hit.row, look, flags, hit.matches)


def node_lines(row: NodeRow, look: RowLook) -> tuple[Line, Line]:
    """A memory of the store: what it is, how often it was used, how old it is; below, how its text begins."""
    columns = next(names for least, names in _NODE_LAYOUTS if look.cells >= least)
    head = [*_gutter(look), *_columns(row, columns, look)[1:]]
    return fit(head, look.cells), _text_line(row, look, _problem_words(row), ())


def related_lines(related: RelatedNode, look: RowLook) -> tuple[Line, Line]:
    """A memory bound to another: the bond and its part in it, then what it is; below, how its text begins."""
    edge = related.edge
    label = f" {visible(edge.label, one_line=True)}" if edge.label else ""
    bond = pad(f"{edge.type.value}{label} → {visible(related.role, one_line=True)}", max(12, look.cells // 2))
    head = [*_gutter(look), Piece(bond, "strong"), *_columns(related.row, ("type", "tier", "age"), look)]
    return fit(head, look.cells), _text_line(related.row, look, _problem_words(related.row), ())


def bar(hit: Hit, alpha: float, cells: int) -> list[Piece]:
    """The score as a bar of `cells` for 1.0: first what the words gave (`█`), then what the meaning gave (`▒`)."""
    words = (1 - alpha) * hit.keyword.score if hit.keyword else 0.0
    meaning = alpha * hit.semantic.score if hit.semantic else 0.0
    total = min(cells, round((words + meaning) * cells))
    if total == 0 and words + meaning > 0:
        total = 1
    word_cells = round(total * words / (words + meaning)) if total else 0
    return [
        Piece(KEYWORD_GLYPH * word_cells, "keyword"),
        Piece(SEMANTIC_GLYPH * (total - word_cells), "semantic"),
        Piece(_REST_GLYPH * (cells - total), "muted"),
    ]


def _gutter(look: RowLook) -> list[Piece]:
    return [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece(_MARK_GLYPH if look.is_marked else " ", "mark"),
    ]


def _columns(row: NodeRow, names: tuple[str, ...], look: RowLook) -> list[Piece]:
    found = []
    for name in names:
        text, role = _column(row, name, look)
        found += [Piece(" "), Piece(text, role)]
    return found


def _column(row: NodeRow, name: str, look: RowLook) -> tuple[str, Role]:
    if name == "tier":
        return row.tier.value.ljust(_TIER_CELLS), "tier"
    if name == "type":
        return row.type.value.ljust(_TYPE_CELLS), "type"
    if name == "confidence":
        return percent(row.confidence).rjust(_PERCENT_CELLS), "plain"
    if name == "used":
        return f"{count(row.access_count)}×".rjust(_USED_CELLS), "muted"
    if name == "created":
        return local_time(row.created_at_ms)[:_DAY_CELLS].ljust(_DAY_CELLS), "muted"
    if name == "age":
        return age(row.created_at_ms, look.now_ms).rjust(AGE_CELLS), "plain"
    return pad(visible(row.short_id, one_line=True), _ID_CELLS), "muted"


def _text_line(row: NodeRow, look: RowLook, words: list[str], matches: tuple[tuple[int, int], ...]) -> Line:
    lead = [Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"), Piece(" ")]
    if words:
        lead.append(Piece(f"[{', '.join(words)}] ", "warning"))
    room = look.cells - _GUTTER_CELLS - sum(len(piece.text) for piece in lead[2:])
    if room <= 0:
        return fit(lead, look.cells)
    return (*lead, *excerpt_line(row, room, matches=matches, reveal=look.reveal))


def _words_of(hit: Hit) -> list[str]:
    words = {
        "no-vector": "no vector",
        "stale-vector": "old vector",
        "embedding-off": "not embedded",
        "secret": "secret",
    }
    return [word for flag, word in words.items() if flag in hit.flags] + _problem_words(hit.row)


def _problem_words(row: NodeRow) -> list[str]:
    """`unreadable created_at` for each field that holds what it must not; the field's name is ours."""
    return [f"unreadable {problem.partition(':')[0]}" for problem in row.problems]
