"""Whole rows of a table exactly as SQLite holds them, one at a time, for what must lose nothing: export, digests.

apsw decodes text strictly, so one row whose text is not UTF-8 (another program can write such bytes) would end a
plain loop over the table. Here that row is read again as bytes and its text kept as `UndecodedText`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.store.rows import as_bytes, quoted_name


@dataclass(frozen=True, slots=True)
class UndecodedText:
    """A value of SQLite type text whose bytes are not UTF-8."""

    data: bytes


RawValue = None | int | float | str | bytes | UndecodedText


def text_of_bytes(data: bytes) -> str | UndecodedText:
    """A text by its bytes: decoded wherever it can be, so that equal texts are equal values."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return UndecodedText(data)


def table_columns(conn: apsw.Connection, table: str) -> list[str]:
    """The table's columns in their order; empty when there is no such table."""
    return [str(row[0]) for row in conn.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def raw_rows(
    conn: apsw.Connection, table: str, columns: Sequence[str], *, key: str = "rowid", after: RawValue = None
) -> Iterator[tuple[RawValue, ...]]:
    """Every row of a table, read one at a time in the order of its key.

    Args:
        table: a table's name, from a closed set or from the schema itself.
        columns: the columns wanted, as `table_columns` names them.
        key: what orders the rows and tells them apart: the rowid, or the primary key of a table WITHOUT ROWID.
        after: begin with the row whose key is the next after this one; None begins with the first.

    Returns:
        One tuple a row: the key, then the columns as asked.
    """
    picked = ", ".join(quoted_name(name) for name in columns)
    select = f"SELECT {key}, {picked} FROM {quoted_name(table)}"
    where = "" if after is None else f" WHERE {key} > ?"
    last: tuple[RawValue, ...] = () if after is None else (after,)
    while True:
        try:
            for row in conn.execute(f"{select}{where} ORDER BY {key}", last):
                where, last = f" WHERE {key} > ?", (row[0],)
                yield row
        except UnicodeDecodeError:
            row = _as_bytes(conn, table, columns, key, where, last)
            where, last = f" WHERE {key} > ?", (row[0],)
            yield row
        else:
            return


def _as_bytes(
    conn: apsw.Connection, table: str, columns: Sequence[str], key: str, where: str, last: tuple[RawValue, ...]
) -> tuple[RawValue, ...]:
    """The next row with each text taken as bytes."""
    picked = ", ".join(f"typeof({quoted_name(name)}), {as_bytes(quoted_name(name))}" for name in columns)
    found: tuple[RawValue, ...] = conn.execute(
        f"SELECT {key}, {picked} FROM {quoted_name(table)}{where} ORDER BY {key} LIMIT 1", last
    ).get
    kinds, values = found[1::2], found[2::2]
    return (found[0], *(_text_or_value(kind, value) for kind, value in zip(kinds, values, strict=True)))


def _text_or_value(kind: RawValue, value: RawValue) -> RawValue:
    return text_of_bytes(value) if kind == "text" and isinstance(value, bytes) else value
