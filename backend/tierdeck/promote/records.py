"""What promotion keeps in the store, as values: rows of the log, holds and runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tierdeck.promote.rules import Criterion

LogKind = Literal["auto", "approve", "override", "undo", "hold", "release", "dismiss"]
RunKind = Literal["sweep", "session-end", "override", "approve", "undo"]
AUTOMATIC_ACTOR = "rules"  # who moved a memory, in the log, when nobody did


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One row of the promotion log. `criteria` are those of the decision, found and needed as they were then.

    A hold, a release and a dismissal have the memory's tier as `from_tier` and `to_tier`, and an undo of one too.
    """

    id: int
    at_ms: int
    node_id: str
    from_tier: str | None
    to_tier: str | None
    kind: LogKind
    rule: str | None
    rule_version: str | None
    criteria: tuple[Criterion, ...]
    actor: str
    reason: str | None
    run_id: int | None
    content_digest: str | None
    undoes: int | None
    evolution_id: int | None

    @property
    def is_move(self) -> bool:
        """Whether the memory changed its tier by it."""
        return self.from_tier != self.to_tier


@dataclass(frozen=True, slots=True)
class LogDraft:
    """A row for the promotion log, before the log gives it its place and its digest; fields as in `LogEntry`."""

    node_id: str
    from_tier: str | None
    to_tier: str | None
    kind: LogKind
    actor: str
    at_ms: int
    rule: str | None = None
    rule_version: str | None = None
    criteria: tuple[Criterion, ...] = ()
    reason: str | None = None
    run_id: int | None = None
    content_digest: str | None = None
    undoes: int | None = None
    evolution_id: int | None = None


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which rows of the log to show; None lets everything through. `tier` is either end of a move.

    A row at `since_ms` is in, one at `until_ms` is not.
    """

    node_id: str | None = None
    actor: str | None = None
    tier: str | None = None
    rule: str | None = None
    kind: LogKind | None = None
    run_id: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """A memory that no rule moves. `moved_to` names the tier that another program gave it meanwhile."""

    node_id: str
    tier: str
    set_at_ms: int
    until_ms: int | None
    actor: str
    reason: str | None
    log_id: int
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run over several memories. `ended_at_ms` None: it is still going on, or was killed.

    `rejections` counts, by criterion, the memories that failed it.
    """

    id: int
    kind: RunKind
    at_ms: int
    ended_at_ms: int | None
    actor: str
    reason: str | None
    rule_version: str | None
    planned: int
    moved: int
    refused: int
    rejections: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A memory that was left as it is: why, and the tier it is in now (None: there is no such memory)."""

    node_id: str
    why: str
    tier_now: str | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did: the memories moved, in their order, and those refused.

    `run_id` None: nothing was to do, or it was no run but holds, releases or dismissals: `moved` are their ids.
    """

    run_id: int | None
    moved: tuple[str, ...]
    refused: tuple[Refused, ...]
