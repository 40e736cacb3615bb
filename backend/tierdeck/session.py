"""What an agent's own process uses: one session, through which it searches, opens, uses and is given memories.

    with open_session(store, "run-41", project="billing", agent="coder") as session:
        hits = session.search("staging port").hits
        node = session.open(hits[0].row.id)
        session.use(node.id, "success")
        session.end("success")

What an operator looks at in the console or on the command line goes past this, and is recorded nowhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tierdeck.config import PromotionSettings, SearchSettings
from tierdeck.errors import ConflictError
from tierdeck.model import AccessKind, Node, NodeFilter, Outcome, SessionRow
from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.records import RunReport
from tierdeck.search import Query, SearchAnswer, hybrid_search
from tierdeck.store import Store, get_node

if TYPE_CHECKING:
    from tierdeck.embed.embedder import Embedder
    from tierdeck.embed.vector_index import VectorIndex

_PROMOTION = PromotionSettings()
_SEARCH = SearchSettings()


def open_session(
    store: Store,
    external_id: str,
    *,
    parent: str | None = None,
    project: str | None = None,
    agent: str | None = None,
    promotion: PromotionSettings = _PROMOTION,
    search: SearchSettings = _SEARCH,
    embedder: Embedder | None = None,
    index: VectorIndex | None = None,
) -> Session:
    """The agent's session by its name: the one that is still open, else a new run of it.

    Args:
        external_id: what the agent calls it; the same name after a restart goes on in the same session.
        parent: the session that began this one, for a sub-agent; both count as one.
        promotion: the rules' numbers, and whether they run by themselves.
        search: how `Session.search` weighs meaning against words, and how many hits it gives, unless told.
        embedder: makes the vectors of queries; without it and `index` words alone are looked for.
        index: the store's vectors, open.

    Raises:
        ReadOnlyStoreError: the store can't be written, so that nothing could be recorded; says why.
        InvalidValueError: a name is none, or the session would be its own ancestor.
        StoreBusyError: another program holds the store. Nothing was written in each case.
    Spec: SPEC-09.10
    """
    row = meet_session(store, external_id, parent=parent, project=project, agent=agent)
    return Session(store, row, promotion=promotion, search=search, embedder=embedder, index=index)


class Session:
    """One session of an agent. Made by `open_session`; safe to use from several threads.

    Leaving it as a context ends it, without an outcome unless `end` gave one. Leaving it by an exception leaves it
    open: a crash says nothing of the memories, and the agent that starts again under the same name goes on in it.
    One that never comes back is over by itself after 12 hours.
    """

    def __init__(
        self,
        store: Store,
        row: SessionRow,
        *,
        promotion: PromotionSettings = _PROMOTION,
        search: SearchSettings = _SEARCH,
        embedder: Embedder | None = None,
        index: VectorIndex | None = None,
    ) -> None:
        self._store = store
        self._row = row
        self._promotion = promotion
        self._search = search
        self._embedder = embedder
        self._index = index
        self._lock = threading.RLock()
        self._just_opened: set[str] = set()
        self._moved: list[str] = []
        self._has_ended = False

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and not self._has_ended:
            self.end()

    @property
    def id(self) -> int:
        """The number of this run in the store."""
        return self._row.id

    @property
    def external_id(self) -> str:
        """What the agent calls it."""
        return self._row.external_id

    @property
    def row(self) -> SessionRow:
        """The session as it was when it was opened."""
        return self._row

    @property
    def moved(self) -> tuple[str, ...]:
        """The memories that the rules moved through this object so far, in order; twice when it moved twice."""
        return tuple(self._moved)

    def search(
        self,
        query: str | Query,
        *,
        alpha: float | None = None,
        limit_rows: int | None = None,
        node_filter: NodeFilter | None = None,
        raw: bool = False,
        should_stop: Callable[[], bool] | None = None,
        may_send_secrets: bool = False,
    ) -> SearchAnswer:
        """Find memories as `hybrid_search` does, and record that the hits were shown; that counts for no rule.

        Args:
            alpha: the weight of meaning, 0 to 1; None as the settings say.
            limit_rows: how many hits at most; None as the settings say.

        Raises:
            ConflictError: the session has ended.
            InvalidValueError, StoppedError, StoreError: as `hybrid_search`; nothing was recorded.
        """
        self._check_open("search")
        answer = hybrid_search(
            self._store,
            query,
            alpha=self._search.alpha if alpha is None else alpha,
            limit_rows=self._search.limit_rows if limit_rows is None else limit_rows,
            node_filter=node_filter,
            embedder=self._embedder,
            index=self._index,
            raw=raw,
            should_stop=should_stop,
            may_send_secrets=may_send_secrets,
        )
        if answer.hits:
            self._record([hit.row.id for hit in answer.hits], AccessKind.SHOWN)
        return answer

    def open(self, node_id: str) -> Node:
        """Ask for a memory by its full id: a pull. It is given as it stands after the rules looked at it.

        Raises:
            NotFoundError: there is none; nothing was recorded.
            ConflictError: the session has ended.
        """
        with self._lock:
            self._record([node_id], AccessKind.PULL)
            self._just_opened.add(node_id)
        return get_node(self._store, node_id)

    def use(self, node_id: str, outcome: Outcome | None = None) -> RunReport:
        """Say that a memory was used, and what came of it.

        After `open` it is the same pull, which at most gets the outcome; without it, or again, it is a pull.

        Returns:
            What the rules moved: this memory or nothing.

        Raises:
            NotFoundError, ConflictError: as `open`.
        """
        with self._lock:
            self._check_open("use")
            if node_id not in self._just_opened:
                return self._record([node_id], AccessKind.PULL, outcome)
            self._just_opened.discard(node_id)
            return RunReport(None, (), ()) if outcome is None else self.outcome(node_id, outcome)

    def push(self, ids: Sequence[str]) -> None:
        """Record that memories were put into a prompt unasked; that counts for no rule. Raises as `open` does."""
        self._record(ids, AccessKind.PUSH)

    def outcome(self, node_id: str, outcome: Outcome | None) -> RunReport:
        """Say what came of the latest pull of a memory in this session; it beats the session's outcome.

        Args:
            outcome: None takes an earlier word back.

        Returns:
            What the rules moved: this memory or nothing.

        Raises:
            NotFoundError: it was not pulled in this session.
            ConflictError: the session has ended.
        """
        with self._lock:
            self._check_open("set outcome")
            return self._noted(set_outcome(self._store, self.id, node_id, outcome, settings=self._promotion))

    def end(self, outcome: Outcome | None = None) -> RunReport:
        """End the session; its outcome counts for every pull in it that has none of its own.

        Ending it again changes nothing, except that an outcome which was not known yet is added.

        Returns:
            What the rules moved and refused among all that was pulled in it.

        Raises:
            ConflictError: it ended with the other outcome.
        """
        with self._lock:
            report = end_session(self._store, self.id, outcome=outcome, settings=self._promotion)
            self._has_ended = True
            return self._noted(report)

    def _record(self, ids: Sequence[str], kind: AccessKind, outcome: Outcome | None = None) -> RunReport:
        with self._lock:
            self._check_open("record access")
            return self._noted(
                record_accesses(self._store, self.id, ids, kind, outcome=outcome, settings=self._promotion)
            )

    def _noted(self, report: RunReport) -> RunReport:
        self._moved.extend(report.moved)
        return report

    def _check_open(self, doing: str) -> None:
        if self._has_ended:
            raise ConflictError(
                f"{doing}: session {self.external_id} has ended", hint="open it again: that is a new run of it"
            )
