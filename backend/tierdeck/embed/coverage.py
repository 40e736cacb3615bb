"""How much of a store has its vectors: of which model, what waits, what was refused, what is stale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

import apsw

from tierdeck.config import EmbeddingSettings
from tierdeck.embed.local import is_local
from tierdeck.embed.make import ModelChoice, chosen_model
from tierdeck.embed.pending_texts import look_through
from tierdeck.embed.weighing import filled_model
from tierdeck.index.file import index_errors, open_for_reading
from tierdeck.index.path import index_path
from tierdeck.store import Store
from tierdeck.vectors.model_record import current_model


@dataclass(frozen=True, slots=True)
class Coverage:
    """A store's memories by how far they are with the model in force.

    `embedded` have a vector of their text now; `stale` one of an older text; `pending` none yet; `failed` were
    refused for good; `off` are left out on purpose (the flag, or a secret). They add up to `total`. `by_model`
    counts all vectors there are, by the model that made them; `index_model` is the one that search uses.
    """

    total: int
    embedded: int = 0
    pending: int = 0
    failed: int = 0
    stale: int = 0
    off: int = 0
    current_model: str | None = None
    index_model: str | None = None
    by_model: Mapping[str, int] = field(default_factory=dict)

    @property
    def foreign_model_note(self) -> str | None:
        """A sentence for the operator when vectors were made by another model than the one in force; else None."""
        if self.current_model is None:
            return None
        ours = is_local if is_local(self.current_model) else self.current_model.__eq__
        others = {name: n for name, n in self.by_model.items() if n and not ours(name)}
        if not others:
            return None
        counts = ", ".join(f"{n:,} memories embedded by {name}" for name, n in others.items())
        return f"{counts}; not compared with {self.current_model}: `tierdeck embed` makes them anew"


def coverage(
    store: Store, settings: EmbeddingSettings, *, should_stop: Callable[[], bool] | None = None
) -> Coverage:
    """How much of the store has its vectors, from the state of both files now; nothing is written or sent.

    Args:
        should_stop: asked often, for a million memories take seconds.

    Raises:
        IndexFileError: the index file can't be used.
        StoppedError: `should_stop` said so.
    """
    choice = chosen_model(settings, store)
    total = int(store.read(lambda c: c.execute("SELECT count(*) FROM nodes").get))
    conn = open_for_reading(store)
    if conn is None:
        return Coverage(total, pending=total, current_model=choice.name or None)
    with closing(conn), index_errors(index_path(store)):
        return _coverage(conn, store, choice, total, should_stop)


def _coverage(
    conn: apsw.Connection,
    store: Store,
    choice: ModelChoice,
    total: int,
    should_stop: Callable[[], bool] | None,
) -> Coverage:
    model = filled_model(conn, choice.name, choice.dimensions)
    seen = look_through(conn, store, model, should_stop)
    searched = current_model(conn)
    return Coverage(
        total=total,
        embedded=seen.embedded,
        pending=max(0, total - seen.embedded - seen.failed - seen.stale - seen.off),
        failed=seen.failed,
        stale=seen.stale,
        off=seen.off,
        current_model=choice.name or None,
        index_model=None if searched is None else searched.name,
        by_model={
            str(name): int(count)
            for name, count in conn.execute(
                "SELECT model, count(*) FROM embedding_state WHERE seq IS NOT NULL GROUP BY model ORDER BY model"
            )
        },
    )
