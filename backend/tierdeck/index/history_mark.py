"""What the index remembers of a store's history, and whether the store still has that history.

A store goes back when a backup is put in its place, by us, by another program or by hand, and then grows on: its
numbers of changes pass those that the index has seen, and the same memory may stand at the same number. So the
index remembers the newest changes, each with its number, its memory and a digest of the text. They still hold when
the store has each of them as it was, or a change of its memory that is later than what was seen, and no change of
another memory among them. For histories that part within the newest `REMEMBERED_CHANGES` memories that is a proof,
whoever wrote. Beyond it rests on the numbers, which our transactions draw at random (`store.change_numbers`): only
writes of other programs on both sides, that end in the same texts of the same memories in the same order, are
taken for one.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import cast

import apsw

from tierdeck.store.change_numbers import REMEMBERED_CHANGES
from tierdeck.store.rows import as_bytes

# Of a longer text only its length counts: the texts of all these memories are read after each write to the store.
_MAX_TEXT_BYTES = 16_384
_DIGEST_BYTES = 6
_TEXT = (
    f"octet_length(n.content), CASE WHEN octet_length(n.content) <= {_MAX_TEXT_BYTES}"
    f" THEN {as_bytes('n.content')} END"
)
_NEWEST = (
    f"SELECT c.seq, hex(CAST(c.node_id AS BLOB)), {_TEXT} FROM td_change c LEFT JOIN nodes n ON n.id = c.node_id"
    f" ORDER BY c.seq DESC LIMIT {REMEMBERED_CHANGES}"
)
# By their bytes: an id may be no valid text.
_NOW = (
    f"SELECT c.seq, j.value, {_TEXT} FROM json_each(?) j"
    " JOIN td_change c ON c.node_id = CAST(unhex(j.value) AS TEXT) LEFT JOIN nodes n ON n.id = c.node_id"
)
_AMONG = "SELECT count(*) FROM (SELECT 1 FROM td_change WHERE seq BETWEEN ? AND ? LIMIT ?)"

_Row = tuple[int, str, int | None, bytes | str | int | float | None]
_Change = tuple[int, str, str]


def history_mark(conn: apsw.Connection) -> str:
    """What to remember of the store's newest changes, in the snapshot under way: 6 kB, whatever the texts are."""
    return json.dumps([_change(row) for row in cast("list[_Row]", conn.execute(_NEWEST).fetchall())])


def has_history(conn: apsw.Connection, seen_seq: int, mark: str | None) -> bool:
    """Whether the store, in the snapshot under way, is what it was when the mark was made, or went on from there.

    Then what the index knows holds for all memories but those that changed after `seen_seq`.

    Args:
        seen_seq: the newest change that the index has taken in; the mark may tell of later ones.
        mark: from `history_mark`; by any other text, as earlier versions kept one, it can't be told.

    Returns:
        False where it can't be told: also when every memory of the mark has changed since, in a store of more.
    """
    seen = _changes(mark)
    if seen is None:
        return False
    ids = json.dumps([node_id for _, node_id, _ in seen])
    now = [_change(row) for row in cast("list[_Row]", conn.execute(_NOW, (ids,)).fetchall())]
    as_now = {node_id: (seq, digest) for seq, node_id, digest in now}
    same: list[int] = []
    for seq, node_id, digest in seen:
        seq_now, digest_now = as_now.get(node_id, (0, ""))
        if (seq_now, digest_now) == (seq, digest):
            same.append(seq)
        elif seq_now <= seen_seq:
            return False
    is_of_all = len(seen) < REMEMBERED_CHANGES
    lowest = 0 if is_of_all else min(seq for seq, _, _ in seen)
    among = int(conn.execute(_AMONG, (lowest, seen_seq, REMEMBERED_CHANGES + 1)).get)
    return among == sum(seq <= seen_seq for seq in same) and (bool(same) or is_of_all)


def _change(row: _Row) -> _Change:
    seq, node_id, size, content = row
    text = content if isinstance(content, bytes) else repr(content).encode()
    digest = blake2b(b"%d %s" % (-1 if size is None else size, text), digest_size=_DIGEST_BYTES)
    return int(seq), node_id, digest.hexdigest()


def _changes(mark: str | None) -> list[_Change] | None:
    """The changes that a mark tells of; None where it is none of ours."""
    try:
        return [(int(seq), str(node_id), str(digest)) for seq, node_id, digest in json.loads(mark or "")]
    except (ValueError, TypeError):
        return None
