"""The inspect pane's sections as lines, each laid out when it is asked for. Pure, and meant for a worker thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tierdeck.checkpoint import Head, Loss, Operation
from tierdeck.checkpoint.folder import Listed, RunState
from tierdeck.checkpoint.folder.requests import is_expired
from tierdeck.errors import TierdeckError
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.reading.checkpoint_contents import SectionFacts, SectionName, ValueFacts
from tierdeck_tui.reading.checkpoint_sessions import SessionContents
from tierdeck_tui.view.body import body_lines
from tierdeck_tui.view.checkpoint.request import answer_line, request_line
from tierdeck_tui.view.checkpoint.row import NS_PER_MS, session_facts
from tierdeck_tui.view.checkpoint.state import OUTCOMES, effects_words, run_piece
from tierdeck_tui.view.checkpoint.summary import summary_lines
from tierdeck_tui.view.checkpoint.tree import BranchRow, SessionRow
from tierdeck_tui.view.checkpoint.value import kind_words, value_lines, whole_text
from tierdeck_tui.view.checkpoint.variables import loss_lines, losses_words
from tierdeck_tui.view.format import age, count, counted, size
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

TITLES: Mapping[SectionName, str] = {
    "summary": "Summary",
    "variables": "Variables",
    "lost": "Lost",
    "memory": "Memory",
    "messages": "Messages",
    "trajectory": "Events",
    "operations": "Operations",
}
_EMPTY: Mapping[SectionName, str] = {
    "memory": "the working memory was empty",
    "trajectory": "no event was recorded",
}
_RUN_MEANINGS: Mapping[RunState, str] = {
    "running": "its agent is asked for a rewind (R) or a checkpoint (c), and answers at its turn's end",
    "ended": "its agent came to its end, and none runs it now",
    "stopped": "its agent's process is gone, and had not come to its end; none runs it now",
    "unknown": "no agent runs it now, and none has said how it ended",
}
MAX_MESSAGES = 200
_MAX_OPERATION_ROWS = 20
_MAX_MESSAGE_CHARS = 4_000
_MAX_TEXT_CHARS = 64_000
_MAX_OPERATIONS = 500
_OVERLAP_CHARS = 8_000  # the longest secret that is looked for


def section_lines(facts: SectionFacts, cells: int, *, reveal: bool = False) -> Lines:
    """Any section but the variables', which are a list; none of the lines is wider than `cells`."""
    match facts.section:
        case "summary":
            return Lines(_summary(facts.listed, facts.head, cells))
        case "lost":
            return Lines(_lost(facts.losses, cells))
        case "operations":
            return Lines(_operations(facts.operations, cells, reveal=reveal))
        case "messages":
            return Lines(_messages(facts.part, cells, reveal=reveal))
        case _:
            return Lines(_part(facts.section, facts.part, cells, reveal=reveal))


def decoded_lines(facts: ValueFacts, cells: int, *, reveal: bool = False) -> Lines:
    """One variable: its name and type, what of it is not as it was, and its value."""
    head = line(Piece(safe(facts.name), "strong"), Piece(f"  {safe(kind_words(facts.value))}", "type"))
    lines = Lines([*wrap(head, cells), *loss_lines(facts.losses, cells), line("")])
    lines.extend(_value(facts.value, cells, reveal=reveal))
    return lines


def failed_lines(listed: Listed | None, error: TierdeckError, cells: int) -> Lines:
    """Why there is nothing to read; of a checkpoint, with what its folder knows of it."""
    lines = Lines(_summary(listed, None, cells) if listed is not None else ())
    lines.extend([line(""), *wrap(line(Piece("error: ", "error"), safe(error.message)), cells)])
    if error.hint:
        lines.extend(wrap(line(Piece(safe(error.hint), "muted")), cells))
    return lines


def session_lines(row: SessionRow | BranchRow, contents: SessionContents | None, now_ms: int, cells: int) -> Lines:
    """A session: what it is, what its agent was asked for, and what is wrong with it."""
    info = row.info
    parts = [
        line(Piece(safe(info.session_id), "strong")),
        line(Piece(session_facts(info, now_ms), "muted")),
        *([line(Piece(safe(info.problem), "warning"))] if info.problem else []),
        line(Piece(safe(str(info.path)), "muted")),
        line(""),
        line(run_piece(info.run), Piece(f": {_RUN_MEANINGS[info.run]}")),
        *(_contents_lines(contents, now_ms) if contents is not None else ()),
    ]
    if isinstance(row, BranchRow):
        parts += [line(""), line(f"branch {row.branch.name or 'not known'}: "
                                 f"{counted(len(row.branch.rows), 'checkpoint')}")]  # fmt: skip
    elif contents is None:
        parts += [line(""), line(Piece("enter lists its checkpoints", "muted"))]
    return Lines(part for one in parts for part in wrap(one, cells))


