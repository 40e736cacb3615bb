from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from tests.tierdeck.conftest import Remote
from tierdeck.embed.embed_report import EmbedProgress
from tierdeck.embed.work_queue import OFF, SECRET
from tierdeck.index.file import open_for_writing
from tierdeck.index.path import index_path
from tierdeck.model import NodeChanges, NodeDraft, content_hash
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.store.nodes import add_node, add_nodes
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

Fill = Callable[..., list[str]]


def opened(store: Store) -> VectorIndex:
    index = open_vector_index(store)
    assert index is not None
    return index


def states(store: Store) -> dict[str, tuple[str, str | None]]:
    """Each memory's status and error, as the index has them."""
    with closing(open_for_writing(store)) as conn:
        return {
            str(i): (str(s), e) for i, s, e in conn.execute("SELECT node_id, status, error FROM embedding_state")
        }


@pytest.mark.spec("SPEC-09.01", "SPEC-09.03")
def test_every_memory_gets_a_unit_vector_with_the_hash_of_its_text(remote: Remote, fill: Fill) -> None:
    ids = fill("one", "two", "three")
    report = remote.run()
    assert (report.asked, report.embedded, report.pending, report.failed, report.stopped) == (3, 3, 0, 0, None)
    with opened(remote.store) as index:
        assert (index.model, index.dimensions, index.vectors_count) == ("model-a", 8, 3)
        assert index.hashes(ids) == dict(zip(ids, map(content_hash, ("one", "two", "three")), strict=True))
        for vector in index.vectors(ids).values():
            assert float(vector @ vector) == pytest.approx(1.0, abs=1e-6)


def test_a_second_run_sends_nothing(remote: Remote, fill: Fill) -> None:
    fill("one", "two")
    remote.run()
    calls = len(remote.server.calls)
    report = remote.run()
    assert (report.asked, report.embedded) == (0, 0)
    assert len(remote.server.calls) == calls


def test_an_empty_store_sends_nothing_at_all(remote: Remote) -> None:
    assert remote.run().asked == 0
    assert remote.server.calls == []


@pytest.mark.spec("SPEC-09.07")
@pytest.mark.parametrize(("batch_rows", "sizes"), [(64, [23]), (10, [10, 10, 3]), (1, [1] * 23)])
def test_requests_hold_as_many_texts_as_the_settings_say(
    remote: Remote, fill: Fill, batch_rows: int, sizes: list[int]
) -> None:
    fill(*(f"memory {i}" for i in range(23)))
    remote.configure(batch_rows=batch_rows)
    assert remote.run().embedded == 23
    assert remote.batches() == sizes


@pytest.mark.spec("SPEC-09.07")
def test_a_request_never_holds_more_bytes_than_the_settings_have_tokens(remote: Remote, fill: Fill) -> None:
    fill(*(f"{i:03d}" + "x" * 97 for i in range(10)))
    remote.configure(batch_tokens=350)
    assert remote.run().embedded == 10
    assert remote.batches() == [3, 3, 3, 1]


def test_equal_texts_are_sent_once_in_one_run_and_never_again(remote: Remote, fill: Fill) -> None:
    fill(*["same"] * 5, "other")
    assert remote.run().embedded == 6
    fill("same", "same")
    assert remote.run().embedded == 2
    assert sorted(remote.sent()) == ["other", "same"]


@pytest.mark.spec("SPEC-09.06")
def test_a_memory_with_embedding_off_is_never_sent(remote: Remote) -> None:
    quiet = add_node(remote.store, NodeDraft(content="not for models", compute_embedding=False))
    loud = add_node(remote.store, NodeDraft(content="for models"))
    assert remote.run().embedded == 1
    assert remote.sent() == ["for models"]
    assert states(remote.store) == {quiet.id: ("skipped", OFF), loud.id: ("done", None)}


@pytest.mark.spec("SPEC-09.06")
def test_turning_embedding_off_takes_the_vector_out_and_turning_it_on_makes_it_anew(
    remote: Remote, fill: Fill
) -> None:
    [node_id] = fill("text")
    remote.run()
    with remote.store.writing() as conn:
        conn.execute("INSERT INTO td_no_embedding (node_id) VALUES (?)", (node_id,))
    remote.run()
    with opened(remote.store) as index:
        assert index.vectors([node_id]) == {}
    with remote.store.writing() as conn:
        conn.execute("DELETE FROM td_no_embedding")
    assert remote.run().embedded == 1


