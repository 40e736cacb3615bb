"""The values of a line as the store's columns will hold them.

SQLite turns `5` into `'5'` in a column of text and `'5'` into `5` in one of numbers. A line with the other of the
two, from another program or an editor, would never equal the row that it became, and a second import would add
that row once more.
"""

from __future__ import annotations

from collections.abc import Mapping

from tierdeck import db
from tierdeck.store import Store
from tierdeck.store.raw_row import RawValue
from tierdeck.transfer.row_rules import Row

_AFFINITIES = ("integer", "text", "blob", "real", "numeric")
_NUMBER_STARTS = frozenset("+-.0123456789")


class StoredValues:
    """Knows the columns of a store, and asks SQLite itself what it makes of a value."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._affinities: dict[str, Mapping[str, str]] = {}
        self._conn = db.open_scratch()
        self._conn.execute(f"CREATE TABLE held ({', '.join(f'{name} {name}' for name in _AFFINITIES)})")

    def of(self, table: str, row: Row) -> Row:
        """The row with each value as its column will hold it."""
        if table not in self._affinities:
            self._affinities[table] = self._look_up(table)
        affinities = self._affinities[table]
        return {
            column: self._held(value, affinities[column]) if _may_change(value, affinities.get(column)) else value
            for column, value in row.items()
        }

    def _held(self, value: RawValue, affinity: str) -> RawValue:
        self._conn.execute(f"INSERT OR REPLACE INTO held (rowid, {affinity}) VALUES (1, ?)", (value,))
        found: RawValue = self._conn.execute(f"SELECT {affinity} FROM held").get
        return found

    def _look_up(self, table: str) -> Mapping[str, str]:
        found = self._store.read(
            lambda conn: conn.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
        )
        return {str(name): _affinity(str(declared).upper()) for name, declared in found}


def _affinity(declared: str) -> str:
    """What SQLite makes of a declared type; its own rules in their order."""
    if "INT" in declared:
        return "integer"
    if any(part in declared for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if not declared or "BLOB" in declared:
        return "blob"
    return "real" if any(part in declared for part in ("REAL", "FLOA", "DOUB")) else "numeric"


def _may_change(value: RawValue, affinity: str | None) -> bool:
    """Whether SQLite might; said without asking it, since nearly every value is as its column wants it."""
    if isinstance(value, str):
        return affinity in ("integer", "real", "numeric") and value.strip()[:1] in _NUMBER_STARTS
    if isinstance(value, float):
        return affinity in ("integer", "text", "numeric") or (affinity == "real" and value == 0)  # -0.0 becomes 0.0
    return isinstance(value, int) and affinity in ("text", "real")
