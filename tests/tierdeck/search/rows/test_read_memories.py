"""Memories read once for a query: the same rows, texts and digests as when each is asked for by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, NodeFilter, Tier, content_hash
from tierdeck.search.rows import read_memories
from tierdeck.search.rows.condition import Condition, condition_of
from tierdeck.search.rows.read_memories import MAX_KEPT_BYTES, MAX_SCORED_CHARS, ReadMemories
from tierdeck.store import Store
from tierdeck.store.rows import read_rows

T = TypeVar("T")
EVERY = Condition("1", ())


def ask(store: Store, look: Callable[[ReadMemories], T]) -> T:
    return store.read(lambda conn: look(ReadMemories(conn)))


def odd_texts(store: Store) -> list[str]:
    """Memories of every kind of text: short, cut by a list row, longer than is kept, with a NUL, no UTF-8."""
    ids = remember(store, "short", "ä" * 500, "x" * (MAX_KEPT_BYTES + 1), "later with a NUL", "later no UTF-8")
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET content = CAST(? AS TEXT) WHERE id = ?", (b"before\0after", ids[3]))
        conn.execute("UPDATE nodes SET content = CAST(? AS TEXT) WHERE id = ?", (b"caf\xe9 " * 200, ids[4]))
    return ids


def test_rows_are_those_that_the_store_reads_in_the_order_asked(store: Store) -> None:
    ids = [*odd_texts(store), "gone"][::-1]

    def look(conn: apsw.Connection) -> bool:
        found = ReadMemories(conn).rows(ids)
        return list(found.items()) == list(read_rows(conn, ids).items()) and len(found) == 5

    assert store.read(look)


def test_digests_are_of_whole_texts(store: Store) -> None:
    ids = odd_texts(store)
    found = ask(store, lambda memories: memories.digests(ids))
    assert found[ids[1]] == content_hash("ä" * 500)
    assert found[ids[2]] == content_hash("x" * (MAX_KEPT_BYTES + 1))
    assert found[ids[3]] == content_hash("before\0after")
    assert found[ids[4]] == content_hash("caf� " * 200)


def test_of_a_very_long_text_the_beginning_is_given(store: Store) -> None:
    short, long = remember(store, "short", "y" * (MAX_SCORED_CHARS + 5))
    assert ask(store, lambda memories: dict(memories.texts([long, short, "gone"]))) == {
        short: "short",
        long: "y" * MAX_SCORED_CHARS,
    }
    assert ask(store, lambda memories: memories.kept_texts([long, short])) == {}, "none was read yet"


def test_only_those_that_meet_the_condition_are_named(store: Store) -> None:
    shown, archived = remember(store, "a", NodeDraft("b", tier=Tier.ARCHIVE))
    condition = condition_of(store, NodeFilter())
    assert ask(store, lambda memories: memories.meeting([archived, shown, "gone"], condition)) == {shown}
    assert ask(store, lambda memories: memories.numbered([1, 2, 99], condition)) == {1: shown}


def test_a_memory_is_read_once_whoever_asks_for_it(store: Store) -> None:
    ids = remember(store, *(f"memory {n}" for n in range(5)))
    asked: list[str] = []

    def saw(_: apsw.Cursor, sql: str, _bindings: apsw.Bindings | None) -> bool:
        asked.append(sql)
        return True

    def look(conn: apsw.Connection) -> None:
        memories = ReadMemories(conn)
        memories.numbered([1, 2, 3, 4, 5], EVERY)
        conn.exec_trace = saw
        memories.rows(ids)
        memories.digests(ids)
        assert len(memories.kept_texts(ids)) == len(list(memories.texts(ids))) == 5
        conn.exec_trace = None

    store.read(look)
    assert asked == []


def test_beyond_what_is_kept_in_all_texts_are_read_when_they_are_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_memories, "MAX_KEPT_CHARS_IN_ALL", 20)
    ids = remember(store, *(f"ten chars{n}" for n in range(5)))

    def look(memories: ReadMemories) -> tuple[int, dict[str, str], list[str]]:
        texts = dict(memories.texts(ids))
        return len(memories.kept_texts(ids)), texts, [row.excerpt for row in memories.rows(ids).values()]

    kept, texts, excerpts = ask(store, look)
    assert kept == 2
    assert [texts[node_id] for node_id in ids] == excerpts == [f"ten chars{n}" for n in range(5)]
