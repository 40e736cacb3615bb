"""What the Promotions screen says above its lists and in an empty one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierdeck.errors import TierdeckError
from tierdeck.promote.rules import RuleName
from tierdeck_tui.reading.promotion_facts import SPARK_DAYS, PromotionFacts
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.promotion.decision_lines import rule_words
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.sparkline import sparkline

SPARK_CELLS = 30


def tab_numbers(facts: PromotionFacts | None) -> dict[str, str]:
    """How much each tab holds; empty while that is not known."""
    if facts is None:
        return {}
    return {
        "candidates": count(facts.waiting),
        "near": count(sum(facts.near.values())),
        "log": count(facts.log_rows),
        "runs": count(facts.runs),
        "held": count(facts.held),
    }


def spark_line(facts: PromotionFacts | None) -> Line:
    """The moves of the last days as bars, and their sum."""
    if facts is None:
        return ()
    moves = sum(number for _, number in facts.by_day)
    bars = sparkline(facts.by_day, SPARK_CELLS)
    return line(Piece(bars, "keyword"), Piece(f" {counted(moves, 'move')} in {SPARK_DAYS} days ", "muted"))


def by_rule_status(
    numbers: Mapping[RuleName, int] | None, rule: RuleName | None, *, is_near: bool, is_short: bool = False
) -> Line:
    """How many wait, by rule; or those of one rule only.

    Args:
        is_short: a rule is told by the first letters of its tiers, so that no number is cut off in 60 cells.
    """
    if numbers is None:
        return line(Piece("counting…", "muted"))
    total = numbers.get(rule, 0) if rule else sum(numbers.values())
    what = "lack one thing" if is_near else "wait"
    if total == 1:
        what = "lacks one thing" if is_near else "waits"
    who = count(total) if is_short else counted(total, "memory", "memories")
    head = Piece(f"{who} {what}", "strong")
    if rule:
        return line(head, Piece(f" · only {rule_words(rule)} (x drops it)", "mark"))
    words = _rule_letters if is_short else rule_words
    parts = [f"{words(name)} {count(number)}" for name, number in numbers.items() if number]
    separator = " · " if is_short else ", "
    return line(head, Piece(f" · {separator.join(parts)}" if parts else "", "muted"))


def log_status(rows: int | None, chips: Sequence[str]) -> Line:
    """How many rows the log has, and which are listed."""
    pieces: list[Piece | str] = []
    if rows is not None:
        pieces.append(Piece(counted(rows, "row"), "strong"))
        pieces.append(Piece(", newest first", "muted"))
    for chip in chips:
        pieces += [" ", Piece(f"[{visible(chip, one_line=True)}]", "mark")]
    if chips:
        pieces.append(Piece(" (x drops the filter)", "muted"))
    return line(*pieces)


def runs_status(facts: PromotionFacts | None) -> Line:
    """How many runs there are."""
    if facts is None:
        return line(Piece("counting…", "muted"))
    return line(Piece(counted(facts.runs, "run"), "strong"), Piece(", newest first", "muted"))


def held_status(facts: PromotionFacts | None) -> Line:
    """How many memories no rule moves, and how many of them another program moved."""
    if facts is None:
        return line(Piece("counting…", "muted"))
    if not facts.held:
        return line(Piece("nothing is held", "muted"))
    moved = f" · {count(facts.moved_holds)} moved by another program" if facts.moved_holds else ""
    return line(
        Piece(counted(facts.held, "memory is held", "memories are held"), "strong"),
        Piece(", newest first", "muted"),
        Piece(moved, "warning"),
    )


def not_adopted_status() -> Line:
    """Why there is nothing to count in another program's store."""
    return line(Piece("not adopted: no accesses are recorded", "muted"))


def nothing_waits(facts: PromotionFacts | None, rule: str | None, *, is_automatic: bool) -> list[Line]:
    """Why no candidate is listed."""
    which = f" of {rule_words(rule)}" if rule else ""
    lines = [line(""), line(f"Nothing waits: no memory passes every criterion{which or ' of its rule'}.")]
    near = sum(facts.near.values()) if facts is not None else 0
    if near:
        lacking = counted(near, "memory lacks", "memories lack")
        lines.append(line(Piece(f"{lacking} one thing: ] shows which", "muted")))
    elif facts is not None:
        told = "Only what agents pull through tierdeck counts: `tierdeck sessions` lists who did."
        lines.append(line(Piece(told, "muted")))
    if is_automatic:
        lines.append(line(Piece("The rules move memories by themselves while an agent works.", "muted")))
    return lines


def nothing_near(rule: str | None) -> list[Line]:
    """Why nothing is near."""
    which = f" of {rule_words(rule)}" if rule else ""
    return [
        line(""),
        line(f"No memory lacks just one criterion{which}."),
        line(Piece("Of task only what was pulled is near, of longterm what is stale within 14 days.", "muted")),
    ]


def nothing_logged(chips: Sequence[str]) -> list[Line]:
    """Why the log is empty."""
    if chips:
        shown = " ".join(f"[{visible(chip, one_line=True)}]" for chip in chips)
        return [
            line(""),
            line("No row passes ", Piece(shown, "mark")),
            line(Piece("x drops the filter", "muted")),
        ]
    return [line(""), line("Nothing was moved, held or dismissed yet.")]


def no_runs() -> list[Line]:
    """Why no run is listed."""
    return [line(""), line("No run yet."), line(Piece("S shows what a sweep would move", "muted"))]


def none_held() -> list[Line]:
    """Why no hold is listed."""
    return [line(""), line("Nothing is held."), line(Piece("h on a memory lets no rule move it", "muted"))]


def not_adopted() -> list[Line]:
    """What every list says in another program's store."""
    return [
        line(""),
        line("Not adopted: no accesses are recorded, so the rules know nothing of these memories."),
        line(Piece("`tierdeck adopt` backs the store up and begins to record them.", "muted")),
    ]


def failed_lines(error: TierdeckError) -> list[Line]:
    """An error in place of a list, with what to do."""
    lines = [line(""), line(Piece(f"error: {visible(error.message, one_line=True)}", "error"))]
    if error.hint:
        lines.append(line(Piece(f"{visible(error.hint, one_line=True)}", "muted")))
    return lines


def _rule_letters(rule: str) -> str:
    """`t→s` for `task-session`."""
    return "→".join(tier[:1] for tier in rule.split("-"))
