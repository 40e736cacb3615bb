"""The store's own settings: a few texts by key."""

from __future__ import annotations

import apsw

from tierdeck.store.store import Store


def get_setting(store: Store, key: str) -> str | None:
    """The value kept under the key; None where there is none, and in a store without our tables."""
    if not store.has_table("td_setting"):
        return None

    def look(conn: apsw.Connection) -> str | None:
        row = conn.execute("SELECT value FROM td_setting WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    return store.read(look)


def set_setting(store: Store, key: str, value: str) -> None:
    """Keep a value under the key, in place of what was there.

    Raises:
        ReadOnlyStoreError, StoreBusyError: nothing was written.
    """
    with store.writing() as conn:
        conn.execute("INSERT OR REPLACE INTO td_setting (key, value) VALUES (?, ?)", (key, value))
