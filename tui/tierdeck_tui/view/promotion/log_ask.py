"""Which rows of the log an operator asked for, as it was typed, and what that means. Pure; the clock is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from tierdeck.model import Tier
from tierdeck.promote.records import LogFilter, LogKind
from tierdeck.promote.rules import RuleName
from tierdeck_tui.view.typed_time import past_time_ms

KINDS: tuple[LogKind, ...] = get_args(LogKind)
RULES: tuple[RuleName, ...] = get_args(RuleName)


@dataclass(frozen=True, slots=True)
class LogAsk:
    """What was typed; an empty text asks for nothing. `memory` and `run` are set by the rows that lead here."""

    actor: str = ""
    tier: str = ""
    kind: str = ""
    rule: str = ""
    since: str = ""
    until: str = ""
    memory: str = ""
    run: int | None = None

    @property
    def chips(self) -> tuple[str, ...]:
        """Each condition in a word."""
        named = (
            ("memory", self.memory[:8]),
            ("run", "" if self.run is None else str(self.run)),
            ("by", self.actor),
            ("tier", self.tier),
            ("kind", self.kind),
            ("rule", self.rule),
            ("since", self.since),
            ("until", self.until),
        )
        return tuple(f"{name}:{value}" for name, value in named if value)

    def meaning(self, now_ms: int) -> LogFilter:
        """The filter that it means.

        Raises:
            ValueError: a kind, rule, tier or time can't be read; the text says what it may be.
        """
        return LogFilter(
            node_id=self.memory or None,
            actor=self.actor or None,
            tier=_one_of("tier", self.tier, tuple(Tier)),
            rule=_one_of("rule", self.rule, RULES),
            kind=_kind(self.kind),
            run_id=self.run,
            since_ms=_time("since", self.since, now_ms),
            until_ms=_time("until", self.until, now_ms),
        )


def _kind(text: str) -> LogKind | None:
    found = _one_of("kind", text, KINDS)
    return next((kind for kind in KINDS if kind == found), None)


def _one_of(field: str, text: str, choices: tuple[str, ...]) -> str | None:
    """The choice that the text is, or that alone begins so."""
    found = begun_by(text, choices)
    if text and found is None:
        raise ValueError(f"{field}: {text} is none of {', '.join(choices)}")
    return found


def begun_by(text: str, choices: tuple[str, ...]) -> str | None:
    """The choice that a text is, or that alone begins so, whatever its case; None for none."""
    if text.lower() in choices:
        return text.lower()
    begun = [choice for choice in choices if text and choice.startswith(text.lower())]
    return begun[0] if len(begun) == 1 else None


def _time(bound: str, text: str, now_ms: int) -> int | None:
    try:
        return past_time_ms("since" if bound == "since" else "until", text, now_ms)
    except ValueError as e:
        raise ValueError(f"{bound} {e}") from e
