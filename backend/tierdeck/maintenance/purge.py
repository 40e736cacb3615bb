"""Taking a secret out of a store for good: the one thing here that can't be undone.

What stays is the memory's place: its id, its accesses, its relations and its confidence history, in the archive and
without a word of text. So logs and relations stay true, and an import that brings the same id again finds it taken
and does not bring the secret back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.db.backup_files import remains_of
from tierdeck.errors import InvalidValueError, NotFoundError, ReadOnlyStoreError, StoreError
from tierdeck.maintenance.backup import list_backups
from tierdeck.maintenance.index_purge import purge_index
from tierdeck.maintenance.repair import rebuild_search_index
from tierdeck.model import Tier, content_hash
from tierdeck.promote.log.rewrite import rewrite_log
from tierdeck.secret_scan import find_secrets
from tierdeck.store import Store
from tierdeck.store.revision_log import record_move
from tierdeck.store.rows import text_of

PURGED = "[purged]"
MAX_COPIES = 100
# A shorter piece would be found in half the store.
_LEAST_NEEDLE_CHARS = 8
# Where an operator or an agent may have written the secret beside the memory itself.
_NOTES = (
    ("evolution_log", "reasoning"),
    ("td_revision", "reason"),
    ("td_hold", "reason"),
    ("td_promotion_run", "reason"),
    ("hyperedges", "label"),
    ("confidence_updates", "trigger_id"),
)


@dataclass(frozen=True, slots=True)
class PurgePreview:
    """What purging would take: the memories by id, and how many of their revisions.

    `copies` are other memories that hold the same text or the same secret, at most `MAX_COPIES`: purge them too.
    `backups` are files beside the store that hold the memories and are not touched.
    """

    ids: tuple[str, ...]
    revisions: int
    copies: tuple[str, ...]
    backups: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What was purged. `is_erased` False: the rows are gone, bytes may still stand in a file; `notes` say where.

    `copies` and `backups` are as in the preview, looked for again afterwards.
    """

    ids: tuple[str, ...]
    revisions: int
    vectors: int
    copies: tuple[str, ...]
    backups: tuple[Path, ...]
    is_erased: bool
    notes: tuple[str, ...]


def preview_purge(store: Store, ids: Sequence[str]) -> PurgePreview:
    """What `purge` would take, and what would still hold it afterwards. Nothing is changed.

    Raises:
        NotFoundError: an id does not exist.
        ReadOnlyStoreError: it is another program's store, not adopted.
    """
    wanted = tuple(dict.fromkeys(ids))
    if not store.has_table("td_revision"):
        raise ReadOnlyStoreError(f"purge in {store.path}: it is another program's store", hint="adopt it first")

    def look(conn: apsw.Connection) -> tuple[int, tuple[str, ...]]:
        return _count_revisions(conn, wanted), _copies(conn, wanted, _needles(conn, wanted))

    revisions, copies = store.read(look)
    return PurgePreview(wanted, revisions, copies, _backups_with(store.path, wanted))


