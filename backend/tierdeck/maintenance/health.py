"""What looking a store over gives: one line for each thing looked at, how it stands, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tierdeck.migrate import StoreKind

CheckState = Literal["ok", "info", "warn", "bad"]
_WEIGHT: dict[CheckState, int] = {"ok": 0, "info": 0, "warn": 1, "bad": 2}
DETAILS = 20
REBUILD_SEARCH_INDEX = "tierdeck doctor --repair search-index"
REBUILD_BITS = "tierdeck doctor --repair vector-bits"
REBUILD_TERMS = "tierdeck doctor --repair extra-terms"
REBUILD_WORDS = "tierdeck doctor --repair word-list"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    `name` is stable and is what `repair` takes; `text` one line for the operator; `fix` the command that mends it,
    or None when there is nothing to mend or no command does; `details` at most `DETAILS` lines, the first of what
    was found. "info" states a fact that is neither good nor bad.
    """

    name: str
    state: CheckState
    text: str
    fix: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """Every check of one store, in a fixed order. `kind` is None when the file could not be opened as a store."""

    path: Path
    kind: StoreKind | None
    checks: tuple[Check, ...]

    @property
    def state(self) -> CheckState:
        """The worst of all: "bad", "warn" or "ok"."""
        worst = max((_WEIGHT[check.state] for check in self.checks), default=0)
        return ("ok", "warn", "bad")[worst]

    def check(self, name: str) -> Check:
        """The check of that name; KeyError without one."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)
