from __future__ import annotations

import json
from hashlib import blake2b

import pytest

from tests.other_program import other_program
from tierdeck.errors import InvalidValueError, NotFoundError, StoreError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.breaks import accept_break
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import append, count_entries, entries, entry, log_head, moves_per_day
from tierdeck.promote.moves.holds import hold, release
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.promote.records import LogDraft, LogFilter
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store

MIDDLE = (
    "at, node_id, from_tier, to_tier, kind, rule, rule_version, criteria, actor, reason, run_id, content_digest, "
    "undoes, evolution_id, access_id, counted_after"
)
DROP = "for name in ('update', 'delete', 'next', 'head'): conn.execute(f'DROP TRIGGER td_promotion_log_{name}')"


def moved(store: Store, count: int) -> list[str]:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(count)])
    override_tier(store, ids, Tier.LONGTERM, actor="mara", reason="known good", rules=Rules())
    return ids


@pytest.mark.spec("SPEC-09.14")
def test_a_digest_covers_every_column_and_the_digest_before(store: Store) -> None:
    moved(store, 3)
    with store.writing() as conn:
        columns = [str(row[1]) for row in conn.execute("PRAGMA table_info(td_promotion_log)")]
        found = conn.execute("SELECT * FROM td_promotion_log ORDER BY id").fetchall()
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    before = ""
    for row in rows:
        digest = row.pop("digest")
        assert row["prev_digest"] == before
        text = json.dumps(row, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        assert blake2b(text.encode(), digest_size=32).hexdigest() == digest
        before = str(digest)
    assert log_head(store) == f"3:{before}"


@pytest.mark.spec("SPEC-09.14")
def test_a_row_says_who_moved_what_when_why_and_what_the_rules_said(store: Store) -> None:
    [node_id] = moved(store, 1)
    [found] = entries(store, LogFilter())
    assert (found.node_id, found.from_tier, found.to_tier, found.kind) == (node_id, "task", "longterm", "override")
    assert (found.actor, found.reason, found.rule_version) == ("mara", "known good", Rules().version)
    assert [(c.name, c.found, c.needed, c.passed) for c in found.criteria] == [
        ("pulls in one session", 0, 2, False)
    ]
    assert entry(store, found.id) == found
    with store.writing() as conn:
        theirs = conn.execute(
            "SELECT node_ids, from_tier, to_tier, reasoning FROM evolution_log WHERE id = ?", (found.evolution_id,)
        ).fetchone()
    assert theirs == (json.dumps([node_id]), "task", "longterm", "override by mara: known good")


@pytest.mark.spec("SPEC-09.14")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE td_promotion_log SET actor = 'nobody' WHERE id = 1",
        "DELETE FROM td_promotion_log WHERE id = 2",
        "INSERT OR REPLACE INTO td_promotion_log SELECT * FROM td_promotion_log WHERE id = 1",
        f"INSERT INTO td_promotion_log SELECT 9, {MIDDLE}, digest, 'x' FROM td_promotion_log WHERE id = 2",
        f"INSERT INTO td_promotion_log SELECT 3, {MIDDLE}, prev_digest, 'x' FROM td_promotion_log WHERE id = 2",
    ],
)
def test_any_program_that_would_change_or_remove_a_row_is_refused(store: Store, statement: str) -> None:
    moved(store, 2)
    with other_program(store.path) as other:
        other.do(
            f"try: conn.execute({statement!r})\n"
            "except sqlite3.IntegrityError as e: assert 'promotion log' in str(e)\n"
            "else: raise SystemExit"
        )
    assert verify_log(store).problem is None


@pytest.mark.spec("SPEC-09.14")
def test_nothing_moves_after_the_end_was_cut_off_until_a_person_accepts_it(store: Store) -> None:
    ids = moved(store, 3)
    with other_program(store.path) as other:
        other.do("conn.execute('DROP TRIGGER td_promotion_log_delete')")
        other.do("conn.execute('DELETE FROM td_promotion_log WHERE id = 3')")
    with pytest.raises(StoreError, match="nothing was moved") as refused:
        override_tier(store, ids, Tier.TASK, actor="mara", reason="wrong", with_held=True)
    assert refused.value.hint is not None
    assert "tierdeck log verify" in refused.value.hint
    assert {get_node(store, node_id).tier for node_id in ids} == {Tier.LONGTERM}
    accepted = accept_break(store, "mara", "a backup was put back by halves")
    assert accepted is not None
    assert (accepted.old_head[:2], accepted.new_head[:2]) == ("3:", "2:")
    assert accept_break(store, "mara", "once more") is None
    override_tier(store, ids, Tier.TASK, actor="mara", reason="wrong", with_held=True)
    assert log_head(store).startswith("5:")