def purge(store: Store, ids: Sequence[str], *, actor: str, reason: str) -> PurgeReport:
    """Remove memories' texts from the store for good: text, metadata, revisions, vectors, words in every index.

    Each leaves an empty memory in the archive and a row of kind "purge" among its revisions, with the digest of
    what stood there. Reasons given for moving or holding it go too, also from the promotion log, which is chained
    anew and keeps a record of that. Then the file is written anew, so that no byte of it is left in a free page or
    in the log. Purging what is purged already does only that last part once more. Backups, exports and checkpoints
    are not touched, nor blocks that the disk has freed.

    Args:
        ids: full ids.
        actor: who purges; at least one visible character.
        reason: why; it is kept. A secret in it is not.

    Raises:
        NotFoundError, InvalidValueError, ReadOnlyStoreError, StoreBusyError: nothing was changed.
    """
    if not actor.strip() or not reason.strip():
        raise InvalidValueError("purge: actor or reason is blank", hint="say who does it, and why")
    wanted = tuple(dict.fromkeys(ids))
    if not wanted:
        raise InvalidValueError("purge: no id is given")
    with store.writing() as conn:
        needles = _needles(conn, wanted)
        revisions = _count_revisions(conn, wanted)
        for node_id in wanted:
            _empty(conn, node_id, store.now_ms(), actor, _without(reason, needles))
        _clean_notes(conn, needles)
        _clean_promotion(conn, wanted)
        rewrite_log(
            conn,
            frozenset(wanted),
            lambda text: _without(text, needles),
            removed=PURGED,
            actor=actor,
            reason=f"purge: {_without(reason, needles)}",
            at_ms=store.now_ms(),
        )
        # Deleted words stay in the index's older segments till these are merged. Its secure-delete option would
        # take them out, and make the index unreadable for other programs whose SQLite is older than 3.42.
        rebuild_search_index(conn, store.kind)
        copies = _copies(conn, wanted, needles)
    notes = _rewrite(store.path)
    vectors, index_notes = purge_index(store, wanted)
    notes += index_notes
    backups = _backups_with(store.path, wanted)
    return PurgeReport(wanted, revisions, vectors, copies, backups, is_erased=not notes, notes=tuple(notes))


def _empty(conn: apsw.Connection, node_id: str, now_ms: int, actor: str, reason: str) -> None:
    [(content, tier)] = conn.execute(
        "SELECT CAST(content AS BLOB), CAST(tier AS BLOB) FROM nodes WHERE id = ?", (node_id,)
    ).fetchall()
    was_purged = conn.execute("SELECT 1 FROM td_revision WHERE node_id = ? AND kind = 'purge'", (node_id,))
    if not content and was_purged.fetchone():
        return
    conn.execute("DELETE FROM td_revision WHERE node_id = ? AND kind <> 'purge'", (node_id,))
    conn.execute("DELETE FROM td_no_embedding WHERE node_id = ?", (node_id,))
    # Why it was moved goes too: whoever archives a memory for the secret in it may well name the secret.
    conn.execute(
        "UPDATE evolution_log SET reasoning = ? WHERE node_ids = ? AND reasoning IS NOT NULL",
        (PURGED, json.dumps([node_id])),
    )
    conn.execute(
        "UPDATE nodes SET content = '', subtype = NULL, embedding = NULL, provenance = NULL, metadata = '{}', "
        "tier = 'archive', updated_at = ? WHERE id = ?",
        (now_ms, node_id),
    )
    conn.execute(
        "INSERT INTO td_revision (node_id, at, kind, actor, reason, after_digest) VALUES (?, ?, 'purge', ?, ?, ?)",
        (node_id, now_ms, actor, reason, content_hash(text_of(content))),
    )
    if text_of(tier) != Tier.ARCHIVE:
        reasoning = f"purge by {actor}: {reason}"
        record_move(conn, node_id, text_of(tier), Tier.ARCHIVE.value, at_ms=now_ms, reasoning=reasoning)


def _needles(conn: apsw.Connection, ids: Sequence[str]) -> list[str]:
    """What to look for elsewhere, longest first: each text that a memory holds or held, and every secret in it."""
    found: dict[str, None] = {}
    for node_id in ids:
        contents, others = _texts_of(conn, node_id)
        found.update(dict.fromkeys(content.strip() for content in contents))
        for text in (*contents, *others):
            found.update(dict.fromkeys(text[start:end] for start, end, _ in find_secrets(text)))
    return sorted((needle for needle in found if len(needle) >= _LEAST_NEEDLE_CHARS), key=len, reverse=True)


