"""Texts that are not in normal form are read once for each condition, as long as the store stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from tests.tierdeck.search.memories import remember
from tierdeck.search.words.odd_texts import odd_texts
from tierdeck.store import Store


def readings(conn: apsw.Connection, floors: Sequence[int]) -> int:
    """How many times the texts from these row numbers on, asked for in this order, are read."""
    said: list[str] = []

    def hear(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        said.append(sql)
        return True

    conn.exec_trace = hear
    try:
        for floor in floors:
            odd_texts(conn, "n.rowid >= ?", floor, 1_000)
    finally:
        conn.exec_trace = None
    return sum("FROM nodes" in sql for sql in said)


def test_what_is_kept_is_not_read_again(store: Store) -> None:
    remember(store, "Ｒｅｄｉｓ", "plain")
    assert store.read(lambda conn: readings(conn, [1, 2, 3, 4] * 4)) == 4


def test_of_more_than_are_kept_the_oldest_makes_room(store: Store) -> None:
    remember(store, "Ｒｅｄｉｓ")
    assert store.read(lambda conn: readings(conn, [1, 2, 3, 4, 5])) == 5
    assert store.read(lambda conn: readings(conn, [2, 3, 4, 5])) == 0
    assert store.read(lambda conn: readings(conn, [1])) == 1


def test_a_store_that_was_written_is_read_again(store: Store) -> None:
    remember(store, "Ｒｅｄｉｓ")
    assert store.read(lambda conn: readings(conn, [1, 1])) == 1
    remember(store, "Ｒｅｄｉｓ ２")
    assert store.read(lambda conn: len(odd_texts(conn, "n.rowid >= ?", 1, 1_000).normal)) == 2
