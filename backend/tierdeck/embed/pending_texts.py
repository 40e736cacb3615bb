"""The store held against the index without writing: what has its vector, what would have to be embedded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import apsw

from tierdeck.embed.work_queue import SECRET
from tierdeck.errors import StoppedError
from tierdeck.index.store_texts import TextState, all_texts
from tierdeck.store import Store
from tierdeck.vectors.model_record import Model

_STATE = (
    "SELECT content_hash, status, seq, error FROM embedding_state"
    " WHERE model = ? AND dimensions = ? AND node_id = ?"
)
_TWIN = (
    "SELECT 1 FROM embedding_state"
    " WHERE content_hash = ? AND +model = ? AND +dimensions = ? AND status = 'done' LIMIT 1"
)


@dataclass(slots=True)
class LookedThrough:
    """Counts of memories, and the bytes of each different text that would be sent, by its hash.

    `secret` are texts that a run held back: among the `off` ones, and sent once that is allowed.
    """

    embedded: int = 0
    failed: int = 0
    stale: int = 0
    off: int = 0
    to_do: dict[str, int] = field(default_factory=dict)
    secret: dict[str, int] = field(default_factory=dict)


def look_through(
    conn: apsw.Connection | None,
    store: Store,
    model: Model,
    should_stop: Callable[[], bool] | None = None,
) -> LookedThrough:
    """Compare every text's hash with the index's state of that model (some 8 µs a memory).

    Args:
        conn: the index file; None when there is none yet.
        should_stop: asked before each page of texts.

    Raises:
        StoppedError: `should_stop` said so.
    """
    seen = LookedThrough()
    for page in all_texts(store):
        if should_stop is not None and should_stop():
            raise StoppedError("look through texts: stopped")
        for text in page.texts:
            row = None
            if conn is not None:
                row = conn.execute(_STATE, (model.name, model.dimensions, text.node_id)).fetchone()
            _count(seen, text, row)
    if conn is not None:  # a text that another memory has its vector of costs nothing
        has_twin = [
            key for key in seen.to_do if conn.execute(_TWIN, (key, model.name, model.dimensions)).fetchone()
        ]
        for key in has_twin:
            del seen.to_do[key]
    return seen


def _count(seen: LookedThrough, text: TextState, row: tuple[object, ...] | None) -> None:
    stored_hash, status, seq, error = row or (None, None, None, None)
    if text.is_off or text.is_blank or (status == "skipped" and stored_hash == text.content_hash):
        seen.off += 1
        if error == SECRET:
            seen.secret[text.content_hash] = text.text_bytes
    elif stored_hash == text.content_hash and status == "done":
        seen.embedded += 1
    elif stored_hash == text.content_hash and status == "failed":
        seen.failed += 1
    else:
        seen.stale += seq is not None
        seen.to_do[text.content_hash] = text.text_bytes
