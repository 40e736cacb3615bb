"""Memories read by id and added. Spec: SPEC-02.20, SPEC-02.21"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from tierdeck.errors import AmbiguousIdError, ConflictError, InvalidValueError, NotFoundError
from tierdeck.model import Node, NodeDraft
from tierdeck.store.drafts import DRAFT_COLUMNS, DraftValues, draft_values
from tierdeck.store.rows import read_nodes
from tierdeck.store.store import Store

_MAX_MATCHES = 20
_INSERT = f"INSERT INTO nodes ({', '.join(DRAFT_COLUMNS)}) VALUES ({', '.join('?' * len(DRAFT_COLUMNS))})"


def get_node(store: Store, node_id: str) -> Node:
    """The memory of a full id, also an archived one; reading records nothing.

    Raises:
        NotFoundError: there is none.
    Spec: SPEC-02.21
    """
    found = store.read(lambda conn: read_nodes(conn, [node_id]))
    if node_id not in found:
        raise _no_such(store, node_id)
    return found[node_id]


def resolve_id(store: Store, id_or_prefix: str) -> str:
    """The full id that a full or a short id means; an exact id wins over those it begins.

    Raises:
        NotFoundError: no memory has it.
        AmbiguousIdError: several begin so; `matches` lists them in order, at most 20.
    """
    return resolve_ids(store, [id_or_prefix])[0]


def resolve_ids(store: Store, ids_or_prefixes: Sequence[str]) -> list[str]:
    """The full ids that full or short ids mean, in their order, each once; raises as `resolve_id` does."""
    asked = [text.strip() for text in ids_or_prefixes]
    if not all(asked):
        raise InvalidValueError("find memory: an id is empty", hint="give the id, or its first characters")
    found = store.read(lambda conn: [_beginning_with(conn, text) for text in asked])
    full: dict[str, None] = {}
    for text, matches in zip(asked, found, strict=True):
        if not matches:
            raise _no_such(store, text)
        if len(matches) > 1:
            raise AmbiguousIdError(
                f"find memory {text}: {len(matches)}{'+' if len(matches) == _MAX_MATCHES else ''} ids begin so",
                matches=matches,
                hint="give more of its characters",
            )
        full[matches[0]] = None
    return list(full)


def add_node(store: Store, draft: NodeDraft) -> Node:
    """Add one memory and give it as it was stored; raises as `add_nodes` does. Spec: SPEC-02.20"""
    [node_id] = add_nodes(store, [draft])
    return get_node(store, node_id)


def add_nodes(store: Store, drafts: Iterable[NodeDraft]) -> list[str]:
    """Add memories in one transaction: all of them, or on any error none.

    Drafts are checked before the store is locked, so a slow or faulty source never holds it.

    Returns:
        Their ids, in the order of the drafts.

    Raises:
        InvalidValueError: a draft may not enter; names its field, value and limit.
        ConflictError: an id exists already, or twice among the drafts; what is there is never overwritten.
        ReadOnlyStoreError, StoreBusyError: nothing was written.
    Spec: SPEC-02.20, SPEC-09.06
    """
    now = store.now_ms()
    rows: list[DraftValues] = []
    silent: list[tuple[str]] = []
    for draft in drafts:
        values = draft_values(draft, now)
        rows.append(values)
        if not draft.compute_embedding:
            silent.append((values[0],))
    with store.writing() as conn:
        try:
            with conn:  # taken back before it is asked which id was there
                conn.executemany(_INSERT, rows)
        except apsw.ConstraintError as e:
            raise _taken_id(conn, rows, e) from e
        if silent:
            conn.executemany("INSERT OR IGNORE INTO td_no_embedding (node_id) VALUES (?)", silent)
    return [row[0] for row in rows]


def _beginning_with(conn: apsw.Connection, text: str) -> list[str]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return []
    for asked in dict.fromkeys((text, text.lower())):
        exact = conn.execute("SELECT id FROM nodes WHERE id = ?", (asked,)).fetchone()
        if exact:
            return [str(exact[0])]
        rows = conn.execute(
            "SELECT id FROM nodes WHERE id >= ?1 AND id < ?1 || char(1114111) ORDER BY id LIMIT ?2",
            (asked, _MAX_MATCHES),
        ).fetchall()
        if rows:
            return [str(row[0]) for row in rows]
    return []


def _no_such(store: Store, text: str) -> NotFoundError:
    return NotFoundError(
        f"find memory {text[:80]}: there is none in {store.path}",
        hint="`tierdeck search WORDS` lists memories with their ids",
    )


def _taken_id(conn: apsw.Connection, rows: Sequence[DraftValues], cause: apsw.ConstraintError) -> Exception:
    seen: set[str] = set()
    for row in rows:
        if row[0] in seen:
            return ConflictError(f"add memory {row[0]}: the same id is given twice; nothing was added")
        seen.add(row[0])
    for row in rows:
        if conn.execute("SELECT 1 FROM nodes WHERE id = ?", (row[0],)).fetchone():
            return ConflictError(
                f"add memory {row[0]}: a memory with that id exists; nothing was added", hint="edit it instead"
            )
    return cause
