from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.family import family_id
from tests.tierdeck.promote.pulls import pull
from tierdeck.config import PromotionSettings
from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.maintenance import adopt
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote import candidates
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.holds import dismiss, hold, holds, release
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.records import LogFilter, Refused
from tierdeck.promote.rules import DAY_MS, Block, Rules
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store

RULES = Rules()
NOBODY = "00000000-0000-4000-8000-000000000000"


def block(store: Store, node_id: str) -> Block | None:
    return read_facts(store, [node_id], store.now_ms())[0].block


def listed(store: Store) -> list[str]:
    return [c.decision.node_id for c in candidates(store, RULES, store.now_ms()).rows]


@pytest.mark.spec("SPEC-09.15")
def test_no_rule_moves_a_held_memory_until_it_is_released(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    hold(store, [node_id], actor="mara", reason="not yet")
    session = meet_session(store, "s1").id
    for _ in range(3):
        report = record_accesses(store, session, [node_id], AccessKind.PULL, settings=PromotionSettings())
        assert report.moved == ()
    assert get_node(store, node_id).tier is Tier.TASK
    assert release(store, [node_id], actor="mara").moved == (node_id,)
    assert record_accesses(store, session, [node_id], AccessKind.PULL).moved == (node_id,)


def test_a_hold_past_its_end_counts_as_none_and_a_new_one_takes_its_place(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    now = store.now_ms()
    hold(store, [node_id], actor="mara", reason="a day", until_ms=now + DAY_MS)
    assert block(store, node_id) == "held"
    with open_store(store.path, clock=lambda: now + DAY_MS) as next_day:
        assert block(next_day, node_id) is None
        assert release(next_day, [node_id], actor="mara").refused == (Refused(node_id, "it is not held", "task"),)
        hold(next_day, [node_id], actor="ben", reason="for good")
        assert [(h.actor, h.until_ms) for h in holds(next_day, now_ms=now + DAY_MS)] == [("ben", None)]


def test_a_hold_that_stands_is_replaced_and_the_newest_comes_first(store: Store) -> None:
    first, second = add_nodes(store, [NodeDraft("a"), NodeDraft("b")])
    hold(store, [first, second], actor="mara", reason="one")
    hold(store, [first], actor="ben", reason="two")
    now = store.now_ms()
    assert [(h.node_id, h.reason) for h in holds(store, now_ms=now)] == [(first, "two"), (second, "one")]
    assert [h.reason for h in holds(store, ids=[second], now_ms=now)] == ["one"]
    assert holds(store, ids=[], now_ms=now) == []


@pytest.mark.spec("SPEC-09.14")
def test_each_hold_and_release_is_a_row_of_the_log(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.SESSION)).id
    hold(store, [node_id, node_id], actor="mara", reason="not yet")
    release(store, [node_id], actor="ben", reason="now it may")
    rows = entries(store, LogFilter())
    assert [(r.kind, r.actor, r.reason, r.from_tier, r.to_tier, r.is_move) for r in rows] == [
        ("release", "ben", "now it may", "session", "session", False),
        ("hold", "mara", "not yet", "session", "session", False),
    ]


@pytest.mark.spec("SPEC-09.15")
def test_a_held_memory_that_another_program_moved_says_where_it_is_now(family_store_path: Path) -> None:
    adopt(family_store_path)
    node_id = family_id(1)
    with open_store(family_store_path) as store:
        hold(store, [node_id], actor="mara", reason="keep it")
        assert [h.moved_to for h in holds(store, now_ms=store.now_ms())] == [None]
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET tier = 'session' WHERE id = ?", (node_id,))
        assert [(h.tier, h.moved_to) for h in holds(store, now_ms=store.now_ms())] == [("task", "session")]


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize("ends_by", ["a pull", "a move", "a use by its own program"])
def test_a_dismissed_candidate_is_off_the_list_until_something_happens_to_it(store: Store, ends_by: str) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, [node_id], times=2)
    assert listed(store) == [node_id]
    assert dismiss(store, [node_id], actor="mara", rules=RULES).moved == (node_id,)
    assert (listed(store), block(store, node_id)) == ([], "dismissed")
    later = store.now_ms() + DAY_MS
    with open_store(store.path, clock=lambda: later) as next_day:
        assert record_accesses(next_day, meet_session(next_day, "s2").id, [node_id], AccessKind.PUSH).moved == ()
        assert block(next_day, node_id) == "dismissed"
        if ends_by == "a pull":
            pull(next_day, [node_id], "s2")
        elif ends_by == "a move":
            override_tier(next_day, [node_id], Tier.SESSION, actor="mara", reason="after all", hold=False)
            override_tier(next_day, [node_id], Tier.TASK, actor="mara", reason="no again", hold=False)
        else:
            with store.writing() as conn:
                conn.execute("UPDATE nodes SET last_accessed = ? WHERE id = ?", (later, node_id))
        assert block(next_day, node_id) is None


