"""The Promotions screen's pane: what the rules say of a memory, what the log keeps, what a run did. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tierdeck_tui.reading.promotion_items import Item, LogItem, RunItem
from tierdeck_tui.reading.promotion_subject import PromotionSubject
from tierdeck_tui.view.access_lines import access_lines
from tierdeck_tui.view.body import body_lines
from tierdeck_tui.view.detail_lines import DetailText
from tierdeck_tui.view.format import age, count, counted, local_time, percent
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.view.promotion.decision_lines import DISMISSED_WORDS, clock_note, decision_lines
from tierdeck_tui.view.promotion.hold_line import hold_words
from tierdeck_tui.view.promotion.log_line import entry_lines
from tierdeck_tui.view.promotion.run_line import lasted_words, moved_words, undone_words
from tierdeck_tui.view.promotion.tier_history import tier_history_lines
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap


def pane_text(
    item: Item, subject: PromotionSubject | None, cells: int, now_ms: int, *, reveal: bool = False
) -> DetailText:
    """Lay out all there is to say of a row, no line wider than `cells`.

    Args:
        subject: the memory that the row is about, as it is now; None when it is gone, and for a run.
    """
    lines = Lines()
    starts: list[int] = []
    for title, section in _sections(item, subject, cells, now_ms, reveal=reveal):
        if title:
            starts.append(len(lines) + 1)
            lines.extend([line(""), line(Piece(f"── {title} ".ljust(cells, "─")[:cells], "strong"))])
        lines.extend(section)
    return DetailText(lines, tuple(starts), ())


def _sections(
    item: Item, subject: PromotionSubject | None, cells: int, now_ms: int, *, reveal: bool
) -> Iterator[tuple[str, Sequence[Line]]]:
    if isinstance(item, RunItem):
        yield "", _wrapped(_run(item), cells)
        return
    if isinstance(item, LogItem):
        yield "", entry_lines(item.entry, cells)
        if subject is None:
            yield "now", [line(Piece("the memory is gone", "warning"))]
    if subject is None:
        return
    said = [*_decision(subject, cells)]
    head = _wrapped(_head(subject, now_ms), cells)
    text = body_lines(subject.row.excerpt, cells, reveal=reveal)
    if subject.row.goes_on:
        text.extend([line(Piece("…  o shows the whole text", "muted"))])
    if isinstance(item, LogItem):  # its id stands above
        yield "now", [*head[:1], *said]
    else:
        yield "", [*head, line(""), *said]
    yield f"text · {counted(subject.row.content_chars, 'character')}", text
    summary = subject.explanation.accesses
    used = access_lines(summary, subject.accesses, subject.row.access_count, cells, now_ms)
    yield "accesses", _wrapped(used, cells)
    moved = tier_history_lines(subject.explanation.history, subject.moves)
    yield "tier history", _wrapped(moved or [line(Piece("not moved yet", "muted"))], cells)


def _head(subject: PromotionSubject, now_ms: int) -> Iterator[Line]:
    row = subject.row
    yield line(
        Piece(row.type.value, "type"),
        " · ",
        Piece(safe(subject.explanation.facts.tier), "tier"),
        f" · confidence {percent(row.confidence)}",
        Piece(f" · {age(row.created_at_ms, now_ms)} old", "muted"),
    )
    yield line(Piece(visible(row.id, one_line=True), "muted"))
    for problem in row.problems:
        yield line(Piece(f"unreadable {visible(problem, one_line=True)}", "warning"))


def _decision(subject: PromotionSubject, cells: int) -> list[Line]:
    told = subject.explanation
    lines = decision_lines(told.decision, cells)
    if told.hold is not None:
        lines += wrap(line(Piece(hold_words(told.hold), "warning")), cells)
        if told.is_dismissed:
            lines += wrap(line(Piece(DISMISSED_WORDS, "warning")), cells)
    note = clock_note(told.facts.future)
    if note:
        lines += wrap(line(Piece(note, "warning")), cells)
    return lines


def _run(item: RunItem) -> Iterator[Line]:
    run = item.run
    yield line(Piece(f"run {run.id} ", "strong"), Piece(run.kind, "tier"), f" by {safe(run.actor)}")
    if run.reason:
        yield line(f"“{safe(run.reason)}”")
    yield line(Piece("begun  ", "muted"), local_time(run.at_ms))
    if run.ended_at_ms is None:
        yield line(Piece("not ended: still going on, or stopped; the next run goes on with what is due", "warning"))
    else:
        lasted = lasted_words(run)
        after = f" after {lasted}" if lasted else ""
        yield line(Piece("ended  ", "muted"), f"{local_time(run.ended_at_ms)}{after}")
    if run.rule_version:
        yield line(Piece("rules  ", "muted"), safe(run.rule_version))
    yield line("")
    yield line(Piece(moved_words(run), "strong"))
    if item.undone:
        yield line(Piece(undone_words(run, item.undone), "warning"))
    if run.rejections:
        yield line("")
        yield line(Piece("what the others lacked", "strong"))
        for name, number in run.rejections:
            yield line(f"{count(number):>9}  {safe(name)}")
    yield line("")
    yield line(Piece("enter lists its rows in the log, u takes it back", "muted"))


def _wrapped(lines: Iterable[Line], cells: int) -> list[Line]:
    return [part for one in lines for part in wrap(one, cells)]
