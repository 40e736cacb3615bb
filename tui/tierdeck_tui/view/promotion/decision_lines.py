"""What the rules say of a memory, criterion by criterion: the same words in `tierdeck why`, the board and the log.

Pure. A value never rounds into its limit: 90 days and a millisecond is "90 d 1 ms", not "90 > 90".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tierdeck.promote.rules import DAY_MS, Criterion, Decision
from tierdeck_tui.view.format import NONE, count, counted, short_number
from tierdeck_tui.view.line import Line, Piece, Role, fit, line, text_of
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap

_NAME_CELLS, _FOUND_CELLS, _NEEDED_CELLS, _BAR_CELLS = 20, 11, 11, 6
_FULL, _EMPTY = "█", "·"
_SIGNS = {">=": "≥", "<=": "≤", ">": ">"}
_UNITS_MS = ((DAY_MS, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))
DISMISSED_WORDS = "dismissed: waits for new evidence"
# The two largest units: enough to tell any two values that a person has to tell apart.
_SHOWN_UNITS = 2


def rule_words(rule: str | None) -> str:
    """A rule as the step it makes: `task-session` is `task → session`; `–` for none."""
    return visible(rule, one_line=True).replace("-", " → ", 1) if rule else NONE


def verdict(decision: Decision) -> str:
    """What follows from the criteria, in one phrase: "due", "held", "needs 1 more session"."""
    if decision.rule is None:
        return "no rule is for its tier"
    if not decision.passes:
        lacks = "; ".join(lack_words(criterion) for criterion in decision.lacking)
        return f"{lacks} ({decision.block})" if decision.block else lacks
    if decision.block == "held":
        return "held: no rule moves it"
    if decision.block == "dismissed":
        return DISMISSED_WORDS
    return "waits for a person, no rule moves it" if decision.rule == "archive-longterm" else "due"


def decision_lines(decision: Decision, cells: int = 80) -> list[Line]:
    """The step, the verdict, and a line for each criterion; none wider than `cells`."""
    if decision.rule is None:
        tier = visible(decision.from_tier, one_line=True) or NONE
        return wrap(line(Piece(tier, "tier"), f": {verdict(decision)}"), cells)
    role: Role = "good" if decision.is_due else "warning"
    head = line(Piece(rule_words(decision.rule), "tier"), ": ", Piece(verdict(decision), role))
    return [*wrap(head, cells), *criterion_lines(decision.criteria, cells)]


def criterion_lines(criteria: Sequence[Criterion], cells: int = 80) -> list[Line]:
    """A line for each criterion: ✓ or ✗ with the word, name, found, needed, a bar, and what it lacks or notes."""
    return [part for criterion in criteria for part in _criterion_lines(criterion, cells)]


def lack_words(criterion: Criterion) -> str:
    """What would make the criterion pass: "needs 1 more session"; empty when it passed."""
    if criterion.passed:
        return ""
    found, needed = criterion.found, criterion.needed
    lacks = max(1, math.ceil(criterion.lacks)) if math.isfinite(criterion.lacks) else 1
    match criterion.name:
        case "pulls in one session":
            return f"needs {counted(lacks, 'more pull')} in one session"
        case "sessions":
            return f"needs {counted(lacks, 'more session')}"
        case "successes":
            return f"needs {counted(lacks, 'more successful session')}"
        case "failures":
            against = counted(int(found or 0), "failed session")
            return f"needs {counted(lacks, 'more success', 'more successes')} against {against}"
        case "confidence held":
            return (
                "needs a session that pulls it"
                if found is None
                else f"needs confidence {_number(needed, found)} held"
            )
        case "days unused":
            return f"is stale in {duration_words(_ms(needed) - _ms(found or 0) + 1)}"
        case "pulls since":
            return f"needs {counted(lacks, 'pull')} in the archive"
    return ""  # a row of the log may hold any name, whatever its type says


def duration_words(duration_ms: int) -> str:
    """A time as its two largest units, rounded down: `90 d 1 ms`, `13 d 23 h`, `0 ms`; never a value rounded up."""
    left, parts = max(0, duration_ms), []
    for unit_ms, unit in _UNITS_MS:
        number, left = divmod(left, unit_ms)
        if number:
            parts.append(f"{count(number)} {unit}")
        if len(parts) == _SHOWN_UNITS:
            break
    return " ".join(parts) or "0 ms"


def found_words(criterion: Criterion) -> str:
    """The value found, so exact that it shows on which side of the limit it lies; `–` when there is none yet."""
    if criterion.found is None:
        return NONE
    return _value(criterion, criterion.found)


def needed_words(criterion: Criterion) -> str:
    """The limit with its sign: `≥ 3`, `> 90 d`."""
    return f"{_SIGNS.get(criterion.comparison, '?')} {_value(criterion, criterion.needed)}"


def clock_note(future: Sequence[str]) -> str:
    """What to say of a memory's times that lie after now; empty without any."""
    names = ", ".join(visible(name, one_line=True) for name in future)
    return f"clock: {names} in the future, taken as now" if names else ""


def _criterion_lines(criterion: Criterion, cells: int) -> list[Line]:
    role: Role = "good" if criterion.passed else "warning"
    head = line(
        Piece("✓ pass " if criterion.passed else "✗ fail ", role),
        *fit([Piece(visible(criterion.name, one_line=True))], _NAME_CELLS),
        Piece(f" {found_words(criterion):>{_FOUND_CELLS}}", "strong"),
        Piece(f" {needed_words(criterion):<{_NEEDED_CELLS}}", "muted"),
        Piece(_bar(criterion), role),
    )
    said = [visible(text, one_line=True) for text in (lack_words(criterion), criterion.note) if text]
    tail = "; ".join(said)
    if not tail:
        return [head]
    one = (*head, Piece(f" {tail}", "plain" if criterion.passed else "warning"))
    if len(text_of(one)) <= cells:
        return [one]
    indent = " " * 7
    below = wrap(line(tail), max(10, cells - len(indent)))
    return [head, *((Piece(indent), *part) for part in below)]


def _bar(criterion: Criterion) -> str:
    """How near it is; full only when it passed."""
    if criterion.passed:
        filled = _BAR_CELLS
    elif criterion.comparison == "<=" or not criterion.found or criterion.needed <= 0:
        filled = 0
    else:
        share = criterion.found / criterion.needed
        filled = min(_BAR_CELLS - 1, int(_BAR_CELLS * share)) if math.isfinite(share) else 0
    return _FULL * filled + _EMPTY * (_BAR_CELLS - filled)


def _value(criterion: Criterion, value: float) -> str:
    if criterion.name == "days unused":
        return duration_words(_ms(value)) if value else "0 d"
    other = criterion.needed if value == criterion.found else criterion.found
    return _number(value, other)


def _number(value: float, other: float | None) -> str:
    """A short number, exact where a short one would equal the other that it is compared with."""
    if not math.isfinite(value):
        return str(value)
    short = short_number(value)
    if other is not None and math.isfinite(other) and other != value and short == short_number(other):
        return repr(float(value))
    return short


def _ms(days: float) -> int:
    return round(days * DAY_MS) if math.isfinite(days) else 0
