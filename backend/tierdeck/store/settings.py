"""The store's own settings: a few texts by key."""

from __future__ import annotations

import apsw

from tierdeck.store.store import Store


def get_setting(store: Store, key: str) -> str | None:
    """The value kept under the key; None where there is none, and in a store without our tables."""
    return store.read(lambda conn: setting_in(conn, key)) if store.has_table("td_setting") else None


def set_setting(store: Store, key: str, value: str) -> None:
    """Keep a value under the key, in place of what was there.

    Raises:
        ReadOnlyStoreError, StoreBusyError: nothing was written.
    """
    with store.writing() as conn:
        keep_setting(conn, key, value)


def setting_in(conn: apsw.Connection, key: str) -> str | None:
    """The value kept under the key, as the connection sees it now; None where there is none."""
    row = conn.execute("SELECT value FROM td_setting WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def keep_setting(conn: apsw.Connection, key: str, value: str) -> None:
    """Keep a value under the key, inside the caller's transaction."""
    conn.execute("INSERT OR REPLACE INTO td_setting (key, value) VALUES (?, ?)", (key, value))
