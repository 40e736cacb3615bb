from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.family import family_id
from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import ConflictError, NotFoundError
from tierdeck.maintenance import adopt
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.entries import entries
from tierdeck.promote.log.rebuild import rebuild_facts
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import dismiss, hold, holds, release
from tierdeck.promote.moves.override import archive_nodes, override_tier
from tierdeck.promote.moves.runs import run
from tierdeck.promote.moves.undo import undo_move, undo_run, undoable
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, add_node, add_nodes, get_node, open_store

RULES = Rules()
EVIDENCE = (
    "SELECT f.tier, f.counted_after, f.moved_at, f.roots, f.max_in_root, f.ok, f.bad, f.first_pull, f.last_pull, "
    "f.conf_min, (SELECT json_group_array(json_array(u.root, u.pulls, u.first_at, u.last_at, u.ok, u.bad)) "
    "FROM td_use u WHERE u.node = f.node) FROM td_facts f WHERE f.node_id = ?"
)


@dataclass
class Memory:
    """One memory, a candidate, and what can be done to it."""

    store: Store
    id: str

    def look(self) -> tuple[object, ...]:
        """Its tier, its evidence, the holds and the block that stand: all that an undo is to bring back."""
        now = self.store.now_ms()
        facts = read_facts(self.store, [self.id], now)[0]
        evidence = self.store.read(lambda conn: conn.execute(EVIDENCE, (self.id,)).fetchall())
        return (
            get_node(self.store, self.id).tier,
            facts.block,
            holds(self.store, ids=[self.id], now_ms=now),
            evidence,
        )

    def override(self, tier: Tier = Tier.LONGTERM, *, keep: bool = True) -> None:
        override_tier(self.store, [self.id], tier, actor="mara", reason="known good", hold=keep)

    def hold(self) -> None:
        hold(self.store, [self.id], actor="ben", reason="not yet")

    def release(self) -> None:
        release(self.store, [self.id], actor="ben")

    def dismiss(self) -> None:
        dismiss(self.store, [self.id], actor="ben", rules=RULES)

    def approve(self) -> None:
        assert approve(self.store, [self.id], rules=RULES, actor="mara").moved == (self.id,)

    def auto(self) -> None:
        assert record_accesses(self.store, meet_session(self.store, "s1").id, [self.id], AccessKind.PULL).moved

    def pull(self) -> None:
        pull(self.store, [self.id], "s9")

    def undo(self, log_id: int | None = None) -> int:
        return undo_move(self.store, self.id, actor="mara", log_id=log_id).id

    def moved_by_its_program(self, *tiers: str) -> None:
        with self.store.writing() as conn:
            for tier in tiers:
                [(now,)] = conn.execute("SELECT tier FROM nodes WHERE id = ?", (self.id,)).fetchall()
                conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (tier, self.id))
                for _ in range(2):  # its program logs one move twice
                    conn.execute(
                        "INSERT INTO evolution_log (operation, node_ids, from_tier, to_tier) VALUES (?, ?, ?, ?)",
                        ("promote", json.dumps([self.id]), now, tier),
                    )


@pytest.fixture
def memory(store: Store) -> Memory:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, [node_id], times=2, outcome="success")
    return Memory(store, node_id)


# What was done before, and the one thing more that is then taken back.
EXACT: dict[str, tuple[list[Callable[[Memory], object]], Callable[[Memory], object]]] = {
    "an override": ([], Memory.override),
    "an override without a hold": ([], lambda m: m.override(keep=False)),
    "an override of a held one": ([Memory.hold], Memory.override),
    "an override of a held one without a hold": ([Memory.hold], lambda m: m.override(keep=False)),
    "an override of a dismissed one": ([Memory.dismiss], Memory.override),
    "a second override": ([Memory.override, Memory.pull], lambda m: m.override(Tier.TASK)),
    "an archiving": ([], lambda m: archive_nodes(m.store, [m.id], actor="mara")),
    "a hold": ([], Memory.hold),
    "a hold in place of another": ([Memory.hold], Memory.hold),
    "a release": ([Memory.hold], Memory.release),
    "a release of an override's hold": ([Memory.override], Memory.release),
    "a dismissal": ([], Memory.dismiss),
    "an undo of an override": ([Memory.override], Memory.undo),
    "an undo of a rule's move": ([Memory.auto], Memory.undo),
    "an undo of a hold": ([Memory.hold], Memory.undo),
    "an undo of a dismissal": ([Memory.dismiss], Memory.undo),
    "a redo": ([Memory.override, Memory.undo], lambda m: m.undo(entries(m.store, LogFilter())[0].id)),
}


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize("case", EXACT)
def test_what_is_taken_back_brings_back_exactly_what_was(memory: Memory, case: str) -> None:
    before, last = EXACT[case]
    for step in before:
        step(memory)
    was = memory.look()
    last(memory)
    log_id = entries(memory.store, LogFilter())[0].id
    became = memory.look()
    assert became != was
    undo_id = memory.undo(log_id)
    assert memory.look() == was
    memory.undo(undo_id)
    assert memory.look() == became


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize("move", [Memory.auto, Memory.approve])
def test_a_rules_move_taken_back_needs_new_evidence_to_be_repeated(
    memory: Memory, move: Callable[[Memory], None]
) -> None:
    move(memory)
    row = undo_move(memory.store, memory.id, actor="mara", reason="too early")
    assert (row.kind, row.from_tier, row.to_tier, row.reason) == ("undo", "session", "task", "too early")
    session = meet_session(memory.store, "s1").id
    assert record_accesses(memory.store, session, [memory.id], AccessKind.PULL).moved == ()
    assert record_accesses(memory.store, session, [memory.id], AccessKind.PULL).moved == (memory.id,)


