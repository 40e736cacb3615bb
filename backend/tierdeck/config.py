"""Settings as values. Where they come from is `config_file` and the command line; here only what they mean.

Precedence, highest first: flag, environment, the store's own setting (model and dimensions), settings file, the
defaults below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tierdeck.errors import InvalidValueError

Provider = Literal["auto", "local", "encoder", "openai", "off"]
Theme = Literal["dark", "light", "ansi"]
OriginKind = Literal["flag", "environment", "store", "file", "default"]

DEFAULT_ALPHA = 0.5
DEFAULT_LIMIT_ROWS = 20
MAX_LIMIT_ROWS = 1_000  # more hits than this no search gives
DEFAULT_REMOTE_MODEL = "text-embedding-3-small"
DEFAULT_REMOTE_DIMENSIONS = 1536
LOCAL_MODEL = "wordllama-256"
LOCAL_DIMENSIONS = 256
ENCODER_MODEL = "multilingual-e5-small-q4"
ENCODER_DIMENSIONS = 384
MAX_DIMENSIONS = 8_192  # sqlite-vec 0.1.9 refuses a longer vector column
# What one request of the embeddings API may carry.
MAX_REQUEST_TEXTS = 2_048
MAX_REQUEST_TOKENS = 300_000

# US dollars for a million input tokens, as the provider listed them in 2025; a setting, since prices change.
KNOWN_PRICES_USD = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`alpha` is the weight of meaning against words, 0 to 1. Spec: SPEC-09.05"""

    alpha: float = DEFAULT_ALPHA
    limit_rows: int = DEFAULT_LIMIT_ROWS


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Who makes the vectors.

    `auto` is the local model where it is installed and nothing otherwise: a key in the environment alone never
    sends a memory anywhere. Spec: SPEC-09.02, SPEC-09.07
    """

    provider: Provider = "auto"
    model: str = DEFAULT_REMOTE_MODEL
    dimensions: int = DEFAULT_REMOTE_DIMENSIONS
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    batch_rows: int = 64
    batch_tokens: int = 100_000
    max_attempts: int = 5
    timeout_s: float = 30.0
    send_secrets: bool = False
    prices_usd: Mapping[str, float] = field(default_factory=lambda: dict(KNOWN_PRICES_USD))


@dataclass(frozen=True, slots=True)
class PromotionSettings:
    """What a memory needs to move between tiers; `automatic` False leaves every move to a person or to `sweep`.

    Spec: SPEC-09.11, SPEC-09.12
    """

    automatic: bool = True
    session_pulls: int = 2
    longterm_sessions: int = 3
    longterm_successes: int = 1
    longterm_confidence: float = 0.8
    archive_days: int = 90


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """How an agent's session saves itself, and what is kept. `folder` None means the platform's place for state.

    `every_turns` 0 makes no automatic checkpoint. `keep_days` 0 keeps them whatever their age. `key_file` holds the
    key that checkpoints are sealed with; None: nobody has set one.

    Spec: SPEC-09.24
    """

    folder: str | None = None
    every_turns: int = 5
    keep_last: int = 10
    keep_mb: int = 2_048
    keep_days: int = 0
    key_file: str | None = None


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """The terminal console. `keymap` maps an action's id to its keys; `operator` signs what a person changes."""

    theme: Theme = "dark"
    debounce_ms: int = 120
    operator: str | None = None
    keymap: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one run. `store` None means the family's default place."""

    store: str | None = None
    search: SearchSettings = field(default_factory=SearchSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    promotion: PromotionSettings = field(default_factory=PromotionSettings)
    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a setting's value comes from; `name` is the flag, the variable or the file, None for the others."""

    kind: OriginKind
    name: str | None = None

    def __str__(self) -> str:
        return self.kind if self.name is None else f"{self.kind} {self.name}"


DEFAULT_ORIGIN = Origin("default")


def checked_alpha(value: float) -> float:
    """The weight of meaning, checked: a finite number from 0 to 1.

    Raises:
        InvalidValueError: it is anything else; NaN and infinities too.
    Spec: SPEC-09.05
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValueError(f"set alpha: {value!r} is not a number", hint="give a number from 0 to 1")
    if not 0.0 <= value <= 1.0:  # false for NaN too
        raise InvalidValueError(
            f"set alpha: {value!r:.40} is outside 0 to 1", hint="0 is words only, 1 meaning only"
        )
    return float(value)
