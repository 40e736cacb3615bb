"""What worker threads tell the app; they post these and never touch a widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tierdeck.errors import TierdeckError
from tierdeck_tui.reading.checkpoint_facts import CheckpointFacts
from tierdeck_tui.reading.console import MeaningState
from tierdeck_tui.reading.overview_facts import OverviewFacts
from tierdeck_tui.reading.promotion_facts import PromotionFacts

if TYPE_CHECKING:
    from tierdeck.embed.coverage import Coverage


@dataclass
class MeaningChanged(Message):
    """The embedding model is loaded, or is known to be missing."""

    state: MeaningState


@dataclass
class IndexMoved(Message):
    """The index is being filled: `done` of `total` texts."""

    done: int
    total: int


@dataclass
class IndexFilled(Message):
    """The index holds all that it can hold now; `embedded` texts were added by this run."""

    embedded: int


@dataclass
class StoreChanged(Message):
    """The store was counted: first after it was opened, then whenever another program wrote to it."""

    memories: int
    is_first: bool


@dataclass
class BackgroundFailed(Message):
    """Something that goes on by itself can't go on; the operator is told once."""

    error: TierdeckError


@dataclass
class FactsRead(Message):
    """The Overview's facts were read."""

    facts: OverviewFacts


@dataclass
class VectorsCounted(Message):
    """How many memories have their vector was counted."""

    coverage: Coverage


@dataclass
class CheckpointsCounted(Message):
    """How many sessions are saved, and how they are, was counted."""

    facts: CheckpointFacts


@dataclass
class CheckpointsFailed(Message):
    """The checkpoints could not be counted."""

    error: TierdeckError


@dataclass
class FactsFailed(Message):
    """The Overview's facts could not be read."""

    error: TierdeckError


@dataclass
class VectorsFailed(Message):
    """The vectors could not be counted."""

    error: TierdeckError


@dataclass
class WaitingCounted(Message):
    """How many memories could be moved now: candidates that nothing blocks."""

    memories: int


@dataclass
class LogWanted(Message):
    """The operator wants to see what happened to a memory."""

    node_id: str


@dataclass
class MemoryWanted(Message):
    """The operator wants to see a memory on the Search screen."""

    node_id: str


@dataclass
class PromotionRead(Message):
    """The numbers of promotion were read."""

    facts: PromotionFacts


@dataclass
class PromotionFailed(Message):
    """They could not be read."""

    error: TierdeckError