def test_pulls_made_meanwhile_count_again_with_the_older_ones(memory: Memory) -> None:
    memory.override()
    memory.pull()
    memory.undo()
    [facts] = read_facts(memory.store, [memory.id], memory.store.now_ms())
    assert (facts.sessions, facts.max_pulls, facts.successes) == (2, 2, 1)


@pytest.mark.spec("SPEC-09.15")
def test_the_newest_comes_first_and_an_older_one_is_refused_while_it_stands(memory: Memory) -> None:
    memory.override()
    memory.override(Tier.ARCHIVE)
    newest, oldest = (row.id for row in entries(memory.store, LogFilter()))
    with pytest.raises(ConflictError, match=f"a newer one stands, the override in row {newest}"):
        memory.undo(oldest)
    memory.undo(newest)
    with pytest.raises(ConflictError, match=f"row {newest} was taken back already, by row 3"):
        memory.undo(newest)
    memory.undo(oldest)
    assert get_node(memory.store, memory.id).tier is Tier.TASK
    assert undoable(memory.store, memory.id) is None
    with pytest.raises(NotFoundError, match="nothing of it stands"):
        memory.undo()
    memory.hold()
    with pytest.raises(ConflictError, match="something was decided after row 3"):
        memory.undo(3)


@pytest.mark.spec("SPEC-09.15")
def test_what_undo_would_take_back_is_told_before(memory: Memory) -> None:
    memory.override()
    memory.release()
    found = undoable(memory.store, memory.id)
    assert found is not None
    assert found.kind == "release"
    memory.undo()
    found = undoable(memory.store, memory.id)
    assert found is not None
    assert found.kind == "override"


@pytest.mark.spec("SPEC-09.15")
def test_a_move_is_not_taken_back_over_one_by_another_program(memory: Memory) -> None:
    memory.override()
    memory.moved_by_its_program("archive")
    with pytest.raises(ConflictError, match="in archive by now, no longer in longterm"):
        memory.undo()
    memory.moved_by_its_program("longterm")
    with pytest.raises(ConflictError, match=r"another program moved it since \(archive → longterm\)"):
        memory.undo()
    assert get_node(memory.store, memory.id).tier is Tier.LONGTERM
    assert len(entries(memory.store, LogFilter())) == 1


def test_rows_of_other_memories_and_of_no_move_stand_in_no_ones_way(memory: Memory) -> None:
    memory.override()
    other = add_node(memory.store, NodeDraft("y")).id
    Memory(memory.store, other).moved_by_its_program("session")
    with memory.store.writing() as conn:
        for ids in (json.dumps([memory.id]), "no json", json.dumps({"a": 1})):
            conn.execute("INSERT INTO evolution_log (operation, node_ids) VALUES ('decay', ?)", (ids,))
        conn.execute(
            "INSERT INTO evolution_log (operation, node_ids, from_tier, to_tier) VALUES ('x', 'no json', 'a', 'b')"
        )
    memory.undo()
    assert get_node(memory.store, memory.id).tier is Tier.TASK


def test_a_hold_is_taken_back_wherever_another_program_moved_the_memory(memory: Memory) -> None:
    memory.hold()
    memory.moved_by_its_program("session")
    row = undo_move(memory.store, memory.id, actor="mara")
    assert (row.from_tier, row.to_tier, holds(memory.store, now_ms=memory.store.now_ms())) == (
        "session",
        "session",
        [],
    )
    undo_move(memory.store, memory.id, actor="mara", log_id=row.id)
    assert [(h.tier, h.moved_to) for h in holds(memory.store, now_ms=memory.store.now_ms())] == [("session", None)]


def test_a_row_of_another_memory_and_a_memory_that_is_gone_are_not_found(memory: Memory) -> None:
    memory.override()
    other = add_node(memory.store, NodeDraft("y")).id
    for log_id in (1, 99):
        with pytest.raises(NotFoundError, match="none of this memory's"):
            undo_move(memory.store, other, actor="mara", log_id=log_id)
    with memory.store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (memory.id,))
    with pytest.raises(NotFoundError, match="no such memory"):
        memory.undo()


