"""The calls of a session that somebody can decide about, and what was decided. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tierdeck.checkpoint.journal import Decision, Entry, StoredValue
from tierdeck.checkpoint.limits import CONSOLE_LIMITS
from tierdeck.checkpoint.running import OpenOperation
from tierdeck.errors import CheckpointError
from tierdeck_tui.view.checkpoint.inline_value import inline_words
from tierdeck_tui.view.checkpoint.state import OUTCOMES, effects_words
from tierdeck_tui.view.checkpoint.value_form import stored_form
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

MIN_ID_CHARS = 8
_INDENT = "  "


def operation_lines(
    operations: Sequence[OpenOperation], decisions: Mapping[str, Decision], cells: int = 80
) -> list[Line]:
    """Each call in one row of exactly `cells`, below it what becomes of it, in as many as it takes.

    Args:
        decisions: by their ids what was decided now; what the journal has counts where nothing was.
    """
    ids = short_ids(each.entry.op_id for each in operations)
    lines: list[Line] = []
    for each in operations:
        lines.append(_row(each.entry, ids[each.entry.op_id], cells))
        told = line(Piece(_INDENT), *_fate(each, decisions.get(each.entry.op_id)))
        lines += wrap(told, cells)
    return lines


def operation_form(each: OpenOperation, decision: Decision | None = None) -> dict[str, object]:
    """The same of one call as a JSON object; `decision` is what was decided now, else what the journal has."""
    entry, question = each.entry, each.question
    said = decision or entry.decision
    return {
        "op_id": entry.op_id,
        "kind": entry.kind,
        "state": entry.state,
        "turn": entry.turn,
        "branch": entry.branch,
        "has_side_effects": entry.has_side_effects,
        "request": stored_form(entry.request),
        "result": stored_form(entry.result),
        "is_asked": question is not None and said is None,
        "why": None if question is None else question.why,
        "decision": None
        if said is None
        else {"choice": said.choice, "value": stored_form(said.value), "by": said.by},
    }


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """By each id its beginning that no other one of them has, of 8 characters or more."""
    given = list(dict.fromkeys(ids))
    chars = MIN_ID_CHARS
    while len({each[:chars] for each in given}) < len(given):
        chars += 1
    return {each: each[:chars] for each in given}


def request_words(value: StoredValue | None) -> str:
    """What a call was given, in a few words; without what looks like a secret."""
    if value is None:
        return ""
    try:
        return inline_words(value.value(CONSOLE_LIMITS))
    except CheckpointError:
        return "it can't be read"


def _row(entry: Entry, short_id: str, cells: int) -> Line:
    is_open = entry.state in ("running", "failed")
    return fit(
        [
            Piece(f"{safe(short_id)}  ", "muted"),
            Piece(f"{safe(entry.kind)}  ", "type"),
            Piece(
                f"turn {entry.turn}  {OUTCOMES[entry.state]}, {effects_words(entry)}  ",
                "warning" if is_open else "muted",
            ),
            Piece(safe(request_words(entry.request))),
        ],
        cells,
    )


def _fate(each: OpenOperation, decided: Decision | None) -> list[Piece]:
    said = decided or each.entry.decision
    why = "" if each.question is None else f": {safe(each.question.why)}"
    if said is not None:
        value = f" with {safe(request_words(said.value))}" if said.value is not None else ""
        by = f" by {safe(said.by)}" if said.by else ""
        return [Piece(f"decided{by}: {said.choice}{value}", "good")]
    if each.question is not None:
        return [Piece("asks", "warning"), Piece(why, "muted")]
    is_over = each.entry.state in ("done", "cancelled")
    told = "not made again; its result is given" if is_over else "not asked: it is made when the agent comes to it"
    return [Piece(told, "muted")]