def _texts_of(conn: apsw.Connection, node_id: str) -> tuple[list[str], list[str]]:
    """What a memory says and said, and what stands beside it."""
    columns = ("content", "metadata", "provenance", "subtype")
    picked = ", ".join(f"CAST({column} AS BLOB)" for column in columns)
    row = conn.execute(f"SELECT {picked} FROM nodes WHERE id = ?", (node_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"purge memory {node_id[:80]}: there is none; nothing was changed")
    contents, others = [text_of(row[0])], [text_of(value) for value in row[1:]]
    befores = conn.execute("SELECT before FROM td_revision WHERE node_id = ? AND before IS NOT NULL", (node_id,))
    for (before,) in befores:
        was = json.loads(before)
        contents += [was["content"]] if isinstance(was.get("content"), str) else []
        others += [was[column] for column in columns[1:] if isinstance(was.get(column), str)]
    return contents, others


def _without(text: str, needles: Iterable[str]) -> str:
    for needle in needles:
        text = text.replace(needle, PURGED)
    return text


def _clean_notes(conn: apsw.Connection, needles: Iterable[str]) -> None:
    tables = {str(row[0]) for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, column in _NOTES:
        for needle in needles if table in tables else ():
            conn.execute(
                f"UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1) > 0",
                (needle, PURGED),
            )


def _clean_promotion(conn: apsw.Connection, ids: Sequence[str]) -> None:
    """Why memories were held goes, and why a run moved them that moved no other."""
    names = json.dumps(list(ids))
    conn.execute(
        "UPDATE td_hold SET reason = ?1 WHERE reason IS NOT NULL AND node_id IN (SELECT value FROM json_each(?2))",
        (PURGED, names),
    )
    conn.execute(
        "UPDATE td_promotion_run SET reason = ?1 WHERE reason IS NOT NULL AND id IN ("
        "SELECT run_id FROM td_promotion_log GROUP BY run_id "
        "HAVING min(node_id IN (SELECT value FROM json_each(?2))) = 1)",
        (PURGED, names),
    )


def _copies(conn: apsw.Connection, ids: Sequence[str], needles: Sequence[str]) -> tuple[str, ...]:
    """Other memories that hold one of the texts; one look through the store for all of them."""
    if not needles:
        return ()
    any_of = " OR ".join(f"instr(content, ?{n}) > 0" for n in range(2, len(needles[:50]) + 2))
    rows = conn.execute(
        f"SELECT CAST(id AS BLOB) FROM nodes WHERE id NOT IN (SELECT value FROM json_each(?1)) AND ({any_of}) "
        f"ORDER BY id LIMIT {MAX_COPIES}",
        (json.dumps(list(ids)), *needles[:50]),
    )
    return tuple(text_of(row[0]) for row in rows)


def _count_revisions(conn: apsw.Connection, ids: Sequence[str]) -> int:
    sql = "SELECT count(*) FROM td_revision WHERE kind <> 'purge' AND node_id IN (SELECT value FROM json_each(?))"
    return int(conn.execute(sql, (json.dumps(list(ids)),)).get)


def _rewrite(path: Path) -> list[str]:
    """Write the file anew without its free pages, and empty its log; what could not be done, in sentences."""
    try:
        with closing(db.open_writer(path)) as conn, db.driver_errors(path, "purge"):
            conn.pragma("secure_delete", True)
            conn.execute("VACUUM")
            is_emptied = db.empty_wal(conn)
    except StoreError as e:
        return [f"the file could not be written anew ({e.message}): purge once more"]
    if is_emptied:
        return []
    return [f"{path.name}-wal still holds it while another program reads: purge once more after that"]


def _backups_with(path: Path, ids: Sequence[str]) -> tuple[Path, ...]:
    """The backups that hold one of the memories, and what can't be read of them, so that nobody knows."""
    return (*(backup for backup in list_backups(path) if _may_hold(backup, ids)), *sorted(remains_of(path)))


def _may_hold(backup: Path, ids: Sequence[str]) -> bool:
    sql = "SELECT 1 FROM nodes WHERE id IN (SELECT value FROM json_each(?)) AND content <> '' LIMIT 1"
    try:
        with closing(db.open_untouched(backup)) as conn, db.driver_errors(backup, "read"):
            return conn.execute(sql, (json.dumps(list(ids)),)).fetchone() is not None
    except StoreError:
        return True
