"""A store that went back to a copy and grew on: search is right at once, and the index is mended and no text paid
for twice.

Other programs are connections of the same SQLite library: a second one in this process would take no notice of the
first one's locks.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.embed.test_index_in_step import assert_in_step
from tests.tierdeck.search.memories import texts
from tests.tierdeck.terms.kept_terms import kept_terms
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.embed.coverage import coverage
from tierdeck.index.file import open_for_writing
from tierdeck.index.store_texts import read_texts
from tierdeck.maintenance import backup, restore_backup
from tierdeck.maintenance.doctor import examine
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.search import hybrid_search
from tierdeck.store import Store, add_nodes, edit_node, open_store
from tierdeck.terms.fill import rebuild_terms
from tierdeck.vectors.vector_index import open_vector_index

PutBack = Callable[[Path, Path], None]
LOST = "lost getLost{}Total"
FOUND = "found getCharlie{}Total"


@pytest.fixture(params=[False, True], ids=["without bits", "with bits"], autouse=True)
def bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by meaning has its slow and its fast way."""
    if request.param:
        begin_early(monkeypatch)


def by_our_restore(source: Path, target: Path) -> None:
    restore_backup(source, target)


def by_hand(source: Path, target: Path) -> None:
    for log in ("-wal", "-shm"):
        Path(f"{target}{log}").unlink(missing_ok=True)
    shutil.copyfile(source, target)


def by_another_program(source: Path, target: Path) -> None:
    with (
        closing(apsw.Connection(str(source))) as old,
        closing(apsw.Connection(str(target))) as new,
        new.backup("main", old, "main") as copying,
    ):
        copying.step()


@contextmanager
def opened(remote: Remote, path: Path) -> Iterator[Remote]:
    with open_store(path) as store:
        remote.store = store
        yield remote


def edit(store: Store, node_id: str, text: str) -> None:
    edit_node(store, node_id, NodeChanges(content=text), actor="t")


def edit_from_outside(store: Store, node_id: str, text: str) -> None:
    with closing(apsw.Connection(str(store.path))) as conn:
        conn.execute("UPDATE nodes SET content = ? WHERE id = ?", (text, node_id))


def found_by_word(store: Store, word: str) -> set[str]:
    return set(texts(hybrid_search(store, word, alpha=0)))


def found_by_meaning(remote: Remote) -> dict[str, float | None]:
    """What a search by meaning for a lost text shows: each text with its vector's nearness, None without one."""
    index = open_vector_index(remote.store)
    assert index is not None
    with index:
        answer = hybrid_search(
            remote.store, LOST.format(1), alpha=1.0, embedder=remote.embedder(), index=index, limit_rows=50
        )
    shown = read_texts(remote.store, [hit.row.id for hit in answer.hits])
    return {shown[hit.row.id]: hit.semantic.cosine if hit.semantic else None for hit in answer.hits}


def assert_mended(remote: Remote) -> None:
    store = remote.store
    assert_in_step(store)
    kept = kept_terms(store)
    rebuild_terms(store)
    assert kept_terms(store) == kept
    now = coverage(store, remote.settings)
    assert (now.embedded, now.stale, now.pending) == (now.total, 0, 0)
    assert [check for check in examine(store, remote.settings).checks if check.state == "bad"] == []


