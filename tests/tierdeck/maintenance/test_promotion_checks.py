"""Doctor and promotion: counts out of step, a log that was changed, holds passed over, clocks that were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.family import family_id
from tierdeck.config import EmbeddingSettings
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.backup import backup, restore_backup
from tierdeck.maintenance.backup_check import verify_backup
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.health import Check
from tierdeck.maintenance.repair import repair
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.breaks import breaks_in
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import log_head
from tierdeck.promote.moves.holds import hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store

OFF = EmbeddingSettings(provider="off")
COUNTS, LOG = "promotion-counts", "promotion-log"


def checked(store: Store, name: str, *, is_thorough: bool = False) -> Check:
    return examine(store, OFF, is_thorough=is_thorough).check(name)


def run(store: Store, *statements: str) -> None:
    with store.writing() as conn:
        for statement in statements:
            conn.execute(statement)


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Three memories in longterm, each pulled once before it was moved by hand and once after."""
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(3)])
    session = meet_session(store, "s-1").id
    record_accesses(store, session, ids, AccessKind.PULL)
    for node_id in ids:
        override_tier(store, [node_id], Tier.LONGTERM, actor="mara", reason="it is used")
    record_accesses(store, session, ids, AccessKind.PULL)
    return ids


def test_a_store_in_order_says_how_much_was_looked_at(store: Store, ids: list[str]) -> None:
    assert (checked(store, COUNTS).state, checked(store, "clock").state) == ("ok", "ok")
    assert checked(store, LOG).text == "3 rows in one chain"
    assert checked(store, "holds").text == "3 memories are held, each where it was held"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE td_use SET pulls = pulls + 1",
        "DELETE FROM td_use WHERE node = 1",
        "UPDATE td_facts SET ok = 5 WHERE node = 2",
        "UPDATE td_facts SET counted_after = 0, moved_at = NULL WHERE node = 3",
        "UPDATE td_facts SET last_pull_id = 0 WHERE node = 1",
        "UPDATE td_facts SET tier = 'task'",
        "DELETE FROM td_facts WHERE node = 2",
        "DELETE FROM td_access WHERE id = 6",
    ],
)
def test_counts_out_of_step_are_found_and_made_anew(store: Store, ids: list[str], statement: str) -> None:
    before = read_facts(store, ids, store.now_ms())
    run(store, statement)
    found = checked(store, COUNTS)
    assert (found.state, found.fix) == ("bad", "tierdeck doctor --repair promotion-counts")
    assert found.details
    repair(store, [COUNTS])
    assert checked(store, COUNTS).state == "ok"
    if "td_access" not in statement:
        assert [f.max_pulls for f in read_facts(store, ids, store.now_ms())] == [f.max_pulls for f in before]
        moved = store.read(lambda c: c.execute("SELECT counted_after, moved_at IS NULL FROM td_facts").fetchall())
        assert moved == [(3, 0)] * 3, "what the log says of moves by hand is read from it"


def test_a_changed_row_of_the_log_is_named_and_no_repair_hides_it(store: Store, ids: list[str]) -> None:
    run(store, "DROP TRIGGER td_promotion_log_update", "UPDATE td_promotion_log SET actor = 'x' WHERE id = 2")
    found = checked(store, LOG)
    assert (found.state, found.fix) == ("bad", None)
    assert found.text.startswith("row 2 was changed")
    schema = checked(store, "schema")
    assert (schema.details, schema.fix) == (
        ("trigger td_promotion_log_update is missing",), "tierdeck doctor --repair schema",
    )  # fmt: skip
    [(_, done), _] = repair(store, [LOG, "schema"]).done[::-1]
    assert done.startswith("nothing: it ends where its head says")
    assert checked(store, LOG).text.startswith("row 2 was changed")


def test_a_log_that_was_cut_goes_on_after_a_repair_that_stays_on_record(store: Store, ids: list[str]) -> None:
    run(store, "DROP TRIGGER td_promotion_log_delete", "DELETE FROM td_promotion_log WHERE id = 3")
    found = checked(store, LOG)
    assert (found.state, found.fix) == ("bad", "tierdeck doctor --repair promotion-log")
    repair(store, [LOG, "schema"], actor="mara")
    override_tier(store, ids[:1], Tier.TASK, actor="mara", reason="goes on")
    after = checked(store, LOG)
    assert (after.state, after.text) == (
        "info", "3 rows in one chain; 1 times it went on from another end, each on record",
    )  # fmt: skip
    assert [(b.actor, b.old_head[:2], b.new_head[:2]) for b in store.read(breaks_in)] == [("mara", "3:", "2:")]


