from __future__ import annotations

import json
from hashlib import blake2b

import pytest

from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import StoreError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.holds import dismiss, hold
from tierdeck.promote.moves.move import apply_decisions
from tierdeck.promote.moves.rules_in_force import put_in_force
from tierdeck.promote.records import LogFilter, Refused
from tierdeck.promote.rules import DAY_MS, Decision, Rules, decide
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store, tier_moves

RULES = Rules()


def due(store: Store, ids: list[str]) -> list[Decision]:
    """What the rules say now of memories that were pulled twice in a session."""
    return [decide(facts, RULES, store.now_ms()) for facts in read_facts(store, ids, store.now_ms())]


def candidates(store: Store, count: int) -> list[str]:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(count)])
    pull(store, ids, times=2)
    return ids


def apply(
    store: Store, decisions: list[Decision], *, expected: str | None = None
) -> tuple[object, tuple[Refused, ...]]:
    with store.writing() as conn:
        return apply_decisions(conn, store, decisions, kind="auto", actor="rules", expected_rules=expected)


@pytest.mark.spec("SPEC-09.13", "SPEC-09.14")
def test_a_move_leaves_one_row_in_each_log_and_the_pulls_go_on_counting(store: Store) -> None:
    ids = candidates(store, 2)
    assert apply(store, due(store, ids)) == (tuple(ids), ())
    for node_id in ids:
        assert get_node(store, node_id).tier is Tier.SESSION
        [row] = entries(store, LogFilter(node_id=node_id))
        assert (row.kind, row.rule, row.actor) == ("auto", "task-session", "rules")
        assert [(c.name, c.found) for c in row.criteria] == [("pulls in one session", 2)]
        [move] = tier_moves(store, node_id)
        assert (move.from_tier, move.to_tier) == ("task", "session")
    assert [facts.sessions for facts in read_facts(store, ids, store.now_ms())] == [1, 1]


@pytest.mark.spec("SPEC-09.12")
def test_what_is_no_longer_what_was_seen_stays_and_the_caller_is_told_what_it_is_now(store: Store) -> None:
    moved, held, dismissed, gone, fine = ids = candidates(store, 5)
    decisions = due(store, ids)
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET tier = 'archive' WHERE id = ?", (moved,))
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    hold(store, [held], actor="mara", reason="not yet")
    dismiss(store, [dismissed], actor="mara", rules=RULES)
    done, refused = apply(store, decisions)
    assert done == (fine,)
    assert refused == (
        Refused(moved, "it is in archive by now, no longer in task", "archive"),
        Refused(held, "it is held by mara: not yet", "task"),
        Refused(dismissed, "it was dismissed as a candidate", "task"),
        Refused(gone, "there is no such memory (any more)", None),
    )
    assert get_node(store, held).tier is get_node(store, dismissed).tier is Tier.TASK
    assert len(entries(store, LogFilter(kind="auto"))) == 1


@pytest.mark.spec("SPEC-09.12")
def test_a_plan_made_by_other_rules_than_those_in_force_moves_nothing(store: Store) -> None:
    ids = candidates(store, 2)
    decisions = due(store, ids)
    newer = Rules(session_pulls=5).version
    with store.writing() as conn:
        assert put_in_force(conn, RULES.version, seen=None)
        assert put_in_force(conn, newer, seen=RULES.version)
        assert not put_in_force(conn, RULES.version, seen=None)
    done, refused = apply(store, decisions, expected=RULES.version)
    assert done == ()
    assert {r.why for r in refused} == {f"the rules changed since: {RULES.version} → {newer}"}
    assert apply(store, decisions, expected=newer)[0] == tuple(ids)


def test_a_hold_that_has_ended_stands_in_no_ones_way(store: Store) -> None:
    [node_id] = candidates(store, 1)
    hold(store, [node_id], actor="mara", reason="for a day", until_ms=store.now_ms() + DAY_MS)
    decisions = due(store, [node_id])
    assert decisions[0].block == "held"
    later = store.now_ms() + DAY_MS
    with open_store(store.path, clock=lambda: later) as next_day:
        assert apply(next_day, decisions)[0] == (node_id,)


def test_the_digest_in_the_log_is_that_of_the_bytes_stored(store: Store) -> None:
    [node_id] = candidates(store, 1)
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET content = CAST(x'61ff62' AS TEXT), metadata = NULL WHERE id = ?", (node_id,))
    apply(store, due(store, [node_id]))
    [row] = entries(store, LogFilter(kind="auto"))
    assert row.content_digest == blake2b(b"text:3:a\xffbnull:0:", digest_size=32).hexdigest()


def test_a_damaged_log_keeps_the_move_from_happening(store: Store) -> None:
    ids = candidates(store, 2)
    with store.writing() as conn:
        conn.execute("INSERT INTO td_setting VALUES ('promotion_log_head', '1:ab')")
    with pytest.raises(StoreError, match="its head says 1 rows; nothing was moved"):
        apply(store, due(store, ids))
    assert {get_node(store, node_id).tier for node_id in ids} == {Tier.TASK}
    assert tier_moves(store, ids[0]) == []


def test_a_tier_that_no_rule_is_for_is_passed_over(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    decision = Decision(node_id, "odd", None, None, (), None, RULES.version)
    assert apply(store, [decision]) == ((), ())


def test_the_familys_log_says_which_rule_it_was_in_one_sentence(store: Store) -> None:
    [node_id] = candidates(store, 1)
    apply(store, due(store, [node_id]))
    with store.writing() as conn:
        [(ids, sentence)] = conn.execute("SELECT node_ids, reasoning FROM evolution_log").fetchall()
    assert ids == json.dumps([node_id])
    assert sentence == "auto by rules, rule task-session (pulls in one session 2)"
