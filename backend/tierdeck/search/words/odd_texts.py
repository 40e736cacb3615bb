"""The memories whose texts are not in normal form, so that SQL can't tell which of them hold a word typed in it.

Found out once for each state of a store: to read all texts that are not ASCII takes 20 ms for 16 MB, and to bring
2 MB of decomposed Korean to the normal form 0.1 s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import apsw

from tierdeck.store.rows import SQLValue, text_of
from tierdeck.terms.normal_form import normal_form

MAX_ODD_BYTES = 2_000_000
_MAX_KEPT = 4

_Key = tuple[str, SQLValue]


@dataclass(frozen=True, slots=True)
class OddTexts:
    """Their row numbers and normal forms in lower case, newest first, up to `MAX_ODD_BYTES` of text.

    `is_all`: there are no more.
    """

    normal: tuple[tuple[int, str], ...]
    is_all: bool = True

    def rows_with(self, typed: str) -> list[int]:
        """The row numbers of those that may hold what was typed, newest first."""
        wanted = typed.lower()
        return [rowid for rowid, text in self.normal if wanted in text]


# By connection: see `kept_counts`.
_KEPT: WeakKeyDictionary[apsw.Connection, tuple[int, dict[_Key, OddTexts]]] = WeakKeyDictionary()


def odd_texts(conn: apsw.Connection, where: str, value: SQLValue, max_text_bytes: int) -> OddTexts:
    """Those among the memories that meet a condition on `nodes n`, no text longer than that.

    Args:
        where: SQL with one parameter, `value`.
    """
    version = int(conn.pragma("data_version"))
    kept = _KEPT.get(conn)
    if kept is None or kept[0] != version:
        kept = _KEPT[conn] = (version, {})
    by_key = kept[1]
    if (where, value) not in by_key:
        rows = conn.execute(
            f"SELECT n.rowid, CAST(n.content AS BLOB) FROM nodes n WHERE {where}"
            " AND octet_length(n.content) > length(n.content) AND octet_length(n.content) <= ?"
            " ORDER BY n.rowid DESC",
            (value, max_text_bytes),
        )
        found = _odd(rows)
        if len(by_key) >= _MAX_KEPT:
            del by_key[next(iter(by_key))]
        by_key[where, value] = found
    return by_key[where, value]


def _odd(rows: Iterable[tuple[SQLValue, ...]]) -> OddTexts:
    found: list[tuple[int, str]] = []
    left = MAX_ODD_BYTES
    for rowid, content in rows:
        text = text_of(content)
        normal = normal_form(text)
        if normal is not text:
            left -= len(content) if isinstance(content, bytes) else 0
            if left < 0:
                return OddTexts(tuple(found), is_all=False)
            found.append((int(str(rowid)), normal.lower()))
    return OddTexts(tuple(found))
