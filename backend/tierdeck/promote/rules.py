"""The promotion rules. Pure: the facts of one memory, the rules' numbers and the time in, a decision out.

A decision lists every criterion with what was found and what is needed, so "why" and "why not yet" are the same
data, whoever asks: the automatic run, the dry run, the board, the log or a test.

| rule | moves | what it needs, all of it |
|---|---|---|
| `task-session` | task to session | enough pulls within one root session |
| `session-longterm` | session to longterm | enough root sessions, successes, no more failures, confidence held |
| `longterm-archive` | longterm to archive | unused for more than so many days |
| `archive-longterm` | archive to longterm | pulled again since it was archived; only ever by hand |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tierdeck.config import PromotionSettings
from tierdeck.model import Tier

RuleName = Literal["task-session", "session-longterm", "longterm-archive", "archive-longterm"]
CriterionName = Literal[
    "pulls in one session", "sessions", "successes", "failures", "confidence held", "days unused", "pulls since"
]
Comparison = Literal[">=", "<=", ">"]
Block = Literal["held", "dismissed"]

# What the rules mean, apart from their numbers: raised when a criterion is added, dropped or read differently.
LOGIC_VERSION = 1
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of the rules. Spec: SPEC-09.11, SPEC-09.12"""

    session_pulls: int = 2
    longterm_sessions: int = 3
    longterm_successes: int = 1
    longterm_confidence: float = 0.8
    archive_days: int = 90

    @property
    def version(self) -> str:
        """What tells two rule sets apart, as the log keeps it: the logic's version and every number."""
        numbers = (
            self.session_pulls, self.longterm_sessions, self.longterm_successes, self.longterm_confidence,
            self.archive_days,
        )  # fmt: skip
        return f"{LOGIC_VERSION}:" + "/".join(map(_exact, numbers))


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at in one memory. Only pulls after the latest move by hand are counted.

    `tier` is a text because another program may have written any. `max_pulls` is the most pulls within one root
    session; `successes` and `failures` count root sessions. `confidence_held` is the least confidence over the
    latest three root sessions, None without any; `has_history` False means that no change of it is on record.
    `last_use_ms` is the latest of last pull, the family's `last_accessed`, the latest move by hand, and the day
    tracking began. `pulls_since` counts pulls since an archived memory was archived. `future` names times that
    lie after now: a clock jumped.
    """

    node_id: str
    tier: str
    max_pulls: int = 0
    sessions: int = 0
    successes: int = 0
    failures: int = 0
    confidence: float = 0.5
    confidence_held: float | None = None
    has_history: bool = False
    last_use_ms: int = 0
    pulls_since: int = 0
    last_pull_ms: int | None = None
    block: Block | None = None
    future: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing a rule asks for: passed when `found` `comparison` `needed`. `found` None: there is none yet."""

    name: CriterionName
    found: float | None
    comparison: Comparison
    needed: float
    passed: bool
    note: str = ""

    @property
    def lacks(self) -> float:
        """How much more is needed; 0 when it passed."""
        return 0 if self.passed else abs(self.needed - (self.found or 0))


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say of one memory at one moment.

    `rule` and `to_tier` are None when no rule is for its tier. `is_due` is the answer: every criterion passed,
    nothing blocks it, and the rule may act by itself.
    """

    node_id: str
    from_tier: str
    rule: RuleName | None
    to_tier: Tier | None
    criteria: tuple[Criterion, ...]
    block: Block | None
    rule_version: str

    @property
    def passes(self) -> bool:
        """Whether every criterion passed; a candidate, also when it is held or moves by hand only."""
        return self.rule is not None and all(criterion.passed for criterion in self.criteria)

    @property
    def is_due(self) -> bool:
        """Whether the rules move it."""
        return self.passes and self.block is None and self.rule != "archive-longterm"

    @property
    def lacking(self) -> tuple[Criterion, ...]:
        """The criteria that did not pass."""
        return tuple(criterion for criterion in self.criteria if not criterion.passed)


DEFAULT_RULES = Rules()


def rules_of(settings: PromotionSettings) -> Rules:
    """The rules with the numbers of the settings."""
    return Rules(
        session_pulls=settings.session_pulls,
        longterm_sessions=settings.longterm_sessions,
        longterm_successes=settings.longterm_successes,
        longterm_confidence=settings.longterm_confidence,
        archive_days=settings.archive_days,
    )


def decide(facts: Facts, rules: Rules, now_ms: int) -> Decision:
    """What the rules say of a memory: one step at most, and every criterion of it.

    Ages are never negative: a time after `now_ms` counts as now, and the criterion's note says "clock".

    Spec: SPEC-09.11, SPEC-09.12
    """
    step = _STEPS.get(facts.tier)
    if step is None:
        return Decision(facts.node_id, facts.tier, None, None, (), facts.block, rules.version)
    rule, to_tier, criteria_of = step
    criteria = criteria_of(facts, rules, now_ms)
    return Decision(facts.node_id, facts.tier, rule, to_tier, criteria, facts.block, rules.version)


def _task_criteria(facts: Facts, rules: Rules, _now_ms: int) -> tuple[Criterion, ...]:
    return (_at_least("pulls in one session", facts.max_pulls, rules.session_pulls),)


def _session_criteria(facts: Facts, rules: Rules, _now_ms: int) -> tuple[Criterion, ...]:
    held = facts.confidence_held
    return (
        _at_least("sessions", facts.sessions, rules.longterm_sessions),
        _at_least("successes", facts.successes, rules.longterm_successes),
        Criterion("failures", facts.failures, "<=", facts.successes, facts.failures <= facts.successes),
        Criterion(
            "confidence held",
            held,
            ">=",
            rules.longterm_confidence,
            held is not None and held >= rules.longterm_confidence,
            "" if facts.has_history else "no history",
        ),
    )


def _longterm_criteria(facts: Facts, rules: Rules, now_ms: int) -> tuple[Criterion, ...]:
    unused_ms = max(0, now_ms - facts.last_use_ms)
    is_stale = unused_ms > rules.archive_days * DAY_MS
    note = f"clock: {', '.join(facts.future)} in the future" if facts.future else ""
    return (Criterion("days unused", unused_ms / DAY_MS, ">", rules.archive_days, is_stale, note),)


def _archive_criteria(facts: Facts, _rules: Rules, _now_ms: int) -> tuple[Criterion, ...]:
    return (_at_least("pulls since", facts.pulls_since, 1),)


def _exact(number: float) -> str:
    """The number in as few digits as tell it from every other."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _at_least(name: CriterionName, found: int, needed: int) -> Criterion:
    return Criterion(name, found, ">=", needed, found >= needed)


_CriteriaOf = Callable[[Facts, Rules, int], tuple[Criterion, ...]]
_STEPS: dict[str, tuple[RuleName, Tier, _CriteriaOf]] = {
    Tier.TASK: ("task-session", Tier.SESSION, _task_criteria),
    Tier.SESSION: ("session-longterm", Tier.LONGTERM, _session_criteria),
    Tier.LONGTERM: ("longterm-archive", Tier.ARCHIVE, _longterm_criteria),
    Tier.ARCHIVE: ("archive-longterm", Tier.LONGTERM, _archive_criteria),
}
FROM_TIER: Mapping[RuleName, Tier] = {rule: Tier(tier) for tier, (rule, *_) in _STEPS.items()}
