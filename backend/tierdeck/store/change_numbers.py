"""The numbers of a store's changes, spread so that two histories of it hardly ever give the same ones.

A trigger numbers the changes one after the other. Of a store that was copied, changed, and put back as it was, the
next changes would get the numbers of those that are undone: whoever noted how far it had seen would take the new
ones for known. So the newest ones of each transaction of ours are moved up by a number drawn at random.
"""

from __future__ import annotations

import os

import apsw

# So many of the newest changes are what the index remembers of a history. Our transactions leave none of them with
# the trigger's number: those behind them, of a large one, are never among the newest, however many change again.
REMEMBERED_CHANGES = 64
# 2 ** 62 numbers are enough for 2,000,000,000 transactions.
_GAP_BYTES = 4
_NUMBERS_END = 1 << 62


def _gap() -> int:
    return int.from_bytes(os.urandom(_GAP_BYTES))  # `secrets` would bring in what every start waits for


def newest_number(conn: apsw.Connection) -> int:
    """The number of the newest change; 0 in a store without any."""
    return int(conn.execute("SELECT coalesce(max(seq), 0) FROM td_change").get)


def spread_numbers(conn: apsw.Connection, after_seq: int) -> None:
    """Move the newest of the changes after a number up, inside the caller's transaction; none there, none written.

    Args:
        after_seq: the newest change that is not this transaction's own.
    """
    own = "SELECT min(seq), max(seq) FROM (SELECT seq FROM td_change WHERE seq > ? ORDER BY seq DESC LIMIT ?)"
    lowest, newest = conn.execute(own, (after_seq, REMEMBERED_CHANGES)).get
    if newest is None or newest >= _NUMBERS_END:
        return
    # By more than they lie apart, or one would get a number that another has still.
    gap = newest - lowest + 1 + _gap()
    conn.execute("UPDATE td_change SET seq = seq + ? WHERE seq >= ?", (gap, lowest))
    conn.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'td_change'", (newest + gap,))


def skip_numbers(conn: apsw.Connection) -> None:
    """Let the next change of a store that is put back have a number drawn at random, whichever program makes it.

    Inside the caller's transaction; of a store that keeps no changes nothing is written.
    """
    if conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_change' AND type = 'table'").fetchone():
        sql = "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'td_change' AND seq < ?"
        conn.execute(sql, (_gap(), _NUMBERS_END))
        first = (
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'td_change', ?"
            " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'td_change')"
        )
        conn.execute(first, (_gap(),))
