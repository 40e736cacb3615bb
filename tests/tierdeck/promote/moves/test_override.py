from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.family import family_id
from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import InvalidValueError, NotFoundError, ReadOnlyStoreError
from tierdeck.maintenance import adopt
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.promote import candidates
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.entries import count_entries, entries
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import hold, holds
from tierdeck.promote.moves.override import archive_nodes, override_tier, preview_override, restore_nodes
from tierdeck.promote.moves.runs import run, runs
from tierdeck.promote.records import LogFilter, Refused
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.search import hybrid_search
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store, tier_moves

NOBODY = "00000000-0000-4000-8000-000000000000"


def tiers(store: Store, ids: list[str]) -> list[str]:
    return [get_node(store, node_id).tier.value for node_id in ids]


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize(("from_tier", "to_tier"), [(a, b) for a, b in product(Tier, Tier) if a != b])
def test_a_person_moves_a_memory_from_any_tier_to_any_other(store: Store, from_tier: Tier, to_tier: Tier) -> None:
    node_id = add_node(store, NodeDraft("x", tier=from_tier)).id
    report = override_tier(store, [node_id], to_tier, actor="mara", reason="I know it")
    assert (report.moved, report.refused) == ((node_id,), ())
    assert get_node(store, node_id).tier is to_tier
    [row] = entries(store, LogFilter())
    assert (row.from_tier, row.to_tier, row.kind, row.reason) == (from_tier, to_tier, "override", "I know it")
    [held] = holds(store, now_ms=store.now_ms())
    assert (held.node_id, held.tier, held.until_ms, held.log_id) == (node_id, to_tier, None, row.id)


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize("reason", ["", "ab", "  a b  ", "\u200b\u200b\u200b", "a\tb\n"])
def test_a_reason_of_less_than_three_visible_characters_moves_nothing(store: Store, reason: str) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    with pytest.raises(InvalidValueError, match="the least is 3"):
        override_tier(store, [node_id], Tier.ARCHIVE, actor="mara", reason=reason)
    assert tiers(store, [node_id]) == ["task"]
    assert override_tier(store, [node_id], Tier.ARCHIVE, actor="mara", reason="a b c").moved == (node_id,)


def test_an_unknown_id_is_named_and_nothing_moves(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("x"), NodeDraft("y")])
    for move in (
        lambda: override_tier(store, [*ids, NOBODY], Tier.ARCHIVE, actor="mara", reason="wrong"),
        lambda: archive_nodes(store, [*ids, NOBODY], actor="mara"),
        lambda: restore_nodes(store, [*ids, NOBODY], actor="mara"),
        lambda: preview_override(store, [*ids, NOBODY], Tier.ARCHIVE, rules=Rules()),
    ):
        with pytest.raises(NotFoundError, match=NOBODY):
            move()
    assert tiers(store, ids) == ["task", "task"]
    assert count_entries(store, LogFilter()) == 0


@pytest.mark.spec("SPEC-09.15")
def test_a_preview_says_what_moves_what_is_held_what_stays_and_what_the_rules_say(store: Store) -> None:
    plain, held, there = add_nodes(store, [NodeDraft("a"), NodeDraft("b"), NodeDraft("c", tier=Tier.LONGTERM)])
    pull(store, [plain], times=2)
    hold(store, [held], actor="ben", reason="mine")
    seen = preview_override(store, [plain, held, there, plain], Tier.LONGTERM, rules=Rules())
    assert [(move.node_id, move.from_tier, move.decision.is_due) for move in seen.moves] == [(plain, "task", True)]
    assert [(h.node_id, h.actor, h.reason) for h in seen.held] == [(held, "ben", "mine")]
    assert seen.unchanged == (there,)
    with_held = preview_override(store, [plain, held], Tier.LONGTERM, rules=Rules(), with_held=True)
    assert (list(with_held.seen), with_held.held) == ([plain, held], ())
    alone = preview_override(store, [held], Tier.LONGTERM, rules=Rules())
    assert [move.decision.block for move in alone.moves] == ["held"]
    assert tiers(store, [plain, held, there]) == ["task", "task", "longterm"]


