"""Whatever is decided about memories, all but their tier stays byte for byte, in the store and in its index."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.family import FAMILY_MEMORIES, family_id
from tests.tierdeck.promote.lasting import lasting, shadow_digest
from tests.tierdeck.promote.pulls import pull
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import ConflictError, NotFoundError
from tierdeck.index.path import beside_index_path
from tierdeck.maintenance import adopt
from tierdeck.model import AccessKind, EdgeType, Member, NodeDraft, NodeFilter, Tier
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import count_entries, entries
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.holds import dismiss, hold, release
from tierdeck.promote.moves.override import archive_nodes, override_tier, preview_override, restore_nodes
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.moves.undo import undo_move, undo_run
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import Rules
from tierdeck.search import hybrid_search
from tierdeck.store import Store, add_node, add_nodes, count_nodes, get_node, open_store, relate
from tierdeck.vectors.vector_index import open_vector_index

RULES = Rules(session_pulls=1, longterm_sessions=1, longterm_confidence=0)
LOCAL = EmbeddingSettings(provider="local")


def mixed_store(path: Path) -> Store:
    """Six candidates with what other programs may leave in a memory, two of them bound to each other."""
    store = open_store(path, create=True)
    ids = add_nodes(
        store,
        [
            NodeDraft(f"memory {n}", tier=tier, metadata={"n": n})
            for n, tier in enumerate((*Tier, Tier.TASK, Tier.TASK))
        ],
    )
    relate(store, EdgeType.RELATION, [Member(ids[0], "subject"), Member(ids[1], "object")])
    with store.writing() as conn:
        conn.execute(
            "UPDATE nodes SET content = CAST(x'61ff' AS TEXT), metadata = 'no json' WHERE id = ?", (ids[4],)
        )
        conn.execute("UPDATE nodes SET metadata = NULL, updated_at = 'soon' WHERE id = ?", (ids[5],))
    pull(store, ids, outcome="success")
    return store


def undo_any(store: Store, node_id: str, draw: int) -> None:
    rows = entries(store, LogFilter(node_id=node_id))
    undo_move(store, node_id, actor="mara", log_id=rows[draw % len(rows)].id if rows else None)


def undo_any_run(store: Store, _node_id: str, draw: int) -> None:
    found = runs(store)
    undo_run(store, found[draw % len(found)].id if found else 1, actor="mara")


STEPS: list[Callable[[Store, str, int], object]] = [
    lambda s, i, n: override_tier(s, [i], list(Tier)[n % 4], actor="mara", reason="just so", hold=n % 2 == 0),
    lambda s, i, n: override_tier(
        s, all_ids(s), list(Tier)[n % 4], actor="mara", reason="all", with_held=n % 2 == 0
    ),
    lambda s, i, n: preview_override(s, [i], list(Tier)[n % 4], rules=RULES),
    lambda s, i, n: archive_nodes(s, [i], actor="mara"),
    lambda s, i, n: restore_nodes(s, [i], actor="mara"),
    lambda s, i, n: hold(s, [i], actor="ben", reason="not yet"),
    lambda s, i, n: release(s, [i], actor="ben"),
    lambda s, i, n: dismiss(s, [i], actor="ben", rules=RULES),
    lambda s, i, n: approve(s, all_ids(s), rules=RULES, actor="mara"),
    undo_any,
    lambda s, i, n: undo_move(s, i, actor="mara"),
    undo_any_run,
]


def all_ids(store: Store) -> list[str]:
    return [str(row[0]) for row in store.read(lambda c: c.execute("SELECT id FROM nodes ORDER BY id").fetchall())]


@pytest.mark.spec("SPEC-09.13", "SPEC-09.14", "SPEC-09.15")
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.integers(0, 50)), max_size=25))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_number_of_moves_holds_and_undos_changes_nothing_but_the_tier(
    steps: list[tuple[Callable[[Store, str, int], object], int, int]],
) -> None:
    with TemporaryDirectory() as folder, mixed_store(Path(folder) / "memory.db") as store:
        ids = all_ids(store)
        was, shadows = lasting(store), shadow_digest(store)
        for step, which, draw in steps:
            try:
                step(store, ids[which], draw)
            except (ConflictError, NotFoundError):  # nothing to take back, or no longer
                continue
        assert lasting(store) == was
        assert shadow_digest(store) == shadows
        assert verify_log(store).problem is None
        check_logs_agree(store)
        check_evidence(store)


def check_logs_agree(store: Store) -> None:
    """Each move of ours has its one row in the family's log, and the latest of a memory names where it is."""
    ours = [row for row in entries(store, LogFilter(), limit_rows=10_000) if row.is_move]
    theirs = store.read(
        lambda conn: conn.execute(
            "SELECT id, json_extract(node_ids, '$[0]'), from_tier, to_tier FROM evolution_log ORDER BY id DESC"
        ).fetchall()
    )
    assert [(row.evolution_id, row.node_id, row.from_tier, row.to_tier) for row in ours] == theirs
    latest = {row.node_id: row.to_tier for row in reversed(ours)}
    assert all(get_node(store, node_id).tier == tier for node_id, tier in latest.items())


