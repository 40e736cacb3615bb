"""What an operator chooses about a call before a session goes on: in a row, and all about one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tierdeck.checkpoint.journal import CHOICES, Choice, Decision, StoredValue, store_value
from tierdeck.checkpoint.limits import CONSOLE_LIMITS
from tierdeck.checkpoint.running import OpenOperation
from tierdeck.errors import CheckpointError
from tierdeck.store.finite_json import parse_json
from tierdeck_tui.view.checkpoint.inline_value import inline_words
from tierdeck_tui.view.checkpoint.operation import request_words
from tierdeck_tui.view.checkpoint.state import OUTCOMES, effects_words
from tierdeck_tui.view.checkpoint.value import value_lines
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import Line, Piece, Role, fit, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import pad
from tierdeck_tui.view.wrap import wrap

_CHOICE_CELLS = 13
_MAX_VALUE_ROWS = 40
_WORDS: Mapping[Choice | None, str] = {
    "run again": "run again",
    "done": "mark done",
    "skip": "skip",
    "abort": "abort",
}
_MEANINGS: Mapping[Choice | None, str] = {
    "run again": "it is made again when the agent comes to it",
    "skip": "it is not made: the agent goes on without it, with None for its result",
    "abort": "it is not made: the agent is stopped when it comes to it",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen about a call: None leaves it to the agent. `value_text` is what was typed for `done`."""

    choice: Choice | None = None
    value_text: str = ""

    def next(self, step: int) -> Chosen:
        """The next choice (1) or the one before (-1), and round again; what was typed stays."""
        order: tuple[Choice | None, ...] = (None, *CHOICES)
        return Chosen(order[(order.index(self.choice) + step) % len(order)], self.value_text)


LEFT = Chosen()


def typed_value(text: str) -> object:
    """What a typed value means: JSON where it is such, else the text itself; nothing typed is None."""
    if not text.strip():
        return None
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text


def decision_of(chosen: Chosen, operation: OpenOperation, by: str) -> Decision | None:
    """The decision that was chosen; None when it is left to the agent."""
    if chosen.choice is None:
        return None
    value = typed_value(chosen.value_text) if chosen.choice == "done" else None
    return Decision(chosen.choice, None if value is None else store_value(value), by, seen=operation.entry.state)


def choice_row(operation: OpenOperation, chosen: Chosen, cells: int) -> Line:
    """One call, exactly `cells` wide: what was chosen, its kind, what it was given, its state."""
    entry = operation.entry
    role: Role = "muted" if chosen.choice is None else "strong"
    return fit(
        [
            Piece(pad(f"‹{_choice_words(operation, chosen)}›", _CHOICE_CELLS) + " ", role),
            Piece(f"{safe(entry.kind)}  ", "type"),
            Piece(f"{safe(request_words(entry.request))}  "),
            Piece(f"{OUTCOMES[entry.state]}  ", "warning" if operation.question else "muted"),
            Piece(f"turn {entry.turn}, {effects_words(entry)}", "muted"),
        ],
        cells,
    )


def choice_lines(operation: OpenOperation, chosen: Chosen, cells: int, *, reveal: bool = False) -> list[Line]:
    """All about one call, in lines of at most `cells`: what was chosen, why it is asked, what it got."""
    entry = operation.entry
    effects = "with side effects" if entry.has_side_effects else "without side effects"
    why = operation.question.why if operation.question is not None else "it was planned, and not begun"
    told = [
        line(Piece(f"{_choice_words(operation, chosen)}: ", "strong"), *_meaning(operation, chosen)),
        line(Piece(safe(why), "warning" if operation.question is not None else "plain")),
    ]
    lines = [part for one in told for part in wrap(one, cells)]
    lines += _value_part("it was given", entry.request, cells, reveal=reveal)
    if entry.result is not None:
        lines += _value_part("it gave" if entry.state == "done" else "it said", entry.result, cells, reveal=reveal)
    about = f"{safe(entry.kind)}, turn {entry.turn}, {effects}, {safe(entry.op_id)}"
    return [*lines, *wrap(line(Piece(about, "muted")), cells)]


def decided(chosen: Mapping[str, Chosen]) -> frozenset[str]:
    """The ids of the calls that are not left to the agent."""
    return frozenset(op_id for op_id, each in chosen.items() if each.choice is not None)


def decided_words(operations: Sequence[OpenOperation], chosen: Mapping[str, Chosen]) -> str:
    """`2 calls: 1 run again, 1 left to the agent`; empty when there is none."""
    if not operations:
        return ""
    counts: dict[Choice | None, int] = dict.fromkeys((*CHOICES, None), 0)
    for each in operations:
        counts[chosen.get(each.entry.op_id, LEFT).choice] += 1
    words = {**_WORDS, "done": "marked done", "skip": "skipped", "abort": "to abort", None: "left to the agent"}
    if counts[None] == len(operations):
        return f"{counted(len(operations), 'call')} left to the agent"
    told = ", ".join(f"{number} {words[choice]}" for choice, number in counts.items() if number)
    return f"{counted(len(operations), 'call')}: {told}"


def _choice_words(operation: OpenOperation, chosen: Chosen) -> str:
    if chosen.choice is not None:
        return _WORDS[chosen.choice]
    return "agent asks" if operation.question is not None else "as planned"


def _meaning(operation: OpenOperation, chosen: Chosen) -> list[Piece]:
    if chosen.choice == "done":
        value = typed_value(chosen.value_text)
        if value is None:
            return [Piece("it is not made: the agent gets None for its result, unless a value is typed below")]
        kind = " (a text)" if isinstance(value, str) else ""
        return [Piece("it is not made: the agent gets "), Piece(safe(inline_words(value)), "strong"), Piece(kind)]
    if chosen.choice is not None:
        return [Piece(_MEANINGS[chosen.choice])]
    if operation.question is not None:
        return [Piece("nothing is decided here: the agent asks before it makes it, or follows its own rules")]
    return [Piece("nothing is decided here: it is made when the agent comes to it")]


def _value_part(name: str, stored: StoredValue, cells: int, *, reveal: bool) -> list[Line]:
    try:
        rows = value_lines(stored.value(CONSOLE_LIMITS), cells - 2, limit_rows=_MAX_VALUE_ROWS, reveal=reveal)
    except CheckpointError as e:
        return wrap(line(Piece(f"{name}: ", "muted"), Piece(safe(e.message), "warning")), cells)
    missing = [] if stored.why is None else wrap(line(Piece(f"  {safe(stored.why)}", "warning")), cells)
    return [line(Piece(f"{name}:", "muted")), *((Piece("  "), *row) for row in rows), *missing]
