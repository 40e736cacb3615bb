"""The values every room shares: memories, relations, their history, and the filter that picks them.

No I/O here and nothing of ours is imported: a value can be made and compared in a test without a store. Times are
whole milliseconds since the epoch, UTC (`_ms`); the family's columns mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Literal

MAX_CONTENT_BYTES = 10_000_000
SHORT_ID_CHARS = 8
EXCERPT_CHARS = 400


class Tier(StrEnum):
    """How long a memory is meant to live, from one task to the archive. Spec: SPEC-02.17"""

    TASK = "task"
    SESSION = "session"
    LONGTERM = "longterm"
    ARCHIVE = "archive"


class NodeType(StrEnum):
    """What kind of thing a memory is. Spec: SPEC-02.05"""

    ENTITY = "entity"
    FACT = "fact"
    EXPERIENCE = "experience"
    DECISION = "decision"
    SNIPPET = "snippet"


class EdgeType(StrEnum):
    """What kind of bond a hyperedge is. Spec: SPEC-02.11"""

    RELATION = "relation"
    COMPOSITION = "composition"
    CAUSATION = "causation"
    CONTEXT = "context"


class AccessKind(StrEnum):
    """How a memory came to be looked at: asked for and used, pushed unasked, listed, or upkeep."""

    PULL = "pull"
    PUSH = "push"
    SHOWN = "shown"
    MAINTENANCE = "maintenance"


Outcome = Literal["success", "failure"]
Trigger = Literal["outcome", "decay", "consolidation", "manual"]
RevisionKind = Literal["edit", "archive", "restore", "undo", "purge"]


@dataclass(frozen=True, slots=True)
class Node:
    """One memory as it stands in the store.

    `problems` names what could not be read as the schema promises ("created_at: 'soon' is not a time"); such a
    node is shown with its problems, never hidden. Spec: SPEC-02.06 to SPEC-02.10
    """

    id: str
    type: NodeType
    content: str
    tier: Tier = Tier.TASK
    confidence: float = 0.5
    subtype: str | None = None
    provenance: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    created_at_ms: int | None = None
    updated_at_ms: int | None = None
    last_accessed_ms: int | None = None
    access_count: int = 0
    problems: tuple[str, ...] = ()

    @property
    def short_id(self) -> str:
        """The first eight characters, as lists show it; commands take it where it is unambiguous."""
        return self.id[:SHORT_ID_CHARS]


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A memory as a list shows it: its head only, so that a page of rows never reads a 10 MB body.

    `excerpt` is `EXCERPT_CHARS` characters of the text at most: from its beginning, and in a search from
    `excerpt_start` where its words stand farther on. `content_chars` is the length of the whole.
    """

    id: str
    type: NodeType
    tier: Tier
    confidence: float
    excerpt: str
    content_chars: int
    created_at_ms: int | None
    last_accessed_ms: int | None
    access_count: int
    problems: tuple[str, ...] = ()
    excerpt_start: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether the text goes on after the excerpt."""
        return self.content_chars > self.excerpt_start + len(self.excerpt)

    @property
    def short_id(self) -> str:
        """The first eight characters, as lists show it; commands take it where it is unambiguous."""
        return self.id[:SHORT_ID_CHARS]


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A memory to be written. Without an `id` a UUID4 is drawn; without times, now is used.

    `compute_embedding` False keeps the text from ever being embedded. Spec: SPEC-09.06
    """

    content: str
    type: NodeType = NodeType.FACT
    tier: Tier = Tier.TASK
    confidence: float = 0.5
    subtype: str | None = None
    provenance: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    id: str | None = None
    created_at_ms: int | None = None
    compute_embedding: bool = True
    updated_at_ms: int | None = None
    last_accessed_ms: int | None = None
    access_count: int = 0


@dataclass(frozen=True, slots=True)
class NodeChanges:
    """What an edit replaces; None leaves a field as it is. To empty a text field give an empty string."""

    content: str | None = None
    type: NodeType | None = None
    subtype: str | None = None
    confidence: float | None = None
    provenance: str | None = None
    metadata: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A memory's place in a hyperedge. Spec: SPEC-02.14 to SPEC-02.16"""

    node_id: str
    role: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A bond between any number of memories; `problems` as in `Node`. Spec: SPEC-02.11 to SPEC-02.13"""

    id: str
    type: EdgeType
    label: str | None
    weight: float
    members: tuple[Member, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TierMove:
    """One move between tiers as the family's `evolution_log` has it; `id` is its row there. Spec: SPEC-02.18"""

    at_ms: int | None
    operation: str
    from_tier: str | None
    to_tier: str | None
    reasoning: str | None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class ConfidenceChange:
    """One step of a memory's confidence; `trigger` is one of `Trigger`, or what another program wrote there."""

    at_ms: int | None
    old: float
    new: float
    trigger: str
    trigger_id: str | None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One run of an agent. `root_id` is the session it all began with; a sub-agent's session has a parent."""

    id: int
    external_id: str
    run: int
    root_id: int
    parent_id: int | None
    project: str | None
    agent: str | None
    started_at_ms: int
    ended_at_ms: int | None
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """One look at a memory, with the session it came from."""

    node_id: str
    session: SessionRow
    kind: AccessKind
    outcome: str | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of a memory that can be taken back: what stood there before, who changed it, when and why."""

    id: int
    node_id: str
    at_ms: int
    kind: RevisionKind
    actor: str
    reason: str | None
    undoes: int | None


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which memories a list or a search may show. Empty sets let everything through.

    Archived memories are left out unless `include_archived`, or `tiers` names the archive. Spec: SPEC-03.19

    A memory made at `since_ms` is in, one made at `until_ms` is not, one whose time can't be read is in neither.
    `metadata` pairs are compared as text with the value at that top-level key; both are data, never SQL.
    """

    tiers: frozenset[Tier] = frozenset()
    types: frozenset[NodeType] = frozenset()
    min_confidence: float | None = None
    max_confidence: float | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    session: str | None = None
    project: str | None = None
    tag: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    include_archived: bool = False

    @property
    def shows_archived(self) -> bool:
        """Whether archived memories may show."""
        return self.include_archived or Tier.ARCHIVE in self.tiers


def content_hash(text: str) -> str:
    """The digest that ties a vector to the text it was made from (BLAKE2b-128, hex)."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