def test_an_edited_text_is_embedded_anew_and_its_old_vector_counts_no_more(remote: Remote, fill: Fill) -> None:
    [node_id, other] = fill("before", "other")
    remote.run()
    edit_node(remote.store, node_id, NodeChanges(content="after"), actor="test")
    with opened(remote.store) as index:
        assert index.hashes([node_id])[node_id] != content_hash("after")
    assert remote.run().embedded == 1
    with opened(remote.store) as index:
        assert index.hashes([node_id, other]) == {node_id: content_hash("after"), other: content_hash("other")}
        assert index.vectors_count == 2


def test_a_text_edited_while_it_is_on_its_way_gets_no_vector_of_the_old_text(remote: Remote, fill: Fill) -> None:
    [node_id] = fill("before")

    def edit(texts: object) -> None:
        if texts == ["before"]:
            edit_node(remote.store, node_id, NodeChanges(content="after"), actor="test")

    remote.server.on_request = edit
    assert remote.run().embedded == 1
    assert remote.sent() == ["before", "after"]
    with opened(remote.store) as index:
        assert index.hashes([node_id]) == {node_id: content_hash("after")}


def test_a_memory_that_vanished_takes_its_vector_with_it(remote: Remote, fill: Fill) -> None:
    gone, kept = fill("gone", "kept")
    remote.run()
    with remote.store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    remote.run()
    with opened(remote.store) as index:
        assert set(index.vectors([gone, kept])) == {kept}
    assert set(states(remote.store)) == {kept}


def test_archived_memories_are_embedded_after_the_others(remote: Remote, fill: Fill) -> None:
    ids = fill(*(f"memory {i}" for i in range(6)))
    archive_nodes(remote.store, ids[:3], actor="test")
    remote.configure(batch_rows=1)
    remote.run()
    assert sorted(remote.sent()[:3]) == ["memory 3", "memory 4", "memory 5"]
    assert sorted(remote.sent()[3:]) == ["memory 0", "memory 1", "memory 2"]


@pytest.mark.case("E03")
@pytest.mark.parametrize("lost", ["embedding_state", "node_key", "node_embeddings", "index_model"])
def test_a_row_lost_between_two_tables_is_mended_and_leaves_one_vector(
    remote: Remote, fill: Fill, lost: str
) -> None:
    [node_id, other] = fill("text", "other")
    remote.run()
    with closing(open_for_writing(remote.store)) as conn, conn:
        match lost:
            case "index_model":
                conn.execute("DELETE FROM index_model")
            case "node_key":
                conn.execute("DELETE FROM node_key WHERE id = ?", (node_id,))
            case _:
                conn.execute(f"DELETE FROM {lost} WHERE node_id = ?", (node_id,))
    remote.run()
    remote.run()
    with opened(remote.store) as index:
        assert index.vectors_count == 2
        assert index.hashes([node_id, other]) == {node_id: content_hash("text"), other: content_hash("other")}
        assert set(index.vectors([node_id, other])) == {node_id, other}


@pytest.mark.case("E05")
@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf"), float("-inf")])
def test_a_vector_of_zeros_or_with_nan_or_infinity_is_refused_with_its_reason(
    remote: Remote, fill: Fill, bad: float
) -> None:
    ids = fill("good", "bad", "fine")
    chosen = remote.server.vector_of
    remote.server.vector_of = lambda text: [bad] * 8 if text == "bad" else chosen(text)
    report = remote.run()
    assert (report.embedded, report.failed, report.pending) == (2, 1, 0)
    [fault] = report.errors
    assert fault.node_id == ids[1]
    assert fault.is_permanent
    with opened(remote.store) as index:
        assert set(index.vectors(ids)) == {ids[0], ids[2]}
        assert ids[1] not in dict(index.nearest(index.vectors(ids[:1])[ids[0]], 10))