def test_a_memory_whose_time_of_use_lies_ahead_can_be_dismissed(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", last_accessed_ms=store.now_ms() + 10 * DAY_MS)).id
    pull(store, [node_id], times=2)
    dismiss(store, [node_id], actor="mara", rules=RULES)
    assert block(store, node_id) == "dismissed"
    later = store.now_ms() + 20 * DAY_MS
    with open_store(store.path, clock=lambda: later) as much_later:
        assert block(much_later, node_id) == "dismissed"


def test_what_is_no_candidate_is_not_dismissed_and_says_what_it_lacks(store: Store) -> None:
    fresh, held, twice = add_nodes(store, [NodeDraft("a"), NodeDraft("b"), NodeDraft("c")])
    pull(store, [held, twice], times=2)
    hold(store, [held], actor="ben", reason="mine")
    dismiss(store, [twice], actor="mara", rules=RULES)
    report = dismiss(store, [fresh, held, twice], actor="mara", rules=RULES)
    assert report.moved == ()
    assert [refused.why for refused in report.refused] == [
        "it is no candidate: pulls in one session 0, needed >= 2",
        "it is held by ben: mine",
        "it was dismissed already",
    ]


def test_nothing_is_held_released_or_dismissed_when_an_id_is_unknown(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    ids = [node_id, NOBODY]
    with pytest.raises(NotFoundError, match=NOBODY):
        hold(store, ids, actor="mara", reason="all of them")
    with pytest.raises(NotFoundError, match=NOBODY):
        release(store, ids, actor="mara")
    with pytest.raises(NotFoundError, match=NOBODY):
        dismiss(store, ids, actor="mara", rules=RULES)
    assert entries(store, LogFilter()) == []
    with pytest.raises(InvalidValueError, match="the least is 3"):
        hold(store, [node_id], actor="mara", reason="no")
    with pytest.raises(InvalidValueError, match="actor is blank"):
        release(store, [node_id], actor=" ")


def test_a_foreign_store_has_no_holds(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert holds(store, now_ms=store.now_ms()) == []


@pytest.mark.parametrize("until_ms", [10**18, 2**64, 253_402_300_800_000, 4e12, float("nan"), True, "2027-03-01"])
def test_a_hold_ends_at_a_time_that_a_calendar_holds_or_is_not_set(store: Store, until_ms: Any) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    with pytest.raises(InvalidValueError, match="before the year 10000"):
        hold(store, [node_id], actor="mara", reason="not yet", until_ms=until_ms)
    with pytest.raises(InvalidValueError, match="before the year 10000"):
        override_tier(store, [node_id], Tier.LONGTERM, actor="mara", reason="not yet", until_ms=until_ms)
    assert (holds(store, now_ms=store.now_ms()), get_node(store, node_id).tier) == ([], Tier.TASK)


def test_a_hold_whose_end_no_calendar_holds_is_told_as_its_number(store: Store) -> None:
    first, second = add_nodes(store, [NodeDraft("x"), NodeDraft("y")])
    hold(store, [first], actor="mara", reason="not yet")
    with store.writing() as conn:
        conn.execute("UPDATE td_hold SET until = ?", (10**18,))
    [refused] = override_tier(store, [first, second], Tier.SESSION, actor="ben", reason="go on").refused
    assert refused.why == "it is held until 1000000000000000000 ms by mara: not yet"


@pytest.mark.parametrize("column", ["tier", "set_at", "until", "actor", "reason", "log_id"])
def test_a_hold_that_somebody_else_wrote_into_is_listed_all_the_same(store: Store, column: str) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    hold(store, [node_id], actor="mara", reason="not yet", until_ms=store.now_ms() + DAY_MS)
    with store.writing() as conn:
        conn.execute(f"UPDATE td_hold SET {column} = ?", (b"4102444800000",))
    [found] = holds(store, now_ms=store.now_ms())
    assert (found.node_id, type(found.actor), type(found.set_at_ms), type(found.until_ms)) == (
        node_id, str, int, int,
    )  # fmt: skip