@pytest.mark.spec("SPEC-09.15")
def test_several_pass_over_the_held_unless_asked_and_one_alone_is_moved(store: Store) -> None:
    first, second, held = ids = add_nodes(store, [NodeDraft(text) for text in "abc"])
    hold(store, [held], actor="ben", reason="mine")
    report = override_tier(store, ids, Tier.ARCHIVE, actor="mara", reason="old ones")
    assert report.moved == (first, second)
    assert report.refused == (Refused(held, "it is held by ben: mine", "task"),)
    assert override_tier(store, [held], Tier.SESSION, actor="mara", reason="old ones").moved == (held,)
    moved = override_tier(store, ids, Tier.TASK, actor="mara", reason="back again", with_held=True).moved
    assert moved == tuple(ids)


def test_what_moved_since_the_preview_is_refused_with_the_tier_it_is_in(store: Store) -> None:
    first, second = ids = add_nodes(store, [NodeDraft("a"), NodeDraft("b")])
    seen = preview_override(store, ids, Tier.ARCHIVE, rules=Rules()).seen
    override_tier(store, [second], Tier.SESSION, actor="ben", reason="needed", hold=False)
    report = override_tier(store, ids, Tier.ARCHIVE, actor="mara", reason="old ones", seen=seen)
    assert (report.moved, tiers(store, ids)) == ((first,), ["archive", "session"])
    assert report.refused == (Refused(second, "it is in session by now, no longer in task", "session"),)


def test_a_memory_that_is_there_already_is_refused_and_leaves_no_run(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    report = override_tier(store, [node_id, node_id], Tier.TASK, actor="mara", reason="stay here")
    assert (report.run_id, report.moved) == (None, ())
    assert report.refused == (Refused(node_id, "it is in task already", "task"),)
    assert runs(store) == []


def test_a_hold_ends_when_it_was_told_to_and_none_is_set_when_none_is_wanted(store: Store) -> None:
    first, second = add_nodes(store, [NodeDraft("a"), NodeDraft("b")])
    now = store.now_ms()
    override_tier(store, [first], Tier.SESSION, actor="mara", reason="a while", until_ms=now + DAY_MS)
    override_tier(store, [second], Tier.SESSION, actor="mara", reason="no hold", hold=False)
    assert [h.node_id for h in holds(store, now_ms=now)] == [first]
    assert holds(store, now_ms=now + DAY_MS) == []
    with pytest.raises(InvalidValueError, match="is not after now"):
        override_tier(store, [first], Tier.TASK, actor="mara", reason="too late", until_ms=now - 1)
    with pytest.raises(InvalidValueError, match="no hold is set"):
        override_tier(store, [first], Tier.TASK, actor="mara", reason="both", hold=False, until_ms=now + DAY_MS)


@pytest.mark.spec("SPEC-09.11", "SPEC-09.15")
def test_pulls_before_a_move_by_hand_are_no_evidence_after_it(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.SESSION)).id
    pull(store, [node_id], times=2)
    override_tier(store, [node_id], Tier.TASK, actor="mara", reason="a lucky find", hold=False)
    [facts] = read_facts(store, [node_id], store.now_ms())
    assert (facts.max_pulls, facts.sessions, facts.confidence_held) == (0, 0, None)
    pull(store, [node_id], times=1)
    assert read_facts(store, [node_id], store.now_ms())[0].max_pulls == 1


def test_a_big_set_is_moved_in_pieces_and_a_stop_leaves_whole_ones(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(450)])
    seen: list[tuple[int, int]] = []
    pace = Pace(lambda done, total: seen.append((done, total)), lambda: len(seen) == 2, pause_ms=0)
    stopped = override_tier(store, ids, Tier.SESSION, actor="mara", reason="all of them", pace=pace)
    assert (stopped.moved, seen) == (tuple(ids[:400]), [(200, 450), (400, 450)])
    assert stopped.run_id is not None
    found = run(store, stopped.run_id)
    assert (found.planned, found.moved, found.refused, found.ended_at_ms is not None) == (450, 400, 0, True)
    rest = override_tier(store, ids[400:], Tier.SESSION, actor="mara", reason="all of them", pace=Pace(pause_ms=0))
    assert rest.moved == tuple(ids[400:])


