"""From a damaged store everything comes back that can be read, and what can't is named."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.transfer.test_round_trip import exported
from tierdeck.errors import DamagedStoreError, InvalidValueError, NotAStoreError, StoreNotFoundError
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.store import Store, add_nodes, edit_node, get_node, open_store
from tierdeck.transfer.jsonl_import import import_jsonl
from tierdeck.transfer.salvage import SalvageReport, salvage

PAGE = 4096


def fill(store: Store, count: int = 600) -> dict[str, str]:
    """Memories of some hundred bytes, so that a page holds about ten; gives their texts by id."""
    drafts = [NodeDraft(f"memory number {n}: " + f"word{n} " * 40, id=f"id-{n:04d}") for n in range(count)]
    add_nodes(store, drafts)
    for n in range(0, count, 50):
        edit_node(store, f"id-{n:04d}", NodeChanges(confidence=0.9), actor="me")
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {str(draft.id): draft.content for draft in drafts}


def pages_of(path: Path, table: str, kind: str = "leaf") -> list[int]:
    """The numbers of a table's pages, read from its tree: the first byte tells an inner page from a leaf."""
    data = path.read_bytes()
    with closing(sqlite3.connect(path)) as conn:
        root = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    inner, leaves, todo = [], [], [root]
    while todo:
        number = todo.pop(0)
        page = data[(number - 1) * PAGE : number * PAGE]
        if page[0] == 0x0D:
            leaves.append(number)
            continue
        inner.append(number)
        cells = int.from_bytes(page[3:5], "big")
        starts = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(cells)]
        todo += [int.from_bytes(page[at : at + 4], "big") for at in starts]
        todo.append(int.from_bytes(page[8:12], "big"))
    return leaves if kind == "leaf" else inner


def destroy(path: Path, *numbers: int, fill_byte: bytes = b"\xa5", start: int = 0, length: int = PAGE) -> None:
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * PAGE + start)
            file.write(fill_byte * length)


def salvaged(path: Path) -> tuple[SalvageReport, dict[str, str]]:
    out = io.BytesIO()
    report = salvage(path, out)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert found[0] == {"kind": "header", "format": "tierdeck-export", "version": 1, "salvaged": True}
    return report, {row["id"]: row["content"] for row in found if row["kind"] == "node"}


def test_a_sound_store_is_salvaged_whole(store: Store, tmp_path: Path) -> None:
    texts = fill(store)
    before = {file.name: file.read_bytes() for file in store.path.parent.iterdir()}
    report, found = salvaged(store.path)
    assert found == texts
    assert (report.lost_count, report.gaps, report.from_index_count) == (0, (), 0)
    assert {file.name: file.read_bytes() for file in store.path.parent.iterdir()} == before
    salvage(store.path, tmp_path / "out.jsonl")
    with open_store(store.path) as old, open_store(tmp_path / "new.db", create=True) as new:
        assert import_jsonl(new, tmp_path / "out.jsonl").skipped == ()
        assert exported(new) == exported(old)


@pytest.mark.case("D08")
@pytest.mark.parametrize("fill_byte", [b"\xa5", b"\0", b"\x0d"])
@pytest.mark.parametrize("which", [0, 10, -1])
def test_memories_of_a_destroyed_page_come_back_from_the_full_text_index(
    store: Store, which: int, fill_byte: bytes
) -> None:
    texts = fill(store)
    destroy(store.path, pages_of(store.path, "nodes")[which], fill_byte=fill_byte)
    report, found = salvaged(store.path)
    assert found == texts
    assert 1 <= report.from_index_count <= 20
    assert (report.lost_count, report.rows["node"], report.rows["revision"]) == (0, 600, 12)
    assert len(report.gaps) == 1
    assert report.gaps[0].startswith("nodes: rows ")


@pytest.mark.case("D08")
def test_several_destroyed_pages_cost_only_what_stood_in_them(store: Store) -> None:
    texts = fill(store)
    leaves = pages_of(store.path, "nodes")
    destroy(store.path, *leaves[3:5], leaves[20], leaves[40], leaves[-2])
    report, found = salvaged(store.path)
    assert found == texts
    assert len(report.gaps) == 4
    assert report.from_index_count < 80


