"""One row written into a table exactly as it was read, or not at all."""

from __future__ import annotations

import apsw

from tierdeck.store import Store
from tierdeck.store.raw_row import RawValue, UndecodedText
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.row_rules import Row


class RowWriter:
    """Inserts rows into a store, inside the caller's transaction; a preview's writer writes nothing."""

    def __init__(self, store: Store, *, is_writing: bool) -> None:
        self.is_writing = is_writing
        self._edge_type = store.edge_type_column()
        self._statements: dict[tuple[object, ...], str] = {}

    def insert(self, conn: apsw.Connection, table: str, row: Row) -> int | Rejected:
        """Write one row; the others of the transaction stay when this one is refused.

        Returns:
            Its rowid (0 in a preview), or why the store's own rules refuse it.
        """
        if not self.is_writing:
            return 0
        try:
            conn.execute(self._statement(table, row), [_bound(value) for value in row.values()])
        except (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError) as e:
            return Rejected("the store's rules refuse it", str(e))
        except (UnicodeEncodeError, OverflowError) as e:
            return Rejected("a value can't be stored", str(e))
        return conn.last_insert_rowid()

    def holds(self, conn: apsw.Connection, table: str, keys: Row, facts: Row) -> bool | None:
        """Whether the row with these keys has these facts too; None when the table has no row with them."""
        asked, where = (
            " AND ".join(f"{self._column(table, name)} IS {_mark(value)}" for name, value in part.items())
            for part in (facts, keys)
        )
        found = conn.execute(
            f"SELECT {asked} FROM {table} WHERE {where}", [_bound(v) for v in (*facts.values(), *keys.values())]
        ).fetchone()
        return None if found is None else bool(found[0])

    def _column(self, table: str, name: str) -> str:
        return self._edge_type if (table, name) == ("hyperedges", "type") else name

    def _statement(self, table: str, row: Row) -> str:
        marks = tuple(_mark(value) for value in row.values())
        key = (table, *row, *marks)
        if key not in self._statements:
            columns = [self._column(table, name) for name in row]
            self._statements[key] = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(marks)})"
        return self._statements[key]


def _mark(value: RawValue) -> str:
    """The place of a value in a statement; CAST makes text of bytes, whether or not they are UTF-8."""
    return "CAST(? AS TEXT)" if isinstance(value, UndecodedText) else "?"


def _bound(value: RawValue) -> int | float | str | bytes | None:
    return value.data if isinstance(value, UndecodedText) else value
