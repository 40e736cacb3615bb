"""The queue of texts still to embed with one model: rows of `embedding_state`, claimed, finished, put back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.embed.claim import is_claimed
from tierdeck.embed.model_record import Model

OFF = "embedding is off for this memory"
NO_TEXT = "no text to embed"
SECRET = "it looks like it holds a secret, and secrets are not sent"  # noqa: S105 - a reason, not a secret

_PENDING = (
    "SELECT node_id, content_hash, claimed_by, claimed_until FROM embedding_state"
    " WHERE model = ? AND dimensions = ? AND status = 'pending' ORDER BY is_late, attempts, node_id"
)
# `+` keeps SQLite from taking the wider index: there are few rows of one text.
_SAME_TEXT = (
    "SELECT node_id, status, claimed_by, claimed_until FROM embedding_state"
    " WHERE content_hash = ? AND +model = ? AND +dimensions = ? AND status IN ('pending', 'done')"
)
_ROW = "WHERE model = ? AND dimensions = ? AND node_id = ?"


@dataclass(frozen=True, slots=True)
class Work:
    """One text and every memory that holds it. `twin_id` is a memory whose vector is already of this text."""

    content_hash: str
    node_ids: tuple[str, ...]
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
        with self._conn:
            now = self._clock_ms()
            found: dict[str, Work] = {}
            for _, text_hash, by, until in self._conn.execute(_PENDING, self._key):
                if text_hash in found or text_hash in given_up or self._is_others(by, until, now):
                    continue
                work = self._work(text_hash, now)
                if work is not None:
                    found[text_hash] = work
                if len(found) >= limit_texts:
                    break
            self._mark(found.values(), now)
        return list(found.values())

    def keep(self, works: Sequence[Work]) -> None:
        """Claim the same texts for longer when a third of the time is gone; called before each request."""
        now = self._clock_ms()
        if now >= self._claimed_at_ms + self._lease_ms // 3:
            with self._conn:
                self._mark(works, now)

    def release(self, works: Sequence[Work] | None = None) -> None:
        """Give up this run's claims on these texts, or on all."""
        with self._conn:
            if works is None:
                self._conn.execute(
                    "UPDATE embedding_state SET claimed_by = NULL, claimed_until = NULL"
                    " WHERE model = ? AND dimensions = ? AND status = 'pending' AND claimed_by = ?",
                    (*self._key, self._claimant),
                )
                return
            for node_id in (i for work in works for i in work.node_ids):
                self._conn.execute(
                    f"UPDATE embedding_state SET claimed_by = NULL, claimed_until = NULL {_ROW} AND claimed_by = ?",
                    (*self._key, node_id, self._claimant),
                )

    def finish(self, node_id: str, content_hash: str, note: str | None, seq: int) -> bool:
        """Mark the memory done, inside the caller's transaction; False when its text is no longer wanted so."""
        self._conn.execute(
            "UPDATE embedding_state SET status = 'done', error = ?, embedded_at = ?, seq = ?, claimed_by = NULL,"
            f" claimed_until = NULL {_ROW} AND status = 'pending' AND content_hash = ?",
            (note, self._clock_ms(), seq, *self._key, node_id, content_hash),
        )
        return self._conn.changes() == 1

    def put_back(self, node_id: str, content_hash: str) -> None:
        """The memory's text changed meanwhile: wait for its new one, inside the caller's transaction."""
        self._conn.execute(
            "UPDATE embedding_state SET content_hash = ?, status = 'pending', attempts = 0, error = NULL,"
            f" claimed_by = NULL, claimed_until = NULL {_ROW}",
            (content_hash, *self._key, node_id),
        )

    def refuse(self, node_id: str, content_hash: str, status: str, error: str) -> None:
        """Say why the memory has no vector (`pending`, `failed` or `skipped`), inside the caller's transaction."""
        self._conn.execute(
            "UPDATE embedding_state SET status = ?, error = ?, attempts = attempts + (? <> 'skipped'),"
            f" claimed_by = NULL, claimed_until = NULL {_ROW} AND status = 'pending' AND content_hash = ?",
            (status, error, status, *self._key, node_id, content_hash),
        )

    def ask_again(self, status: str, reason: str | None = None) -> None:
        """Make refused memories pending: all of a status, or those with that reason."""
        with self._conn:
            self._conn.execute(
                "UPDATE embedding_state SET status = 'pending', error = NULL, attempts = 0"
                " WHERE model = ? AND dimensions = ? AND status = ? AND (? IS NULL OR error = ?)",
                (*self._key, status, reason, reason),
            )

    def count(self, status: str) -> int:
        """How many memories have the status."""
        return int(
            self._conn.execute(
                "SELECT count(*) FROM embedding_state WHERE model = ? AND dimensions = ? AND status = ?",
                (*self._key, status),
            ).get
        )

    def has_untried(self) -> bool:
        """Whether a pending memory has not been tried at all."""
        return (
            self._conn.execute(
                "SELECT 1 FROM embedding_state WHERE model = ? AND dimensions = ? AND status = 'pending'"
                " AND attempts = 0 LIMIT 1",
                self._key,
            ).fetchone()
            is not None
        )

    def _work(self, text_hash: str, now: int) -> Work | None:
        ids, twin = [], None
        for node_id, status, by, until in self._conn.execute(_SAME_TEXT, (text_hash, *self._key)).fetchall():
            if status == "done":
                twin = str(node_id)
            elif self._is_others(by, until, now):
                return None
            else:
                ids.append(str(node_id))
        return Work(text_hash, tuple(ids), twin)

    def _is_others(self, by: object, until: object, now: int) -> bool:
        return by != self._claimant and is_claimed(by, until, now)

    def _mark(self, works: Collection[Work], now: int) -> None:
        self._claimed_at_ms = now
        ids = json.dumps([node_id for work in works for node_id in work.node_ids])
        self._conn.execute(
            "UPDATE embedding_state SET claimed_by = ?, claimed_until = ? WHERE model = ? AND dimensions = ?"
            " AND status = 'pending' AND node_id IN (SELECT value FROM json_each(?))",
            (self._claimant, now + self._lease_ms, *self._key, ids),
        )