@pytest.mark.parametrize("change", [edit, edit_from_outside])
@pytest.mark.parametrize("put_back", [by_our_restore, by_hand, by_another_program])
@pytest.mark.parametrize(("lost", "grown"), [(1, 0), (4, 1), (1, 1), (4, 4), (2, 7)])
def test_search_is_right_and_the_index_is_mended_after_a_copy_was_put_back(
    remote: Remote, put_back: PutBack, change: Callable[[Store, str, str], None], lost: int, grown: int
) -> None:
    path, copy = remote.store.path, remote.store.path.with_name("copy.db")
    ids = add_nodes(remote.store, [NodeDraft(f"memory {n}") for n in range(6)])
    remote.run()
    backup(remote.store, copy)
    change(remote.store, ids[1], LOST.format(0))
    for turn in range(lost):
        change(remote.store, ids[0], LOST.format(turn + 1))
    remote.run()
    remote.store.close()
    put_back(copy, path)
    with opened(remote, path):
        for turn in range(grown):
            change(remote.store, ids[0], FOUND.format(turn))
            assert found_by_word(remote.store, "charlie") == {FOUND.format(turn)}
            assert found_by_word(remote.store, f"Charlie{turn}Total") == {FOUND.format(turn)}
        assert found_by_word(remote.store, "lost") == set()
        by_meaning = found_by_meaning(remote)
        assert not [text for text in (*by_meaning, *found_by_word(remote.store, "total")) if "lost" in text]
        assert all(cosine is None or cosine < 0.999 for cosine in by_meaning.values()), "a vector of a lost text"
        held = coverage(remote.store, remote.settings)
        assert (held.embedded, held.stale) == (4, 2)
        paid = remote.sent()
        remote.run()
        new = remote.sent()[len(paid) :]
        assert len(new) == len(set(new)) == 2
        assert not [text for text in new if text.startswith("memory") and text not in {"memory 0", "memory 1"}]
        assert_mended(remote)
        calls = len(remote.server.calls)
        remote.run()
        assert len(remote.server.calls) == calls


def test_a_reader_that_is_open_over_it_notices_the_other_history(remote: Remote) -> None:
    store, copy = remote.store, remote.store.path.with_name("copy.db")
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(6)])
    backup(store, copy)
    edit(store, ids[1], LOST.format(1))
    edit(store, ids[0], LOST.format(0))
    remote.run()
    assert found_by_word(store, "lost") == {LOST.format(0), LOST.format(1)}
    by_another_program(copy, store.path)
    edit_from_outside(store, ids[0], FOUND.format(1))
    edit_from_outside(store, ids[0], FOUND.format(2))
    assert found_by_word(store, "lost") == set()
    assert found_by_word(store, "charlie") == {FOUND.format(2)}
    assert all(cosine is None or cosine < 0.999 for cosine in found_by_meaning(remote).values())
    remote.run()
    assert_mended(remote)


def test_a_store_put_back_while_an_indexer_runs_is_looked_through_by_the_next(remote: Remote) -> None:
    """The indexer has read texts that are newer than what it saw of the store's changes."""
    store, copy = remote.store, remote.store.path.with_name("copy.db")
    remote.warm_up()
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(6)])
    backup(store, copy)
    remote.configure(batch_rows=2)

    def meddle(_: object) -> None:
        remote.server.on_request = lambda _: None
        edit(store, ids[5], LOST.format(1))
        with store.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (ids[4],))

    remote.server.on_request = meddle
    remote.run()
    by_another_program(copy, store.path)
    assert all(cosine is None or cosine < 0.999 for cosine in found_by_meaning(remote).values())
    remote.run()
    assert_mended(remote)


def test_an_index_of_before_there_were_marks_goes_on_and_nothing_is_paid_for_again(remote: Remote) -> None:
    store = remote.store
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(6)])
    remote.run()
    with closing(open_for_writing(store)) as conn:
        conn.execute("UPDATE index_model SET seen_node = ?", (ids[-1],))
        conn.execute("UPDATE index_setting SET value = ? WHERE key LIKE '%_node'", (ids[-1],))
    edit(store, ids[0], FOUND.format(1))
    assert found_by_word(store, "charlie") == {FOUND.format(1)}
    assert found_by_meaning(remote).get(FOUND.format(1)) is None
    calls = len(remote.server.calls)
    remote.run()
    assert [text for call in remote.server.calls[calls:] for text in call.inputs] == [FOUND.format(1)]
    assert_mended(remote)
