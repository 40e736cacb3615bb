"""Rows that don't hold what the schema promises: each is shown all the same, and named here.

Other programs write these tables too, and SQLite lets a word stand in a column of numbers.
"""

from __future__ import annotations

import apsw

from tierdeck.maintenance.health import DETAILS, Check
from tierdeck.migrate import StoreKind
from tierdeck.secret_scan import has_secret
from tierdeck.store.raw_row import table_columns
from tierdeck.store.rows import NODE_FIELDS, as_bytes, node_of
from tierdeck.times import MICROSECONDS_BELOW

# The scan for secrets takes up to half a second for a million characters: 20 s at most unless all are asked for.
SECRET_SCAN_CHARS = 40_000_000

_TIME_COLUMNS = ("created_at", "updated_at", "last_accessed")
_TIMES = f"BETWEEN {1 - MICROSECONDS_BELOW} AND {MICROSECONDS_BELOW - 1}"
# A cheap sieve in SQL; what it lets through is judged by the same code that shows a memory.
_ODD = " OR ".join(
    [
        "n.id IS NULL",
        *(f"typeof(n.{c}) NOT IN ('integer', 'null') OR n.{c} NOT {_TIMES}" for c in _TIME_COLUMNS),
        "n.type IS NULL OR n.type NOT IN ('entity', 'fact', 'experience', 'decision', 'snippet')",
        "n.tier IS NULL OR n.tier NOT IN ('task', 'session', 'longterm', 'archive')",
        "typeof(n.confidence) NOT IN ('real', 'integer') OR n.confidence NOT BETWEEN 0 AND 1",
        "typeof(n.access_count) <> 'integer' OR n.access_count < 0",
        "CASE WHEN json_valid(n.metadata) THEN json_type(n.metadata) <> 'object' ELSE n.metadata IS NOT NULL END",
        *(f"NOT td_is_utf8(CAST(n.{c} AS BLOB))" for c in ("content", "subtype", "provenance")),
    ]
)
# The text itself is not wanted, only whether it can be read.
_CONTENT = "CASE WHEN td_is_utf8(CAST(n.content AS BLOB)) THEN x'20' ELSE x'ff' END"
_SELECT = (
    "SELECT n.rowid, "
    + ", ".join(_CONTENT if name == "content" else as_bytes(f"n.{name}") for name in NODE_FIELDS)
    + f" FROM nodes n WHERE {_ODD}"
)
_ROWS = {
    "ids": ("every memory has an id", "memories without an id, which can't be opened or changed"),
    "times": ("every time can be read", "times that can't be read; their memories show without them"),
    "metadata": ("all metadata are JSON objects", "memories whose metadata are no JSON object"),
    "text": (
        "all text is valid UTF-8",
        "texts with bytes that are not UTF-8; they show with a sign in their place",
    ),
    "values": ("every type, tier, confidence and count is valid", "values that the schema does not allow"),
}
_ORPHANS = {
    # The latest access stays where its number stands for a moment: it must not be given out again.
    "td_access": (
        "node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL) AND (id < (SELECT max(id) FROM td_access) "
        "OR id > coalesce((SELECT max(max(tier_after), max(counted_after)) FROM td_facts), 0))",
        "accesses",
    ),
    "td_revision": ("kind <> 'purge' AND node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "revisions"),
    "td_no_embedding": ("node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "no-embedding marks"),
    "td_facts": ("node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "counts"),
    "td_use": ("node NOT IN (SELECT node FROM td_facts)", "counts by session"),
    "td_confidence": ("node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "changes of confidence"),
    "td_hold": ("node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "holds"),
    "td_dismissal": ("node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)", "dismissals"),
}


def check_rows(conn: apsw.Connection) -> list[Check]:
    """Go through the memories once: ids, times, metadata, text and values that are not as promised."""
    conn.create_scalar_function("td_is_utf8", _is_utf8, 1, deterministic=True)
    faults: dict[str, list[str]] = {name: [] for name in _ROWS}
    counts = dict.fromkeys(_ROWS, 0)
    for rowid, *values in conn.execute(_SELECT):
        node = node_of(values)
        for problem in node.problems:
            name = _check_of(problem)
            counts[name] += 1
            if len(faults[name]) < DETAILS:
                faults[name].append(f"{node.id or f'row {rowid}'}: {problem}")
    return [
        Check(name, "warn", f"found {counts[name]:,}: {wrong}", None, tuple(faults[name]))
        if counts[name]
        else Check(name, "ok", right)
        for name, (right, wrong) in _ROWS.items()
    ]


def check_orphans(conn: apsw.Connection, kind: StoreKind) -> Check:
    """Rows of ours whose memory another program deleted, and rows of the family's that refer to nothing."""
    found = [] if kind is StoreKind.FOREIGN else _orphan_counts(conn)
    lines = [f"{table}: {count:,} {what} of memories that are gone" for table, what, count in found]
    dangling = len(conn.execute("PRAGMA foreign_key_check").fetchall())
    if dangling:
        lines.append(f"{dangling:,} rows of other tables refer to rows that are gone")
    if not lines:
        return Check("orphans", "ok", "every row belongs to a memory")
    total = sum(count for _, _, count in found) + dangling
    fix = "tierdeck doctor --repair orphans" if found else None
    return Check("orphans", "warn", f"found {total:,}: rows that belong to no memory", fix, tuple(lines))


def _orphan_counts(conn: apsw.Connection) -> list[tuple[str, str, int]]:
    """(table, what its rows are, how many of them belong to no memory); only tables with some."""
    counted = [
        (table, what, int(conn.execute(f"SELECT count(*) FROM {table} WHERE {where}").get))
        for table, (where, what) in _ORPHANS.items()
        if table_columns(conn, table)  # a store of an older version that is only read lacks some
    ]
    return [entry for entry in counted if entry[2]]


def delete_orphans(conn: apsw.Connection) -> int:
    """Delete our rows that belong to no memory, inside the caller's transaction; how many."""
    before = conn.total_changes()
    for table, (where, _) in _ORPHANS.items():
        conn.execute(f"DELETE FROM {table} WHERE {where}")
    return conn.total_changes() - before


def check_secrets(conn: apsw.Connection, *, is_thorough: bool) -> Check:
    """How many memories look like they hold a key, a token or a password, the newest first."""
    looked = found = chars = 0
    ids: list[str] = []
    newest = conn.execute("SELECT CAST(id AS BLOB), CAST(content AS BLOB) FROM nodes ORDER BY rowid DESC")
    for node_id, content in newest:
        text = (content or b"").decode("utf-8", "replace")  # NULL only where a page was destroyed
        if has_secret(text):
            found += 1
            if len(ids) < DETAILS:
                ids.append((node_id or b"(no id)").decode("utf-8", "replace"))
        looked, chars = looked + 1, chars + len(text)
        if chars > SECRET_SCAN_CHARS and not is_thorough:
            break
    total = int(conn.execute("SELECT count(*) FROM nodes").get)
    among = "" if looked == total else f" among the newest {looked:,} of {total:,}; `--thorough` looks at all"
    if not found:
        return Check("secrets", "ok", f"no memory looks like it holds a secret{among}")
    text = f"found {found:,}: memories that look like they hold a secret{among}; lists mask them"
    return Check("secrets", "warn", text, "tierdeck purge ID", tuple(ids))


def _check_of(problem: str) -> str:
    column = problem.split(":", 1)[0]
    if "not UTF-8" in problem:
        return "text"
    if column == "id":
        return "ids"
    if column in _TIME_COLUMNS:
        return "times"
    return "metadata" if column == "metadata" else "values"


def _is_utf8(*values: object) -> bool:
    [data] = values
    if not isinstance(data, bytes):
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
