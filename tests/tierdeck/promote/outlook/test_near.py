from __future__ import annotations

import pytest

from tests.tierdeck.promote.outlook.memories import START_MS, added
from tests.tierdeck.promote.pulls import pull
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote import count_near, hold, near
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, add_nodes

RULES = Rules()


@pytest.mark.spec("SPEC-09.12")
def test_a_memory_pulled_once_in_each_of_ten_sessions_stands_at_the_top(store: Store) -> None:
    once, ten, _never = added(store, 3)
    for session in range(10):
        pull(store, [ten], f"s{session}")
    pull(store, [once], "s10")
    rows = near(store, RULES, START_MS).rows
    assert [row.row.id for row in rows] == [ten, once]
    [lacking] = rows[0].decision.lacking
    assert (lacking.name, lacking.found, lacking.needed, lacking.lacks) == ("pulls in one session", 1, 2, 1)
    assert rows[0].facts.sessions == 10


@pytest.mark.spec("SPEC-09.11")
@pytest.mark.parametrize(
    ("sessions", "outcomes", "confidence", "lacks"),
    [
        (3, "ss", 0.9, None),
        (2, "ss", 0.9, "sessions"),
        (3, "", 0.9, "successes"),
        (3, "sff", 0.9, "failures"),
        (3, "ss", 0.7, "confidence held"),
        (2, "ss", 0.7, "two"),
        (3, "fff", 0.9, "two"),
    ],
)
def test_a_session_memory_is_near_when_it_lacks_one_of_the_four(
    store: Store, sessions: int, outcomes: str, confidence: float, lacks: str | None
) -> None:
    [node] = added(store, 1, Tier.SESSION, confidence=confidence)
    for number in range(sessions):
        said = outcomes[number : number + 1]
        pull(store, [node], f"s{number}", outcome="success" if said == "s" else "failure" if said == "f" else None)
    rows = near(store, RULES, START_MS).rows
    assert [row.decision.lacking[0].name for row in rows] == ([] if lacks in (None, "two") else [lacks])


@pytest.mark.spec("SPEC-09.12")
def test_a_longterm_memory_is_near_within_fourteen_days_of_being_stale(store: Store) -> None:
    days = (75.9, 76, 80, 90, 90.1)
    now = START_MS + 200 * DAY_MS
    ids = add_nodes(
        store,
        [NodeDraft("m", tier=Tier.LONGTERM, last_accessed_ms=now - round(ago * DAY_MS)) for ago in days],
    )
    assert [row.row.id for row in near(store, RULES, now).rows] == [ids[3], ids[2], ids[1]]


@pytest.mark.case("P06")
def test_a_use_in_the_future_counts_as_one_of_now_and_its_criterion_says_clock(store: Store) -> None:
    [node] = add_nodes(store, [NodeDraft("m", tier=Tier.LONGTERM, last_accessed_ms=START_MS + 10 * DAY_MS)])
    assert near(store, RULES, START_MS).rows == ()
    [row] = near(store, Rules(archive_days=10), START_MS).rows
    [lacking] = row.decision.lacking
    assert (row.row.id, lacking.found, lacking.note) == (node, 0, "clock: last accessed in the future")


def test_a_held_memory_is_not_near_and_nothing_archived_is(store: Store) -> None:
    [held], [archived] = added(store, 1), added(store, 1, Tier.ARCHIVE)
    pull(store, [held])
    hold(store, [held], actor="mara", reason="not yet")
    assert near(store, RULES, START_MS).rows == ()
    assert near(store, RULES, START_MS, rule="archive-longterm").rows == ()
    assert set(count_near(store, RULES, START_MS).values()) == {0}
    assert archived not in {row.row.id for row in near(store, RULES, START_MS + 300 * DAY_MS).rows}
