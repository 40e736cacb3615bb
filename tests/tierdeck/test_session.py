"""What an agent's own process uses: what each of its acts leaves in the store."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.folder_state import folder_state
from tierdeck.config import PromotionSettings, SearchSettings
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError, ReadOnlyStoreError
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.records import RunReport
from tierdeck.session import Session, open_session
from tierdeck.store import Store, access_summary, accesses, add_node, add_nodes, get_node, open_store, sessions


@pytest.fixture
def node_id(store: Store) -> str:
    return add_node(store, NodeDraft("the staging database runs on port 5433", confidence=0.9)).id


def kinds(store: Store, node_id: str) -> list[tuple[str, str | None]]:
    """What is on record of the memory, oldest first."""
    return [(access.kind.value, access.outcome) for access in reversed(accesses(store, node_id))]


@pytest.mark.spec("SPEC-09.10")
def test_a_hit_is_shown_and_what_is_opened_is_pulled_once_also_when_it_is_used(store: Store, node_id: str) -> None:
    with open_session(store, "run-41", project="billing", agent="coder") as session:
        [hit] = session.search("staging port").hits
        assert (hit.row.id, kinds(store, node_id)) == (node_id, [("shown", None)])
        assert session.open(node_id).access_count == 1
        assert session.use(node_id) == RunReport(None, (), ())
        assert kinds(store, node_id) == [("shown", None), ("pull", None)]
    [row] = sessions(store)
    assert (row.external_id, row.project, row.agent, row.outcome) == ("run-41", "billing", "coder", None)
    assert row.ended_at_ms is not None


def test_the_use_of_an_opened_memory_may_say_what_came_of_it(store: Store, node_id: str) -> None:
    session = open_session(store, "run-41")
    session.open(node_id)
    session.use(node_id, "success")
    assert kinds(store, node_id) == [("pull", "success")]


def test_a_use_without_opening_and_a_second_use_are_pulls(store: Store, node_id: str) -> None:
    session = open_session(store, "run-41", promotion=PromotionSettings(automatic=False))
    session.use(node_id, "failure")
    session.open(node_id)
    session.use(node_id)
    session.use(node_id, "success")
    assert kinds(store, node_id) == [("pull", "failure"), ("pull", None), ("pull", "success")]
    assert session.moved == ()


def test_the_agent_is_told_what_moved(store: Store, node_id: str) -> None:
    with open_session(store, "run-1") as session:
        session.open(node_id)
        assert session.open(node_id).tier is Tier.SESSION, "as it stands after the rules looked at it"
        assert session.moved == (node_id,)
    with open_session(store, "run-2") as session:
        assert session.use(node_id).moved == ()
    session = open_session(store, "run-3")
    session.use(node_id)
    assert session.end("success").moved == (node_id,)
    assert (session.moved, get_node(store, node_id).tier) == ((node_id,), Tier.LONGTERM)


def test_pushed_memories_are_on_record_and_count_for_nothing(store: Store, node_id: str) -> None:
    other = add_node(store, NodeDraft("y")).id
    with open_session(store, "run-1") as session:
        session.push([node_id, other])
        session.push([])
        session.end("success")
    assert kinds(store, node_id) == kinds(store, other) == [("push", None)]
    [facts] = read_facts(store, [node_id], store.now_ms())
    assert (facts.sessions, facts.successes) == (0, 0)


def test_a_search_shows_as_many_as_the_settings_say_and_nothing_where_nothing_is_found(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"port {number}") for number in range(5)])
    with open_session(store, "run-1", search=SearchSettings(alpha=0.0, limit_rows=2)) as session:
        assert [
            len(session.search(text, limit_rows=rows).hits) for text, rows in (("port", None), ("port", 4))
        ] == [2, 4]
        assert session.search("nowhere").hits == ()
        assert session.search("port").asked_alpha == 0
        with pytest.raises(InvalidValueError):
            session.search("port", alpha=2)
    assert store.read(lambda conn: conn.execute("SELECT count(*), min(kind) FROM td_access").fetchall()) == [
        (8, "shown")
    ]


def test_an_outcome_is_of_what_was_pulled_in_this_session(store: Store, node_id: str) -> None:
    open_session(store, "other").use(node_id)
    session = open_session(store, "run-1")
    with pytest.raises(NotFoundError, match="was not pulled"):
        session.outcome(node_id, "success")
    session.use(node_id)
    session.outcome(node_id, "success")
    session.outcome(node_id, None)
    assert kinds(store, node_id) == [("pull", None), ("pull", None)]
    with pytest.raises(NotFoundError):
        session.open("nothing")
    with pytest.raises(NotFoundError):
        session.use("nothing")


def test_an_ended_session_takes_nothing_more_and_the_same_end_again(store: Store, node_id: str) -> None:
    with open_session(store, "run-1") as session:
        session.use(node_id)
        session.end("failure")
        session.end("failure")
        with pytest.raises(ConflictError, match="its outcome is failure"):
            session.end("success")
    acts = (
        lambda: session.search("port"),
        lambda: session.open(node_id),
        lambda: session.use(node_id),
        lambda: session.push([node_id]),
        lambda: session.outcome(node_id, None),
    )
    for act in acts:
        with pytest.raises(ConflictError, match="session run-1 has ended"):
            act()
    assert kinds(store, node_id) == [("pull", None)]


@pytest.mark.case("P04")
def test_a_crash_says_nothing_of_the_memories_and_the_restart_goes_on_in_the_same_session(
    store: Store, node_id: str
) -> None:
    def crash() -> None:
        with open_session(store, "run-1") as session:
            session.use(node_id)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crash()
    [row] = sessions(store)
    assert (row.ended_at_ms, row.outcome) == (None, None)
    with open_session(store, "run-1") as again:
        assert again.id == row.id
        again.end("success")
    [facts] = read_facts(store, [node_id], store.now_ms())
    assert (facts.sessions, facts.successes, facts.failures) == (1, 1, 0)


@pytest.mark.case("P01")
def test_sub_agents_count_with_the_session_that_began_them(store: Store, node_id: str) -> None:
    with open_session(store, "main") as main, open_session(store, "sub", parent="main") as sub:
        assert (sub.row.root_id, sub.external_id) == (main.id, "sub")
        main.use(node_id)
        sub.use(node_id)
    assert access_summary(store, node_id).roots == 1
    assert get_node(store, node_id).tier is Tier.SESSION


def test_several_threads_use_one_session(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(str(number)) for number in range(40)])
    session = open_session(store, "run-1")

    def work(mine: list[str]) -> None:
        for node_id in mine:
            session.open(node_id)
            session.use(node_id, "success")

    threads = [threading.Thread(target=work, args=(ids[number::4],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {tuple(kinds(store, node_id)) for node_id in ids} == {(("pull", "success"),)}


def test_a_store_that_can_not_be_written_opens_no_session(store: Store, family_store_path: Path) -> None:
    before = folder_state(family_store_path.parent)
    with (
        open_store(family_store_path) as theirs,
        pytest.raises(ReadOnlyStoreError, match="another program's store, not adopted") as refused,
    ):
        open_session(theirs, "run-1")
    assert refused.value.hint == "`tierdeck adopt` makes it writable, after a backup"
    assert folder_state(family_store_path.parent) == before
    with open_store(store.path, read_only=True) as reading, pytest.raises(ReadOnlyStoreError, match="for reading"):
        open_session(reading, "run-1")


@pytest.mark.case("P16")
def test_a_session_object_is_what_open_session_gives_and_reads_take_nothing_away(
    store: Store, node_id: str
) -> None:
    archived = add_node(store, NodeDraft("old port", tier=Tier.ARCHIVE)).id
    with open_session(store, "run-1") as session:
        assert isinstance(session, Session)
        for text in ("port", "", "is:archived port"):
            session.search(text)
    assert store.read(lambda conn: conn.execute("SELECT count(*) FROM nodes").get) == 2
    assert [access.kind for access in accesses(store, archived)] == [AccessKind.SHOWN]