def _contents_lines(contents: SessionContents, now_ms: int) -> Iterable[Line]:
    """What its agent was asked for and answered, what lies in the trash, what is wrong."""
    if contents.request is not None:
        is_over = is_expired(contents.request, now_ms * NS_PER_MS)
        yield request_line(contents.request, now_ms, is_expired=is_over)
        if not is_over:
            yield line(Piece("t takes it back", "muted"))
    if contents.claimed is not None:
        yield line(Piece("the agent is at it: ", "warning"), *request_line(contents.claimed, now_ms))
    if contents.answer is not None:
        old = age(contents.answer.at_ns // NS_PER_MS, now_ms)
        yield line(Piece(f"its newest answer, {old} ago: ", "muted"), *answer_line(contents.answer))
    if contents.trash:
        total = size(sum(each.size_bytes for each in contents.trash))
        yield line(
            Piece(f"in the trash: {counted(len(contents.trash), 'checkpoint')}, {total}; x opens it", "muted")
        )
    yield from (line(Piece(safe(problem), "warning")) for problem in contents.problems)


def _summary(listed: Listed, head: Head | None, cells: int) -> Iterable[Line]:
    # Elsewhere the path comes whole, to be copied (here `y` does that); in a pane it would break anywhere.
    yield from wrap(line(Piece(safe(listed.file), "strong")), cells)
    yield from wrap(line(Piece(safe(str(listed.folder)), "muted")), cells)
    for one in summary_lines(listed, head, cells)[1:]:
        yield from wrap(one, cells)


def _lost(losses: tuple[Loss, ...], cells: int) -> Iterable[Line]:
    if not losses:
        yield line(Piece("nothing is missing: everything was saved as it was", "good"))
        return
    yield line(Piece(losses_words(losses), "warning"))
    yield line("")
    yield from loss_lines(losses, cells)


def _operations(operations: tuple[Operation, ...], cells: int, *, reveal: bool) -> Iterable[Line]:
    if not operations:
        yield line(Piece("no operation was planned or under way", "muted"))
    for each in operations[:_MAX_OPERATIONS]:
        yield from wrap(_operation_head(each), cells)
        yield from _indented("", each.request, cells, reveal=reveal)
        if each.state in ("done", "failed"):
            yield from _indented(
                "it gave:" if each.state == "done" else "it said:", each.result, cells, reveal=reveal
            )
        yield line("")
    if len(operations) > _MAX_OPERATIONS:
        yield _more(len(operations) - _MAX_OPERATIONS)


def _operation_head(operation: Operation) -> Line:
    is_open = operation.state in ("running", "failed")
    return line(
        Piece(f"{safe(operation.kind)}  ", "strong"),
        Piece(OUTCOMES.get(operation.state, operation.state), "warning" if is_open else "plain"),
        Piece(f", turn {operation.turn}, {effects_words(operation)}  {safe(operation.op_id)}", "muted"),
    )


def _indented(name: str, value: object, cells: int, *, reveal: bool) -> Iterable[Line]:
    if name:
        yield line(Piece(f"  {name}", "muted"))
    for row in value_lines(value, cells - 2, limit_rows=_MAX_OPERATION_ROWS, reveal=reveal):
        yield (Piece("  "), *row)


def _messages(part: object, cells: int, *, reveal: bool) -> Iterable[Line]:
    """A message a paragraph where it is one of the usual form; else as any value."""
    if type(part) is not list or not part:
        yield from _value(part, cells, reveal=reveal) if part else [line(Piece("no message", "muted"))]
        return
    for number, message in enumerate(part[:MAX_MESSAGES], 1):
        role = message.get("role") if type(message) is dict else None
        content = message.get("content") if type(message) is dict else None
        yield line(Piece(f"{number}  ", "muted"), Piece(safe(role if type(role) is str else None), "type"))
        if type(content) is str:
            yield from _text(content, _MAX_MESSAGE_CHARS, cells, reveal=reveal)
        else:
            yield from value_lines(message, cells, limit_rows=20, reveal=reveal)
        yield line("")
    if len(part) > MAX_MESSAGES:
        yield _more(len(part) - MAX_MESSAGES)


def _part(section: SectionName, part: object, cells: int, *, reveal: bool) -> Iterable[Line]:
    if part is None or (type(part) in (dict, list) and not part):
        return [line(Piece(_EMPTY.get(section, "nothing"), "muted"))]
    return _value(part, cells, reveal=reveal)


def _value(value: object, cells: int, *, reveal: bool) -> Iterable[Line]:
    text = whole_text(value)
    if text is None:
        yield from value_lines(value, cells, reveal=reveal)
        return
    yield from _text(text, _MAX_TEXT_CHARS, cells, reveal=reveal)


def _text(text: str, limit_chars: int, cells: int, *, reveal: bool) -> Iterable[Line]:
    # Masked before it is cut: half a secret would not be known as one.
    part = text[: limit_chars + _OVERLAP_CHARS]
    shown = part if reveal else mask_secrets(part)
    yield from body_lines(shown[:limit_chars], cells, reveal=True)
    if len(text) > limit_chars:
        left = counted(len(text) - limit_chars, "more character")
        yield line(Piece(f"… {left}: `tierdeck checkpoint var` and `show --part` write all", "muted"))


def _more(number: int) -> Line:
    return line(Piece(f"and {count(number)} more", "muted"))
