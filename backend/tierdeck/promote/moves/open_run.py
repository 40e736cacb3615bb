"""A run under way: begun with its first move, counted in each of its transactions, ended with its last."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from tierdeck.promote.moves.runs import add_to_run, begin_run, end_run
from tierdeck.promote.records import Refused, RunKind, RunReport
from tierdeck.store import Store


class OpenRun:
    """Keeps the row of a run, which is written when its id is first asked for, and what its report will say."""

    def __init__(
        self, kind: RunKind, *, planned: int, actor: str, reason: str | None, rule_version: str | None = None
    ) -> None:
        self._kind = kind
        self._planned = planned
        self._actor = actor
        self._reason = reason
        self._rule_version = rule_version
        self._run_id: int | None = None
        self._moved: list[str] = []
        self._refused: list[Refused] = []
        self._has_ended = False

    @property
    def is_fresh(self) -> bool:
        """Whether nothing was done in it yet."""
        return not self.done_rows

    @property
    def done_rows(self) -> int:
        """How many memories were moved or refused in it so far."""
        return len(self._moved) + len(self._refused)

    def id_in(self, conn: apsw.Connection, at_ms: int) -> int:
        """The run's id, for the rows of its moves; begins it when it was not begun."""
        if self._run_id is None:
            self._run_id = begin_run(
                conn, self._kind, at_ms=at_ms, actor=self._actor, planned=self._planned, reason=self._reason,
                rule_version=self._rule_version,
            )  # fmt: skip
            # Refused before anything moved, when there was no row yet.
            add_to_run(conn, self._run_id, moved=0, refused=len(self._refused))
        return self._run_id

    def add(self, conn: apsw.Connection, moved: Sequence[str], refused: Sequence[Refused], at_ms: int) -> None:
        """Count what a transaction did, inside it; the last one ends the run."""
        self._moved += moved
        self._refused += refused
        if self._run_id is None:
            return
        add_to_run(conn, self._run_id, moved=len(moved), refused=len(refused))
        if self.done_rows >= self._planned:
            end_run(conn, self._run_id, at_ms=at_ms)
            self._has_ended = True

    def close(self, store: Store) -> RunReport:
        """End it also when it was asked to stop; what it did."""
        if self._run_id is not None and not self._has_ended:
            with store.writing() as conn:
                end_run(conn, self._run_id, at_ms=store.now_ms())
        return RunReport(self._run_id, tuple(self._moved), tuple(self._refused))