@pytest.mark.spec("SPEC-09.15")
def test_a_run_is_taken_back_as_a_whole_with_those_listed_that_can_not_be(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(450)])
    held, theirs, gone = ids[3], ids[250], ids[449]
    report = override_tier(store, ids, Tier.SESSION, actor="mara", reason="all of them")
    assert report.run_id is not None
    hold(store, [held], actor="ben", reason="keep it here")
    Memory(store, theirs).moved_by_its_program("longterm")
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    seen: list[tuple[int, int]] = []
    pace = Pace(lambda done, total: seen.append((done, total)))
    undone = undo_run(store, report.run_id, actor="mara", pace=pace)
    assert undone.moved == tuple(node_id for node_id in reversed(ids) if node_id not in {held, theirs, gone})
    assert {r.node_id: (r.why, r.tier_now) for r in undone.refused} == {
        held: ("a newer one stands, the hold in row 451: it comes first", "session"),
        theirs: ("it is in longterm by now, no longer in session", "longterm"),
        gone: ("there is no such memory (any more)", None),
    }
    assert seen == [(200, 450), (400, 450), (450, 450)]
    assert undone.run_id is not None
    found = run(store, undone.run_id)
    assert (found.kind, found.planned, found.moved, found.refused) == ("undo", 450, 447, 3)
    assert holds(store, now_ms=store.now_ms())[0].node_id == held
    again = undo_run(store, report.run_id, actor="mara")
    assert (again.moved, len(again.refused)) == ((), 3)
    redone = undo_run(store, undone.run_id, actor="mara")
    assert len(redone.moved) == 447
    assert get_node(store, ids[0]).tier is Tier.SESSION
    assert len(holds(store, now_ms=store.now_ms())) == 449


def test_an_undo_of_a_run_that_was_stopped_goes_on_where_it_was(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(450)])
    report = override_tier(store, ids, Tier.SESSION, actor="mara", reason="all of them", hold=False)
    assert report.run_id is not None
    asked = iter([False, True])
    stopped = undo_run(store, report.run_id, actor="mara", pace=Pace(should_stop=lambda: next(asked)))
    assert len(stopped.moved) == 200
    rest = undo_run(store, report.run_id, actor="mara")
    assert (len(rest.moved), rest.refused) == (250, ())
    assert undo_run(store, report.run_id, actor="mara").run_id is None
    with pytest.raises(NotFoundError, match="no run 99"):
        undo_run(store, 99, actor="mara")


def test_a_run_that_moved_a_memory_twice_is_taken_back_to_its_beginning(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    first = override_tier(store, [node_id], Tier.SESSION, actor="mara", reason="one step", hold=False)
    override_tier(store, [node_id], Tier.LONGTERM, actor="mara", reason="another", hold=False)
    with store.writing() as conn:
        conn.execute("DROP TRIGGER td_promotion_log_update")
        conn.execute("UPDATE td_promotion_log SET run_id = ?", (first.run_id,))
    assert first.run_id is not None
    assert undo_run(store, first.run_id, actor="mara").moved == (node_id, node_id)
    assert get_node(store, node_id).tier is Tier.TASK


@pytest.mark.spec("SPEC-09.15")
def test_undo_works_in_an_adopted_store_beside_its_program(family_store_path: Path) -> None:
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        memory = Memory(store, family_id(1))
        memory.pull()
        was = memory.look()
        memory.override()
        memory.undo()
        assert memory.look() == was
        memory.override()
        memory.moved_by_its_program("task", "longterm")
        with pytest.raises(ConflictError, match="another program moved it since"):
            memory.undo()


def test_an_undone_hold_that_has_ended_meanwhile_stands_no_more(memory: Memory) -> None:
    now = memory.store.now_ms()
    hold(memory.store, [memory.id], actor="ben", reason="a day", until_ms=now + DAY_MS)
    memory.release()
    with open_store(memory.store.path, clock=lambda: now + 2 * DAY_MS) as later:
        undo_move(later, memory.id, actor="mara")
        assert holds(later, now_ms=now + 2 * DAY_MS) == []
    assert len(holds(memory.store, now_ms=now)) == 1


def test_the_evidence_that_an_undo_of_a_rules_move_ended_stays_ended_when_a_release_before_it_is_taken_back(
    store: Store,
) -> None:
    memory = Memory(store, add_node(store, NodeDraft("x", confidence=0.9)).id)
    memory.hold()
    memory.release()
    pull(store, [memory.id], times=1)
    memory.auto()
    undo_move(store, memory.id, actor="mara")
    undo_move(store, memory.id, actor="mara")  # the release: held again
    memory.override()
    undo_move(store, memory.id, actor="mara")
    facts = read_facts(store, [memory.id], store.now_ms())[0]
    assert (facts.tier, facts.block, facts.max_pulls) == ("task", "held", 0)
    memory.release()
    assert record_accesses(store, meet_session(store, "s1").id, [memory.id], AccessKind.PULL).moved == ()


def test_what_the_log_tells_of_the_evidence_is_what_stands_also_after_decisions_between_moves_were_taken_back(
    store: Store,
) -> None:
    memory = Memory(store, add_node(store, NodeDraft("x", confidence=0.9)).id)
    memory.hold()
    memory.release()
    pull(store, [memory.id], times=1)
    memory.auto()
    undo_move(store, memory.id, actor="mara")
    undo_move(store, memory.id, actor="mara")
    stood = memory.look()
    with store.writing() as conn:
        rebuild_facts(conn, [memory.id], logs_confidence=True)
    assert memory.look() == stood