def test_a_break_needs_a_reason(store: Store) -> None:
    with pytest.raises(InvalidValueError, match="the least is 3"):
        accept_break(store, "mara", " \u200b x ")


def test_the_filter_lets_through_what_it_names_and_pages_go_on_without_a_gap(store: Store) -> None:
    ids = moved(store, 5)
    hold(store, ids[:1], actor="ben", reason="look at it")
    release(store, ids[:1], actor="ben")
    assert [e.kind for e in entries(store, LogFilter(node_id=ids[0]))] == ["release", "hold", "override"]
    assert count_entries(store, LogFilter(actor="mara")) == 5
    assert count_entries(store, LogFilter(tier="task")) == count_entries(store, LogFilter(kind="override")) == 5
    assert count_entries(store, LogFilter(run_id=1)) == 5
    assert count_entries(store, LogFilter(rule="task-session")) == 0
    at = entries(store, LogFilter(), limit_rows=1)[0].at_ms
    assert count_entries(store, LogFilter(since_ms=at + 1)) == 0
    assert count_entries(store, LogFilter(until_ms=at + 1)) == 7
    first = entries(store, LogFilter(), limit_rows=4)
    rest = entries(store, LogFilter(), before_id=first[-1].id)
    assert [e.id for e in (*first, *rest)] == [7, 6, 5, 4, 3, 2, 1]


def test_every_day_is_counted_by_utc_and_holds_are_no_moves(store: Store) -> None:
    day = 20_000 * DAY_MS
    with open_store(store.path, clock=lambda: day + DAY_MS - 1) as late:
        ids = moved(late, 2)
        hold(late, ids, actor="mara", reason="keep it")
    with open_store(store.path, clock=lambda: day + DAY_MS) as next_day:
        moved(next_day, 1)
    assert moves_per_day(store, 3, day + DAY_MS) == (("2024-10-03", 0), ("2024-10-04", 2), ("2024-10-05", 1))


def test_a_days_moves_are_counted_apart_from_what_was_taken_back(store: Store) -> None:
    ids = moved(store, 2)
    undo_move(store, ids[0], actor="mara")
    undo_move(store, ids[0], actor="mara", log_id=entries(store, LogFilter(kind="undo"))[0].id)
    assert [number for _, number in moves_per_day(store, 2)] == [0, 2]


def test_a_row_that_is_not_there_is_not_found(store: Store) -> None:
    assert log_head(store) == "0:"
    with pytest.raises(NotFoundError, match="no row 1"):
        entry(store, 1)
    with pytest.raises(InvalidValueError, match="0 rows"):
        entries(store, LogFilter(), limit_rows=0)


def test_another_programs_store_has_no_log_and_says_so_by_an_empty_list(family_store_path: object) -> None:
    with open_store(str(family_store_path)) as foreign:
        assert entries(foreign, LogFilter()) == []
        assert (count_entries(foreign, LogFilter()), log_head(foreign)) == (0, "0:")


def test_a_row_keeps_any_text_exactly(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    with store.writing() as conn:
        append(conn, LogDraft(node_id, None, "task", "override", "mära\n\U0001f9e0", 5, reason='"\\u0000" ☃'))
    [found] = entries(store, LogFilter())
    assert (found.actor, found.reason, found.from_tier) == ("mära\n\U0001f9e0", '"\\u0000" ☃', None)


def test_a_row_whose_criteria_are_nested_beyond_reason_is_shown_without_them(store: Store) -> None:
    [node_id] = moved(store, 1)
    with other_program(store.path) as other:
        other.do(DROP)
        other.do("conn.execute('UPDATE td_promotion_log SET criteria = ?', ('[' * 100_000,))")
    [found] = entries(store, LogFilter())
    assert (found.node_id, found.criteria) == (node_id, ())
