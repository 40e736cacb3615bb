"""A row of the promotion log: in a list, in a memory's history, and with everything it keeps. Pure."""

from __future__ import annotations

from tierdeck.model import NodeRow
from tierdeck.promote.records import AUTOMATIC_ACTOR, LogEntry
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import count, local_time
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.promotion.decision_lines import criterion_lines, rule_words
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

_ID_CELLS = 8
_INDENT = "   "
_DONE = {"hold": "held", "release": "released", "dismiss": "dismissed"}
_BY = {"auto": "by the rules, run by", "approve": "approved by", "override": "by hand, by"}


def deed_words(entry: LogEntry) -> str:
    """What happened: `task → session`, `held in longterm`, `took back #12: session → task`."""
    move = f"{safe(entry.from_tier)} → {safe(entry.to_tier)}"
    if entry.kind == "undo":
        what = move if entry.is_move else f"in {safe(entry.to_tier)}"
        return f"took back #{entry.undoes}: {what}" if entry.undoes is not None else f"took back: {what}"
    if entry.kind in _DONE:
        return f"{_DONE[entry.kind]} in {safe(entry.to_tier)}"
    return move


def log_lines(
    entry: LogEntry, row: NodeRow | None, cells: int = 80, *, is_undone: bool = False
) -> tuple[Line, Line, Line]:
    """The three lines of a row in a list, each exactly `cells` wide: what and which memory; who and why; its text.

    Args:
        row: the memory as it is now; None when it is gone.
        is_undone: a later row took it back.
    """
    head = line(
        Piece(f"#{count(entry.id)} ", "strong"),
        Piece(f"{local_time(entry.at_ms)}  ", "muted"),
        Piece(f"{safe(entry.node_id)[:_ID_CELLS]:<{_ID_CELLS}}  "),
        Piece(deed_words(entry), "tier"),
    )
    undone = Piece("taken back · " if is_undone else "", "warning")
    below = fit([Piece(_INDENT), undone, *_who_and_why(entry)], cells)
    if row is None:
        return fit(head, cells), below, fit([Piece(_INDENT), Piece("the memory is gone", "warning")], cells)
    text = excerpt_line(row, max(0, cells - len(_INDENT)))
    return fit(head, cells), below, fit([Piece(_INDENT), *text], cells)


def history_line(entry: LogEntry, *, is_undone: bool = False) -> Line:
    """One line for a memory's own history; of any length, to be wrapped."""
    return line(
        Piece(local_time(entry.at_ms), "muted"),
        Piece(f"  #{entry.id} ", "strong"),
        Piece(deed_words(entry), "tier"),
        "  ",
        *_who_and_why(entry),
        Piece("  taken back" if is_undone else "", "warning"),
    )


def entry_lines(entry: LogEntry, cells: int = 80) -> list[Line]:
    """Everything the row keeps, the criteria as they were found then; none wider than `cells`."""
    lines = [
        line(Piece(f"#{entry.id} ", "strong"), Piece(deed_words(entry), "tier")),
        line(Piece(local_time(entry.at_ms), "muted")),
        line(Piece("memory  ", "muted"), safe(entry.node_id)),
        line(*_who_and_why(entry)),
    ]
    if entry.rule_version:
        lines.append(line(Piece(f"rules {safe(entry.rule_version)}", "muted")))
    if entry.content_digest:
        lines.append(line(Piece(f"digest of text and metadata {safe(entry.content_digest)[:16]}", "muted")))
    wrapped = [part for one in lines for part in wrap(one, cells)]
    return wrapped + criterion_lines(entry.criteria, cells)


def _who_and_why(entry: LogEntry) -> list[Piece]:
    by_themselves = entry.kind == "auto" and entry.actor == AUTOMATIC_ACTOR
    by = "by the rules" if by_themselves else f"{_BY.get(entry.kind, 'by')} {safe(entry.actor)}"
    pieces = [Piece(by, "muted")]
    # A rule's name is the step it makes, which stands there already.
    if entry.rule and rule_words(entry.rule) != deed_words(entry):
        pieces.append(Piece(f" · {rule_words(entry.rule)}", "muted"))
    if entry.run_id is not None:
        pieces.append(Piece(f" · run {entry.run_id}", "muted"))
    if entry.reason:
        pieces.append(Piece(f" · {safe(entry.reason)}"))
    return pieces
