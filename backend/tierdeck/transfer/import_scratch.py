"""What an import has to remember of the lines before: on disk beyond a few megabytes, however long the file is."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from tierdeck import db
from tierdeck.store.raw_row import RawValue

_SCHEMA = """
CREATE TABLE line_of (kind TEXT, id TEXT, line INTEGER, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE refused (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE renamed (kind TEXT, old INTEGER, new INTEGER, PRIMARY KEY (kind, old)) WITHOUT ROWID;
CREATE TABLE touched (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE known (n INTEGER PRIMARY KEY, kind TEXT, digest BLOB, id INTEGER, owner TEXT);
CREATE INDEX known_digest ON known (kind, digest, n);
CREATE INDEX known_owner ON known (kind, owner);
"""


class ImportScratch:
    """Ids and the lines they came from, ids refused, numbers given anew, log rows that are there already."""

    def __init__(self) -> None:
        self._conn = db.open_scratch()
        self._conn.execute(_SCHEMA)
        self._conn.execute("BEGIN")  # never committed: each statement of its own would cost a transaction

    def __enter__(self) -> ImportScratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._conn.close()

    def earlier_line(self, kind: str, row_id: str, line: int) -> int | None:
        """The line that brought this id before; None, and it is noted, when this is the first."""
        row = self._conn.execute("SELECT line FROM line_of WHERE kind = ? AND id = ?", (kind, row_id)).fetchone()
        if row is not None:
            return int(row[0])
        self._conn.execute("INSERT INTO line_of VALUES (?, ?, ?)", (kind, row_id, line))
        return None

    def came(self, kind: str, row_id: str) -> bool:
        """Whether a line brought this id and was not refused."""
        found = self._conn.execute("SELECT 1 FROM line_of WHERE kind = ? AND id = ?", (kind, row_id)).fetchone()
        return found is not None and not self.is_refused(kind, row_id)

    def refuse(self, kind: str, row_id: str) -> None:
        """Note that the id's own row was not taken, so that what hangs on it is judged by that."""
        self._conn.execute("INSERT OR IGNORE INTO refused VALUES (?, ?)", (kind, row_id))

    def is_refused(self, kind: str, row_id: str) -> bool:
        """Whether the id's own row was not taken."""
        found = self._conn.execute("SELECT 1 FROM refused WHERE kind = ? AND id = ?", (kind, row_id))
        return found.fetchone() is not None

    def rename(self, kind: str, old: int, new: int) -> None:
        """Note which number a row of the file has in the store."""
        self._conn.execute("INSERT OR REPLACE INTO renamed VALUES (?, ?, ?)", (kind, old, new))

    def new_number(self, kind: str, old: RawValue) -> int | None:
        """The number in the store of a row of the file; None when it was not taken."""
        if not isinstance(old, int):
            return None
        row = self._conn.execute("SELECT new FROM renamed WHERE kind = ? AND old = ?", (kind, old)).fetchone()
        return None if row is None else int(row[0])

    def know(self, kind: str, values: Iterable[RawValue], row_id: int, owner: str | None) -> None:
        """Note a log row that the store had before the import."""
        self._conn.execute(
            "INSERT INTO known (kind, digest, id, owner) VALUES (?, ?, ?, ?)",
            (kind, _digest(values), row_id, owner),
        )

    def take_known(self, kind: str, values: Iterable[RawValue]) -> int | None:
        """The number of an equal row that the store had before, each given out once; None without one left."""
        row = self._conn.execute(
            "SELECT n, id FROM known WHERE kind = ? AND digest = ? ORDER BY n LIMIT 1", (kind, _digest(values))
        ).fetchone()
        if row is None:
            return None
        self._conn.execute("DELETE FROM known WHERE n = ?", (row[0],))
        return int(row[1])

    def has_known(self, kind: str, owner: str | None = None) -> bool:
        """Whether the store had rows, of this owner or any, that the file has not brought so far."""
        sql = "SELECT 1 FROM known WHERE kind = ?1 AND (?2 IS NULL OR owner = ?2) LIMIT 1"
        return self._conn.execute(sql, (kind, owner)).fetchone() is not None

    def touch(self, node_id: str) -> None:
        """Note a memory whose counts for promotion must be made anew."""
        self._conn.execute("INSERT OR IGNORE INTO touched VALUES (?)", (node_id,))

    def touched(self, after: str, limit_rows: int) -> list[str]:
        """The memories noted so, by id, the next after this one."""
        sql = "SELECT id FROM touched WHERE id > ? ORDER BY id LIMIT ?"
        return [str(row[0]) for row in self._conn.execute(sql, (after, limit_rows))]


def _digest(values: Iterable[RawValue]) -> bytes:
    # repr tells 1 from 1.0 and "1", and every value of a row has one of its own.
    return blake2b(repr(tuple(values)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
