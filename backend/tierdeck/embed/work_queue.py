"""The queue of texts still to embed with one model: rows of `embedding_state`, claimed, finished, put back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import apsw

from tierdeck import db
from tierdeck.embed.claim import is_claimed
from tierdeck.vectors.model_record import Model

OFF = "embedding is off for this memory"
NO_TEXT = "no text to embed"
SECRET = "it looks like it holds a secret, and secrets are not sent"  # noqa: S105 - a reason, not a secret

# `status <> 'done'` is said beside every other status: the index of what is open can be used only then.
_IS_OPEN = "WHERE model = ? AND dimensions = ? AND status = ? AND status <> 'done'"
_OPEN = f"FROM embedding_state {_IS_OPEN}"
_PENDING = f"SELECT content_hash, claimed_by, claimed_until {_OPEN} ORDER BY is_late, attempts, id"
# `+` keeps SQLite from taking the wider index: there are few rows of one text.
_SAME_TEXTS = (
    "SELECT content_hash, id, node_id, status, claimed_by, claimed_until FROM embedding_state"
    " WHERE content_hash IN (SELECT value FROM json_each(?)) AND +model = ? AND +dimensions = ?"
    " AND +status IN ('pending', 'done')"
)
_ROW = "WHERE model = ? AND dimensions = ? AND node_id = ?"
# A claim that is still this run's says that the text is still the one that was claimed: whoever notices another
# text takes the claim away.
_FINISH = (
    "UPDATE embedding_state SET status = 'done', error = NULL, embedded_at = ?, seq = ?, claimed_by = NULL,"
    " claimed_until = NULL WHERE id IN (SELECT value FROM json_each(?)) AND status = 'pending' AND claimed_by = ?"
)
_FINISHED = "SELECT node_id FROM embedding_state WHERE id IN (SELECT value FROM json_each(?)) AND seq = ?"
_CLAIM = "UPDATE embedding_state SET claimed_by = ?, claimed_until = ? WHERE id = ? AND status = 'pending'"
_RELEASE = "UPDATE embedding_state SET claimed_by = NULL, claimed_until = NULL WHERE id = ? AND claimed_by = ?"


OpenStatus = Literal["pending", "failed", "skipped"]
_StateRow = tuple[str, int, str, str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Work:
    """One text and every memory that holds it. `twin_id` is a memory whose vector is already of this text.

    `state_ids` are the rows of `embedding_state`, in the order of `node_ids`.
    """

    content_hash: str
    node_ids: tuple[str, ...]
    state_ids: tuple[int, ...]
    twin_id: str | None = None


class WorkQueue:
    """The queue of one model, as one run of an indexer sees it."""

    def __init__(
        self, conn: apsw.Connection, model: Model, claimant: str, *, lease_ms: int, clock_ms: Callable[[], int]
    ) -> None:
        self._conn = conn
        self._key = (model.name, model.dimensions)
        self._claimant = claimant
        self._lease_ms = lease_ms
        self._clock_ms = clock_ms
        self._claimed_at_ms = 0

    def claim(self, limit_texts: int, given_up: Collection[str]) -> list[Work]:
        """Claim the next texts for this run, in one short transaction; memories of equal text together.

        Args:
            given_up: hashes that this run tried in vain and won't try again.
        """
        with db.transaction(self._conn):
            now = self._clock_ms()
            skipped = set(given_up)
            while hashes := self._next_hashes(limit_texts, skipped, now):
                works = self._works(hashes, now)
                if works:
                    self._mark(works, now)
                    return works
                skipped.update(hashes)  # of each, another run holds a memory
        return []

    def keep(self, works: Sequence[Work]) -> None:
        """Claim the same texts for longer when a third of the time is gone; called before each request."""
        now = self._clock_ms()
        if now >= self._claimed_at_ms + self._lease_ms // 3:
            with db.transaction(self._conn):
                self._mark(works, now)

    def release(self, works: Sequence[Work] | None = None) -> None:
        """Give up this run's claims on these texts, or on all."""
        with db.transaction(self._conn):
            if works is None:
                self._conn.execute(
                    f"UPDATE embedding_state SET claimed_by = NULL, claimed_until = NULL {_IS_OPEN}"
                    " AND claimed_by = ?",
                    (*self._key, "pending", self._claimant),
                )
                return
            ids = [(state_id, self._claimant) for work in works for state_id in work.state_ids]
            self._conn.executemany(_RELEASE, ids)

    def finish(self, works: Sequence[tuple[Work, str | None]], seq: int) -> set[str]:
        """Mark every memory of these texts done, inside the caller's transaction.

        Args:
            works: each with a note for the operator, or None.

        Returns:
            The ids that are done by it; of the others this run has lost the claim: their texts changed.
        """
        ids = json.dumps([state_id for work, _ in works for state_id in work.state_ids])
        self._conn.execute(_FINISH, (self._clock_ms(), seq, ids, self._claimant))
        done = {node_id for work, _ in works for node_id in work.node_ids}
        if self._conn.changes() != len(done):
            done = {str(row[0]) for row in self._conn.execute(_FINISHED, (ids, seq))}
        notes = [(note, *self._key, key) for work, note in works if note for key in work.node_ids if key in done]
        self._conn.executemany(f"UPDATE embedding_state SET error = ? {_ROW}", notes)
        return done

    def is_done(self, node_id: str, content_hash: str) -> bool:
        """Whether the memory's vector is of that text."""
        found = self._conn.execute(
            f"SELECT 1 FROM embedding_state {_ROW} AND status = 'done' AND content_hash = ?",
            (*self._key, node_id, content_hash),
        )
        return found.fetchone() is not None

    def put_back(self, node_id: str, content_hash: str, *, now_hash: str) -> None:
        """The memory's text changed meanwhile: wait for its new one, inside the caller's transaction.

        Nothing is done when another run has noticed it: that run may be paying for the new text just now.
        """
        self._conn.execute(
            "UPDATE embedding_state SET content_hash = ?, status = 'pending', attempts = 0, error = NULL,"
            f" claimed_by = NULL, claimed_until = NULL {_ROW} AND content_hash = ?",
            (now_hash, *self._key, node_id, content_hash),
        )

    def refuse(self, node_id: str, content_hash: str, status: OpenStatus, error: str) -> None:
        """Say why the memory has no vector (`pending`, `failed` or `skipped`), inside the caller's transaction."""
        self._conn.execute(
            "UPDATE embedding_state SET status = ?, error = ?, attempts = attempts + (? <> 'skipped'),"
            f" claimed_by = NULL, claimed_until = NULL {_ROW} AND status = 'pending' AND content_hash = ?",
            (status, error, status, *self._key, node_id, content_hash),
        )

    def ask_again(self, status: OpenStatus, reason: str | None = None) -> None:
        """Make refused memories pending: all of a status, or those with that reason."""
        with db.transaction(self._conn):
            self._conn.execute(
                "UPDATE embedding_state SET status = 'pending', error = NULL, attempts = 0"
                f" {_IS_OPEN} AND (? IS NULL OR error = ?)",
                (*self._key, status, reason, reason),
            )

    def count_pending(self) -> int:
        """How many memories wait."""
        return int(self._conn.execute(f"SELECT count(*) {_OPEN}", (*self._key, "pending")).get)

    def has_untried(self) -> bool:
        """Whether a pending memory has not been tried at all."""
        row = self._conn.execute(f"SELECT 1 {_OPEN} AND attempts = 0 LIMIT 1", (*self._key, "pending")).fetchone()
        return row is not None

    def _next_hashes(self, limit: int, skipped: Collection[str], now: int) -> list[str]:
        """The next different texts that no other run has claimed."""
        found: dict[str, None] = {}
        for text_hash, by, until in self._conn.execute(_PENDING, (*self._key, "pending")):
            if text_hash not in skipped and not self._is_others(by, until, now):
                found[str(text_hash)] = None
                if len(found) >= limit:
                    break
        return list(found)

    def _works(self, hashes: Sequence[str], now: int) -> list[Work]:
        """The texts with all memories that hold them, without those of which another run has one."""
        holders: dict[str, list[tuple[int, str]]] = {text_hash: [] for text_hash in hashes}
        twins: dict[str, str] = {}
        rows = self._conn.execute(_SAME_TEXTS, (json.dumps(hashes), *self._key))
        for row in rows:
            text_hash, state_id, node_id, status, by, until = cast("_StateRow", row)
            if status == "done":
                twins[text_hash] = node_id
            elif self._is_others(by, until, now):
                holders.pop(text_hash, None)
            elif text_hash in holders:
                holders[text_hash].append((state_id, node_id))
        return [
            Work(text_hash, tuple(key for _, key in found), tuple(row for row, _ in found), twins.get(text_hash))
            for text_hash, found in holders.items()
        ]

    def _is_others(self, by: object, until: object, now: int) -> bool:
        return by != self._claimant and is_claimed(by, until, now)

    def _mark(self, works: Collection[Work], now: int) -> None:
        self._claimed_at_ms = now
        until = now + self._lease_ms
        rows = [(self._claimant, until, state_id) for work in works for state_id in work.state_ids]
        self._conn.executemany(_CLAIM, rows)
