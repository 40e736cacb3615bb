"""What the Overview tells about a store, read in a worker and handed to the screen as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck.errors import TierdeckError
from tierdeck.index.path import index_path
from tierdeck.maintenance.health import Check
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.records import Run
from tierdeck.store import Store, StoreCounts, StoreKind, counts, time_ms_sql
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import PromotionFacts, read_promotion_facts

_TIMES = ("created_at", "updated_at", "last_accessed")
_LAST = f"SELECT {', '.join(f'max({time_ms_sql(column)})' for column in _TIMES)} FROM nodes"


@dataclass(frozen=True, slots=True)
class OverviewFacts:
    """The store in numbers. Times are milliseconds since the epoch, None where there is none; sizes with logs.

    `checks` are those that cost milliseconds at any size; `tierdeck doctor` makes them all. `promotion` is None in
    a store that records no accesses; `moved_holds` are the held memories that another program moved all the same;
    `last_sweep` is the latest that began.
    """

    shown_path: str
    kind: StoreKind
    access: str
    counts: StoreCounts
    store_bytes: int
    index_bytes: int
    created_at_ms: int | None
    changed_at_ms: int | None
    used_at_ms: int | None
    sessions: int | None
    checks: tuple[Check, ...]
    promotion: PromotionFacts | None = None
    moved_holds: int = 0
    last_sweep: Run | None = None


def read_facts(deck: Console) -> OverviewFacts:
    """Read the facts; a check that fails is shown as one that failed and hides none of the others.

    Raises:
        StoreError: the store can't be read; nothing was changed.
    """
    store = deck.store
    created, changed, used = store.read(lambda conn: _times(conn.execute(_LAST).fetchone()))
    return OverviewFacts(
        shown_path=_below_home(store.path),
        kind=store.kind,
        access=deck.access,
        counts=counts(store),
        store_bytes=_bytes(store.path),
        index_bytes=_bytes(index_path(store)),
        created_at_ms=created,
        changed_at_ms=changed,
        used_at_ms=used,
        sessions=_sessions(store),
        checks=_checks(store),
        promotion=read_promotion_facts(deck) if store.has_table("td_facts") else None,
        last_sweep=next(iter(runs(store, kind="sweep", limit_rows=1)), None),
        moved_holds=sum(hold.moved_to is not None for hold in holds(store, now_ms=store.now_ms())),
    )


def _times(row: tuple[object, ...] | None) -> tuple[int | None, int | None, int | None]:
    created, changed, used = (int(str(value)) if value else None for value in row or (None, None, None))
    return created, changed, used


def _sessions(store: Store) -> int | None:
    if not store.has_table("td_session"):
        return None
    return store.read(lambda conn: _count(conn, "SELECT count(*) FROM td_session"))


def _count(conn: apsw.Connection, sql: str) -> int:
    [(count,)] = conn.execute(sql).fetchall()
    return int(str(count))


def _checks(store: Store) -> tuple[Check, ...]:
    # After the first paint: they bring in backups, journals and numpy.
    from tierdeck.maintenance.file_checks import check_place
    from tierdeck.maintenance.index_checks import check_index_file
    from tierdeck.maintenance.schema_check import check_schema

    looks: tuple[tuple[str, Callable[[], list[Check]]], ...] = (
        ("file", lambda: check_place(store)),
        ("schema", lambda: [store.read(lambda conn: check_schema(conn, store.kind))]),
        ("index-file", lambda: [check_index_file(store, is_thorough=False)]),
    )
    found: list[Check] = []
    for name, look in looks:
        try:
            found += look()
        except TierdeckError as e:
            found.append(Check(name, "bad", e.message, e.hint))
    return tuple(found)


def _below_home(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for end in ("", "-wal") if (file := Path(f"{path}{end}")).exists())