@pytest.mark.case("E10")
def test_one_vector_of_another_length_fails_alone(remote: Remote, fill: Fill) -> None:
    ids = fill("good", "short", "fine")
    chosen = remote.server.vector_of
    remote.server.vector_of = lambda text: [1.0] * 5 if text == "short" else chosen(text)
    report = remote.run()
    assert (report.embedded, report.failed) == (2, 1)
    assert report.errors[0].node_id == ids[1]
    assert "5 numbers" in report.errors[0].error


@pytest.mark.case("E14", "E15")
def test_a_text_too_long_for_the_model_is_cut_and_flagged_and_its_batch_is_not_hurt(
    remote: Remote, fill: Fill
) -> None:
    remote.server.fault_for = lambda text: None
    long_text = "wörter " * 25_000
    ids = fill(*(f"short {i}" for i in range(9)), long_text)
    assert remote.run().embedded == 10
    [sent] = [text for text in remote.sent() if len(text) > 100]
    assert len(sent.encode()) <= 8_192
    assert long_text.startswith(sent)
    status, note = states(remote.store)[ids[9]]
    assert status == "done"
    assert note is not None
    assert note.startswith("embedded first 8,19")
    assert note.endswith(f"of {len(long_text.encode()):,} bytes")
    with opened(remote.store) as index:
        assert index.hashes(ids[9:]) == {ids[9]: content_hash(long_text)}


@pytest.mark.case("X01")
@pytest.mark.parametrize("secret", ["export OPENAI_API_KEY=sk-test-0000000000", "postgres://u:s3cret99@h/db"])
def test_a_text_with_a_secret_stays_here_unless_it_is_allowed(remote: Remote, fill: Fill, secret: str) -> None:
    ids = fill("harmless", secret)
    report = remote.run()
    assert (report.embedded, report.skipped) == (1, 1)
    assert remote.sent() == ["harmless"]
    assert states(remote.store)[ids[1]] == ("skipped", SECRET)
    remote.run()
    assert remote.sent() == ["harmless"]
    remote.configure(send_secrets=True)
    assert remote.run().embedded == 1
    assert remote.sent() == ["harmless", secret]


@pytest.mark.case("X01")
def test_progress_never_shows_a_secret(remote: Remote, fill: Fill) -> None:
    fill("the key is sk-test-0000000000")
    remote.configure(send_secrets=True)
    seen: list[EmbedProgress] = []
    remote.run(on_progress=seen.append)
    assert [step.text for step in seen] == ["the key is [hidden: token]"]


def test_progress_counts_up_to_all_that_was_asked(remote: Remote, fill: Fill) -> None:
    fill(*(f"memory {i}" for i in range(7)))
    remote.configure(batch_rows=3)
    seen: list[EmbedProgress] = []
    remote.run(on_progress=seen.append)
    assert [(step.done, step.total, step.failed) for step in seen] == [(3, 7, 0), (6, 7, 0), (7, 7, 0)]


def test_a_run_that_is_stopped_keeps_its_batches_and_the_next_goes_on(remote: Remote, fill: Fill) -> None:
    fill(*(f"memory {i}" for i in range(10)))
    remote.configure(batch_rows=2)
    report = remote.run(should_stop=lambda: len(remote.batches()) >= 2)
    assert report.stopped is not None
    assert (report.embedded, report.pending) in {(4, 6), (2, 8)}  # the request on its way may be given up
    remote.run()
    assert remote.run().asked == 0
    with opened(remote.store) as index:
        assert index.vectors_count == 10


def test_the_file_lies_beside_a_store_of_ours_and_only_its_owner_may_read_it(remote: Remote, fill: Fill) -> None:
    fill("one")
    remote.run()
    path = index_path(remote.store)
    assert path == remote.store.path.with_name("memory.db-index")
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_store_gets_nothing_by_being_embedded(remote: Remote, fill: Fill) -> None:
    fill(*(f"memory {i}" for i in range(50)))
    before = remote.store.read(lambda c: c.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall())
    version = remote.store.data_version()
    remote.run()
    after = remote.store.read(lambda c: c.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall())
    assert before == after
    assert remote.store.data_version() == version


def test_bulk_additions_between_runs_are_caught_up_by_their_change_sequence(remote: Remote) -> None:
    for round_number in range(3):
        add_nodes(remote.store, [NodeDraft(content=f"{round_number}/{i}") for i in range(20)])
        assert remote.run().embedded == 20
    assert len(remote.sent()) == 60