def check_evidence(store: Store) -> None:
    """What is counted is what would be counted anew, from where the log says that the evidence begins."""

    def look(conn: apsw.Connection) -> list[object]:
        return [conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in ("td_facts", "td_use")]

    kept = store.read(look)
    with store.writing() as conn:
        recount(conn, logs_confidence=True)
    assert store.read(look) == kept
    begins = (
        "SELECT count(*) FROM td_promotion_log l JOIN td_facts f ON f.node_id = l.node_id "
        "WHERE f.counted_after IS NOT l.counted_after "
        "AND l.id = (SELECT max(m.id) FROM td_promotion_log m WHERE m.node_id = l.node_id)"
    )
    assert store.read(lambda conn: conn.execute(begins).get) == 0


@pytest.mark.spec("SPEC-09.13", "SPEC-09.10")
def test_a_thousand_moves_and_accesses_leave_every_full_text_and_vector_row_as_it_was(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n} of many", tier=list(Tier)[n % 4]) for n in range(100)])
    run_indexer(store, make_embedder(LOCAL, store), LOCAL)
    assert beside_index_path(store.path).exists()
    was = shadow_digest(store)
    draw = random.Random(9)
    moved = 0
    while moved < 1_000:
        some = draw.sample(ids, 50)
        report = override_tier(
            store, some, draw.choice(list(Tier)), actor="mara", reason="to and fro", with_held=True
        )
        moved += len(report.moved)
        if draw.random() < 0.3 and report.run_id is not None:
            moved += len(undo_run(store, report.run_id, actor="mara").moved)
        record_accesses(store, meet_session(store, f"s{moved % 7}").id, some, AccessKind.PULL)
    assert shadow_digest(store) == was
    assert count_entries(store, LogFilter()) >= 1_000
    assert verify_log(store).problem is None
    add_node(store, NodeDraft("one more"))
    assert shadow_digest(store) != was


@pytest.mark.case("P18")
@pytest.mark.spec("SPEC-03.19", "SPEC-09.13")
def test_a_memory_archived_by_hand_is_not_found_by_meaning_unless_asked_for(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("the zebra crossing by the school"), NodeDraft("a recipe for onion soup")])
    embedder = make_embedder(LOCAL, store)
    run_indexer(store, embedder, LOCAL)
    archive_nodes(store, ids[:1], actor="mara")

    def found(alpha: float, *, everything: bool) -> list[str]:
        index = open_vector_index(store)
        assert index is not None
        with index:
            node_filter = NodeFilter(include_archived=everything)
            answer = hybrid_search(
                store, "zebra crossing", alpha=alpha, embedder=embedder, index=index, node_filter=node_filter
            )
        return [hit.row.id for hit in answer.hits]

    assert ids[0] not in found(0, everything=False) + found(1, everything=False) + found(0.5, everything=False)
    assert found(1, everything=True)[0] == found(0, everything=True)[0] == ids[0]


@pytest.mark.case("P16")
def test_no_read_changes_how_many_rows_there_are_held_archived_or_long_unused(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}", tier=tier) for n, tier in enumerate(Tier)])
    hold(store, ids[:1], actor="mara", reason="a moment", until_ms=store.now_ms() + 1)
    was = rows_by_table(store)
    later = store.now_ms() + 400 * 86_400_000
    with open_store(store.path, clock=lambda: later) as much_later:
        hybrid_search(much_later, "memory", alpha=0, node_filter=NodeFilter(include_archived=True))
        preview_override(much_later, ids, Tier.TASK, rules=RULES)
        verify_log(much_later)
        entries(much_later, LogFilter())
        assert count_nodes(much_later, NodeFilter(include_archived=True)) == 4
    assert rows_by_table(store) == was


def rows_by_table(store: Store) -> dict[str, object]:
    def look(conn: apsw.Connection) -> dict[str, object]:
        names = [str(row[0]) for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: conn.execute(f'SELECT count(*) FROM "{name}"').get for name in names}

    return store.read(look)


@pytest.mark.spec("SPEC-09.13")
def test_in_an_adopted_store_too_nothing_but_the_tier_changes(family_store_path: Path) -> None:
    adopt(family_store_path)
    ids = [family_id(number) for number, *_ in FAMILY_MEMORIES]
    with open_store(family_store_path) as store:
        was, shadows = lasting(store), shadow_digest(store)
        report = override_tier(store, ids, Tier.LONGTERM, actor="mara", reason="all of them")
        archive_nodes(store, ids[:3], actor="mara")
        undo_move(store, ids[0], actor="mara")
        assert report.run_id is not None
        undo_run(store, report.run_id, actor="mara")
        assert lasting(store) == was
        assert shadow_digest(store) == shadows
        assert verify_log(store).problem is None
