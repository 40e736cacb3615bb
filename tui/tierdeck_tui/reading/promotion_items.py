"""The rows of the Promotions screen's lists, read page by page in workers; what `RowList` shows.

A page knows how to read the one after it, so that a list needs to know neither what it lists nor by which key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tierdeck.model import NodeRow
from tierdeck.promote.log.entries import entries
from tierdeck.promote.log.undone import undone_in, undone_of_runs
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.outlook.candidate_page import Candidate, CandidatePage, Place
from tierdeck.promote.outlook.candidates import candidates
from tierdeck.promote.outlook.near import near
from tierdeck.promote.records import Hold, LogEntry, LogFilter, Run
from tierdeck.promote.rules import RuleName, Rules
from tierdeck.store import Store
from tierdeck.store.rows import read_rows

PAGE_ROWS = 100


@dataclass(frozen=True, slots=True)
class CandidateItem:
    """A memory that passes every criterion, or lacks one."""

    candidate: Candidate

    @property
    def key(self) -> str:
        """What tells it from the others of its list."""
        return self.candidate.decision.node_id

    @property
    def node_id(self) -> str | None:
        """The memory that it is about."""
        return self.candidate.decision.node_id


@dataclass(frozen=True, slots=True)
class LogItem:
    """A row of the log, with the memory as it is now (None when it is gone), and whether it was taken back."""

    entry: LogEntry
    row: NodeRow | None
    is_undone: bool = False

    @property
    def key(self) -> str:
        """What tells it from the others of its list."""
        return str(self.entry.id)

    @property
    def node_id(self) -> str | None:
        """The memory that it is about."""
        return self.entry.node_id


@dataclass(frozen=True, slots=True)
class RunItem:
    """A run, and how many of its rows were taken back; it is about no single memory."""

    run: Run
    undone: int = 0

    @property
    def key(self) -> str:
        """What tells it from the others of its list."""
        return str(self.run.id)

    @property
    def node_id(self) -> str | None:
        """None: it is about several."""
        return None


@dataclass(frozen=True, slots=True)
class HoldItem:
    """A memory that is held; `row` None: another program deleted it just now."""

    hold: Hold
    row: NodeRow | None

    @property
    def key(self) -> str:
        """What tells it from the others of its list."""
        return self.hold.node_id

    @property
    def node_id(self) -> str | None:
        """The memory that it is about."""
        return self.hold.node_id


Item = CandidateItem | LogItem | RunItem | HoldItem
# Reads at most so many rows, in a worker.
ReadItems = Callable[[int], "ItemPage"]


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Some rows in their order, and what reads those behind them; None at the end."""

    items: tuple[Item, ...]
    more: ReadItems | None = None


def candidate_items(store: Store, rules: Rules, rule: RuleName | None = None) -> ReadItems:
    """The memories that pass every criterion of their rule."""
    return _candidate_pages(
        lambda after, rows: candidates(store, rules, store.now_ms(), rule=rule, after=after, limit_rows=rows), None
    )


def near_items(store: Store, rules: Rules, rule: RuleName | None = None) -> ReadItems:
    """The memories that lack one criterion."""
    return _candidate_pages(
        lambda after, rows: near(store, rules, store.now_ms(), rule=rule, after=after, limit_rows=rows), None
    )


def log_items(store: Store, log_filter: LogFilter, before_id: int | None = None) -> ReadItems:
    """The rows of the log that a filter lets through, newest first."""

    def read(limit_rows: int) -> ItemPage:
        found = entries(store, log_filter, before_id=before_id, limit_rows=limit_rows)
        ids = list(dict.fromkeys(entry.node_id for entry in found))
        rows, undone = store.read(lambda conn: (read_rows(conn, ids), undone_in(conn, ids)))
        items = tuple(LogItem(entry, rows.get(entry.node_id), entry.id in undone) for entry in found)
        return ItemPage(items, log_items(store, log_filter, found[-1].id) if len(found) == limit_rows else None)

    return read


def run_items(store: Store, before_id: int | None = None) -> ReadItems:
    """The runs, newest first."""

    def read(limit_rows: int) -> ItemPage:
        found = runs(store, before_id=before_id, limit_rows=limit_rows)
        more = run_items(store, found[-1].id) if len(found) == limit_rows else None
        undone = undone_by_run(store, found)
        return ItemPage(tuple(RunItem(run, undone.get(run.id, 0)) for run in found), more)

    return read


def hold_items(store: Store, after: int = 0) -> ReadItems:
    """The memories that are held, the latest first; `after`: so many come before."""

    def read(limit_rows: int) -> ItemPage:
        found = holds(store)[after : after + limit_rows]
        rows = store.read(lambda conn: read_rows(conn, [hold.node_id for hold in found]))
        more = hold_items(store, after + limit_rows) if len(found) == limit_rows else None
        return ItemPage(tuple(HoldItem(hold, rows.get(hold.node_id)) for hold in found), more)

    return read


def undone_by_run(store: Store, found: Sequence[Run]) -> Mapping[int, int]:
    """How many rows of each of these runs, newest first, were taken back; one without any is left out."""
    if not found:
        return {}
    return store.read(lambda conn: undone_of_runs(conn, found[-1].id, found[0].id))


def _candidate_pages(ask: Callable[[Place | None, int], CandidatePage], after: Place | None) -> ReadItems:
    def read(limit_rows: int) -> ItemPage:
        page = ask(after, limit_rows)
        more = None if page.next is None else _candidate_pages(ask, page.next)
        return ItemPage(tuple(CandidateItem(candidate) for candidate in page.rows), more)

    return read