def test_runs_come_newest_first_in_pages_and_an_unknown_one_is_not_found(store: Store) -> None:
    for tier in (Tier.SESSION, Tier.LONGTERM, Tier.ARCHIVE):
        override_tier(store, [add_node(store, NodeDraft("x")).id], tier, actor="mara", reason="just so")
    first = runs(store, limit_rows=2)
    assert [r.id for r in (*first, *runs(store, before_id=first[-1].id))] == [3, 2, 1]
    with pytest.raises(NotFoundError, match="no run 4"):
        run(store, 4)
    with pytest.raises(InvalidValueError, match="0 rows"):
        runs(store, limit_rows=0)


@pytest.mark.case("P18")
@pytest.mark.spec("SPEC-03.19", "SPEC-09.15")
def test_a_memory_archived_by_hand_shows_by_id_and_when_asked_for_and_nowhere_else(store: Store) -> None:
    node_id = add_node(store, NodeDraft("the zebra crossing")).id
    pull(store, [node_id], times=3)
    archive_nodes(store, [node_id], actor="mara")
    assert [hit.row.id for hit in hybrid_search(store, "zebra", alpha=0).hits] == []
    assert candidates(store, Rules(), store.now_ms()).rows == ()
    everything = NodeFilter(include_archived=True)
    assert [hit.row.id for hit in hybrid_search(store, "zebra", alpha=0, node_filter=everything).hits] == [node_id]
    assert get_node(store, node_id).tier is Tier.ARCHIVE


@pytest.mark.spec("SPEC-02.23", "SPEC-03.21")
def test_archive_and_restore_move_what_is_to_move_held_too_and_set_no_hold(store: Store) -> None:
    fresh, held, archived = ids = add_nodes(
        store, [NodeDraft("a"), NodeDraft("b"), NodeDraft("c", tier=Tier.ARCHIVE)]
    )
    hold(store, [held], actor="ben", reason="mine")
    assert archive_nodes(store, [*ids, fresh], actor="mara") == [fresh, held]
    [standing] = holds(store, now_ms=store.now_ms())
    assert (standing.node_id, standing.tier, standing.moved_to) == (held, "archive", None)
    assert restore_nodes(store, [archived, fresh], actor="mara", reason="wanted") == [archived, fresh]
    assert restore_nodes(store, [archived, fresh], actor="mara") == []
    assert tiers(store, ids) == ["longterm", "archive", "longterm"]
    assert [row.kind for row in entries(store, LogFilter(node_id=fresh))] == ["override", "override"]
    assert archive_nodes(store, [], actor="mara") == []


@pytest.mark.spec("SPEC-09.15")
def test_in_an_adopted_store_a_move_is_logged_both_ways_and_the_evidence_begins_anew(
    family_store_path: Path,
) -> None:
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        node_id = family_id(1)
        pull(store, [node_id], times=2)
        override_tier(store, [node_id], Tier.LONGTERM, actor="mara", reason="known good")
        assert get_node(store, node_id).tier is Tier.LONGTERM
        assert [(m.from_tier, m.to_tier) for m in tier_moves(store, node_id)] == [("task", "longterm")]
        [facts] = read_facts(store, [node_id], store.now_ms())
        assert (facts.tier, facts.max_pulls, facts.block) == ("longterm", 0, "held")
        kept = store.read(lambda conn: conn.execute("SELECT tier FROM td_facts WHERE node_id = ?", (node_id,)).get)
        assert kept == "longterm"


def test_a_store_that_is_not_adopted_is_refused(family_store_path: Path) -> None:
    with open_store(family_store_path) as store, pytest.raises(ReadOnlyStoreError):
        override_tier(store, [family_id(1)], Tier.LONGTERM, actor="mara", reason="known good")
