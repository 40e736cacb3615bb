"""One run of a verb: which store, which settings, who acts. Every verb gets it as its first argument."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tierdeck.config import Origin, Settings
from tierdeck.config_file import LoadedSettings, read_settings
from tierdeck.errors import ReadOnlyStoreError
from tierdeck.store import Store, default_path, open_store
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.operator_name import operator_name


@dataclass
class Run:
    """What the flags of the root and of the verb say. `is_json` asks for one JSON document on stdout."""

    db: str | None = None
    config: str | None = None
    read_only: bool = False
    is_json: bool = False
    debug: bool = False
    _flags: dict[str, tuple[object, str]] = field(default_factory=dict)

    def use_flag(self, name: str, value: object, flag: str) -> None:
        """Put a flag's value over a setting; None leaves it as it is. Called before the settings are read."""
        if value is not None:
            self._flags[name] = (value, flag)

    @cached_property
    def loaded(self) -> LoadedSettings:
        """The settings in force, each with its origin; read once.

        Raises:
            ConfigError: the file or a variable is wrong.
            InvalidValueError: a flag's value is wrong.
        """
        loaded = read_settings(path_of(self.config) if self.config else None)
        if self.db:
            loaded = loaded.with_value("store.path", self.db, Origin("flag", "--db"))
        for name, (value, flag) in self._flags.items():
            loaded = loaded.with_value(name, value, Origin("flag", flag))
        return loaded

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def store_path(self) -> Path:
        """The store's file: `--db`, `RLM_MEMORY_DB`, the settings file, or the family's place."""
        return path_of(self.settings.store) if self.settings.store else default_path()

    @property
    def actor(self) -> str:
        """Who signs a change."""
        return operator_name(self.settings.console)

    def refuse_read_only(self, doing: str) -> None:
        """Refuse what writes to the store's file without opening the store.

        Raises:
            ReadOnlyStoreError: `--read-only` was given.
        """
        if self.read_only:
            raise ReadOnlyStoreError(f"{doing} {self.store_path}: --read-only was given", hint="leave it out")

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[Store]:
        """The store, open while the block runs; raises as `open_store` does."""
        with open_store(self.store_path, create=create, read_only=self.read_only) as store:
            yield store