@pytest.mark.case("D08")
def test_what_stands_nowhere_any_more_is_named(store: Store) -> None:
    texts = fill(store)
    for table in ("nodes", "content_fts_content"):
        destroy(store.path, pages_of(store.path, table)[10])
    report, found = salvaged(store.path)
    assert report.lost_count == len(report.lost) == 600 - len(found)
    assert 1 <= report.lost_count <= 20
    assert set(report.lost) == set(texts) - set(found)
    assert all(texts[node_id] == text for node_id, text in found.items())


@pytest.mark.case("D08")
def test_a_destroyed_root_costs_the_table_and_not_the_texts(store: Store) -> None:
    texts = fill(store)
    destroy(store.path, pages_of(store.path, "nodes", "inner")[0])
    report, found = salvaged(store.path)
    assert found == texts
    assert report.from_index_count == 600
    assert report.rows["revision"] == 12


@pytest.mark.case("D08")
def test_a_long_text_whose_overflow_is_destroyed_keeps_its_row_with_the_indexs_text(store: Store) -> None:
    long = "a long memory " + " ".join(f"w{n}" for n in range(20_000))
    add_nodes(
        store, [NodeDraft("before", id="a"), NodeDraft(long, id="b", subtype="log"), NodeDraft("after", id="c")]
    )
    path = store.path
    store.close()
    data = path.read_bytes()
    first = data.index(long[60_000:60_200].encode())
    destroy(path, first // PAGE + 1, fill_byte=b"\xff", length=4)
    out = io.BytesIO()
    report = salvage(path, out)
    rows = {row["id"]: row for row in map(json.loads, out.getvalue().splitlines()) if row["kind"] == "node"}
    assert rows["b"]["content"] == long
    assert rows["b"]["subtype"] == "log"  # what comes after the text in a row lies behind it, and is lost with it
    assert set(rows) == {"a", "b", "c"}
    assert report.lost_count == 0


@pytest.mark.case("D08")
def test_what_was_salvaged_imports_into_a_new_store(store: Store, tmp_path: Path) -> None:
    fill(store)
    destroy(store.path, pages_of(store.path, "nodes")[5])
    out = io.BytesIO()
    report = salvage(store.path, out)
    out.seek(0)
    with open_store(tmp_path / "new.db", create=True) as new:
        done = import_jsonl(new, out)
        assert done.rows["node"] == report.rows["node"] == 600
        assert (done.skipped, done.notes) == ((), ())
        assert get_node(new, "id-0333").content.startswith("memory number 333")


@pytest.mark.case("D08")
@pytest.mark.parametrize("seed", range(8))
def test_bytes_destroyed_anywhere_never_make_up_a_memory_and_never_raise(store: Store, seed: int) -> None:
    texts = fill(store, 300)
    size = store.path.stat().st_size // PAGE
    with store.path.open("r+b") as file:
        for n in range(3):
            file.seek(PAGE * (2 + (seed * 37 + n * 101) % (size - 2)) + seed * 331)
            file.write(bytes((seed * 7 + n * 13 + i) % 256 for i in range(PAGE)))
    try:
        _, found = salvaged(store.path)
    except DamagedStoreError:  # the list of tables itself
        return
    wrong = [node_id for node_id, text in found.items() if texts.get(node_id) != text]
    assert len(wrong) <= 6
    assert len(found) > 150


def test_what_is_no_store_is_refused_and_nothing_is_written(store: Store, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("hello " * 1_000)
    out = tmp_path / "out.jsonl"
    with pytest.raises(NotAStoreError, match=r"notes\.txt"):
        salvage(text, out)
    with pytest.raises(StoreNotFoundError, match=r"no\.db"):
        salvage(tmp_path / "no.db", out)
    assert not out.exists()
    out.write_text("mine")
    with pytest.raises(InvalidValueError, match="it exists"):
        salvage(store.path, out)
    assert out.read_text() == "mine"


def test_a_file_whose_list_of_tables_is_destroyed_points_at_the_newest_backup(store: Store) -> None:
    fill(store)
    backup = store.path.with_name(f"{store.path.name}.backup-20260101T000000-manual")
    backup.write_bytes(store.path.read_bytes())
    destroy(store.path, 1, start=100, length=3_000)
    with pytest.raises(DamagedStoreError) as caught:
        salvage(store.path, io.BytesIO())
    assert str(backup) in (caught.value.hint or "")
    assert "--salvage" not in (caught.value.hint or "")
