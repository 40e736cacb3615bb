"""What waits for a person in promotion, read in a worker: for the tabs, the header's badge and the Overview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.log.entries import count_entries, moves_per_day
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.runs import count_runs, runs
from tierdeck.promote.outlook.candidates import count_candidates
from tierdeck.promote.outlook.near import count_near
from tierdeck.promote.records import LogFilter, Run
from tierdeck.promote.rules import RuleName, Rules, rules_of
from tierdeck_tui.reading.console import Console

LAST_RUNS = 3
SPARK_DAYS = 30


@dataclass(frozen=True, slots=True)
class PromotionFacts:
    """Promotion in numbers. `last_runs` newest first; `by_day` the moves of the last days, oldest first.

    `moved_holds` are those of the held memories that another program moved all the same.
    """

    candidates: Mapping[RuleName, int]
    near: Mapping[RuleName, int]
    held: int
    log_rows: int
    runs: int
    last_runs: tuple[Run, ...]
    by_day: tuple[tuple[str, int], ...]
    moved_holds: int = 0

    @property
    def waiting(self) -> int:
        """How many memories could be moved now."""
        return sum(self.candidates.values())


def read_promotion_facts(deck: Console) -> PromotionFacts:
    """Read them.

    Raises:
        ReadOnlyStoreError: no accesses are recorded in this store; the hint says what would.
        StoreError: the store can't be read.
    """
    store, rules = deck.store, configured_rules(deck)
    check_tracked(store)
    now = store.now_ms()
    held = holds(store, now_ms=now)
    return PromotionFacts(
        candidates=dict(count_candidates(store, rules, now)),
        near=dict(count_near(store, rules, now)),
        held=len(held),
        log_rows=count_entries(store, LogFilter()),
        runs=count_runs(store),
        last_runs=tuple(runs(store, limit_rows=LAST_RUNS)),
        by_day=moves_per_day(store, SPARK_DAYS, now),
        moved_holds=sum(hold.moved_to is not None for hold in held),
    )


def count_waiting(deck: Console) -> int:
    """How many memories could be moved now; 0 in a store that records no accesses."""
    store = deck.store
    if not store.has_table("td_facts"):
        return 0
    return sum(count_candidates(store, configured_rules(deck), store.now_ms()).values())


def configured_rules(deck: Console) -> Rules:
    """The rules with the numbers of this console's settings."""
    return rules_of(deck.settings.promotion)
