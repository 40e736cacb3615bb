"""What the Overview tells about a store, read in one worker and handed to the screen as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import apsw

from tierdeck_tui.console import Console


@dataclass(frozen=True, slots=True)
class OverviewFacts:
    """The store in numbers. Times are milliseconds since the epoch, None where there is none."""

    path: str
    kind: str
    access: str
    size_bytes: int
    by_tier: Mapping[str, int] = field(default_factory=dict)
    by_type: Mapping[str, int] = field(default_factory=dict)

    @property
    def memories(self) -> int:
        """All memories, archived ones too."""
        return sum(self.by_tier.values())


def read_facts(console: Console) -> OverviewFacts:
    """Read the facts; counts are one snapshot of the store.

    Raises:
        StoreError: the store can't be read; nothing was changed.
    """
    store = console.store

    def count(conn: apsw.Connection) -> tuple[dict[str, int], dict[str, int]]:
        tiers: dict[str, int] = {}
        types: dict[str, int] = {}
        for tier, kind, rows in conn.execute("SELECT tier, type, count(*) FROM nodes GROUP BY tier, type"):
            tiers[str(tier)] = tiers.get(str(tier), 0) + int(str(rows))
            types[str(kind)] = types.get(str(kind), 0) + int(str(rows))
        return tiers, types

    by_tier, by_type = store.read(count)
    return OverviewFacts(
        str(store.path), store.kind.value, console.access, store.path.stat().st_size, by_tier, by_type
    )