def test_a_long_log_and_many_accesses_are_gone_through_only_when_all_is_asked_for(
    store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierdeck.maintenance.promotion_checks.MAX_ACCESSES", 5)
    monkeypatch.setattr("tierdeck.maintenance.promotion_checks.MAX_LOG_ROWS", 2)
    assert checked(store, COUNTS).text == "6 rows of td_access were not gone through; `--thorough` does"
    assert checked(store, LOG).text == "3 rows of td_promotion_log were not gone through; `--thorough` does"
    assert [checked(store, name, is_thorough=True).state for name in (COUNTS, LOG)] == ["ok", "ok"]


def test_a_held_memory_that_another_program_moved_is_named(store: Store, ids: list[str]) -> None:
    hold(store, ids[:1], actor="mara", reason="stays")
    run(store, f"UPDATE nodes SET tier = 'task' WHERE id = '{ids[0]}'")
    found = checked(store, "holds")
    assert (found.state, found.details) == ("warn", (f"{ids[0]}: held in longterm, now in task",))


@pytest.mark.case("P06")
@pytest.mark.parametrize("ahead_ms", [10 * 86_400_000, 253_000_000_000_000])
def test_memories_used_in_the_future_are_flagged(store: Store, ids: list[str], ahead_ms: int) -> None:
    run(store, f"UPDATE nodes SET last_accessed = {min(store.now_ms() + ahead_ms, 99_999_999_999_999)}")
    run(store, f"UPDATE nodes SET last_accessed = created_at WHERE id <> '{ids[1]}'")
    found = checked(store, "clock")
    assert (found.state, found.details) == ("warn", (f"{ids[1]}: last accessed is in the future",))


def test_rows_of_memories_that_are_gone_go_and_the_log_keeps_its_own(store: Store, ids: list[str]) -> None:
    run(store, f"DELETE FROM nodes WHERE id = '{ids[0]}'")
    found = checked(store, "orphans")
    assert {line.split(":")[0] for line in found.details} == {"td_access", "td_facts", "td_hold"}
    repair(store, ["orphans"])
    assert checked(store, "orphans").state == "ok"
    assert checked(store, COUNTS).state == "ok"
    assert verify_log(store).rows == 3
    assert store.read(lambda conn: conn.execute("SELECT count(*) FROM td_use").get) == 2


def test_a_number_of_an_access_that_the_counts_name_is_not_given_out_again(store: Store) -> None:
    kept, gone = add_nodes(store, [NodeDraft("stays"), NodeDraft("goes")])
    session = meet_session(store, "s").id
    record_accesses(store, session, [kept, gone], AccessKind.PULL)
    override_tier(store, [kept], Tier.SESSION, actor="mara", reason="by hand")
    run(store, f"DELETE FROM nodes WHERE id = '{gone}'")
    repair(store, ["orphans"])
    record_accesses(store, session, [kept], AccessKind.PULL)
    assert read_facts(store, [kept], store.now_ms())[0].sessions == 1, "a pull after the move is evidence"


def test_another_programs_store_is_looked_over_and_an_adopted_one_mended(family_store_path: Path) -> None:
    with open_store(family_store_path) as foreign:
        assert checked(foreign, COUNTS).text == "no accesses are recorded in this store"
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        record_accesses(store, meet_session(store, "s").id, [family_id(1)], AccessKind.PULL)
        run(store, "DELETE FROM td_use", "DROP TRIGGER td_promotion_log_head")
        assert checked(store, COUNTS).state == "bad"
        assert checked(store, "schema").fix == "tierdeck doctor --repair schema"
        repair(store, [COUNTS, "schema"])
        assert [checked(store, name).state for name in (COUNTS, "schema")] == ["ok", "ok"]


def test_a_backup_carries_the_logs_head_and_a_later_log_is_checked_against_it(
    store: Store, ids: list[str], tmp_path: Path
) -> None:
    made = backup(store, tmp_path / "copy.db")
    check = verify_backup(made.path)
    assert (check.is_good, check.notes, check.log_head) == (True, (), log_head(store))
    undo_move(store, ids[0], actor="mara")
    assert verify_log(store, head=check.log_head).problem is None
    restored = restore_backup(made.path, tmp_path / "restored.db")
    with open_store(restored.target) as again:
        assert verify_log(again, head=check.log_head).problem is None
        override_tier(again, ids[:1], Tier.TASK, actor="mara", reason="goes on")


def test_a_backup_of_a_store_with_a_broken_log_is_good_and_says_so(store: Store, tmp_path: Path) -> None:
    node = add_node(store, NodeDraft("x"))
    override_tier(store, [node.id], Tier.SESSION, actor="mara", reason="by hand")
    run(store, "DROP TRIGGER td_promotion_log_update", "UPDATE td_promotion_log SET reason = 'other'")
    check = verify_backup(backup(store, tmp_path / "copy.db").path)
    assert check.is_good
    assert check.notes[0].startswith("its promotion log has a fault that the store had: row 1 was changed")
    with open_store(restore_backup(check.path, tmp_path / "restored.db").target) as again:
        assert get_node(again, node.id).tier is Tier.SESSION
