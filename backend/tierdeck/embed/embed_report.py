"""What a run of the indexer says, while it runs and when it ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbedProgress:
    """How far a run is. `text` is the head of a text just done, with nothing in it that looks like a secret."""

    done: int
    total: int
    failed: int
    text: str


@dataclass(frozen=True, slots=True)
class EmbedFault:
    """A memory without a vector, and why; `is_permanent`: only a new text or model helps."""

    node_id: str
    error: str
    is_permanent: bool


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What a run did: of `asked` memories, how many have their vector now, and what became of the others.

    `pending` waits for another run, `failed` was refused for good, `skipped` was left out on purpose (off, empty,
    or a secret). `errors` names the first 100 that were refused. `stopped` is the reason when the run ended early.
    """

    asked: int
    embedded: int
    pending: int
    failed: int
    skipped: int
    errors: tuple[EmbedFault, ...] = ()
    stopped: str | None = None
