"""What an agent's own process uses: one session, with a memory store, with checkpoints, or with both.

    with open_session(store, "run-41", checkpoints=checkpoints_root(), every=5) as session:
        back = session.resume()                        # None: it begins anew
        state = dict(back.variables) if back else {}
        while session.turns < 9:
            hits = session.search("staging port").hits
            node = session.open(hits[0].row.id)
            session.use(node.id, "success")
            text = session.operation("model", prompt, has_side_effects=False).run(lambda: model(prompt))
            session.operation("send mail", text).run(lambda: send(text))
            if back := session.turn(state, cost=0.02):  # an operator had it go back
                state = dict(back.variables)
        session.end("success")

What an operator looks at in the console or on the command line goes past this, and is recorded nowhere.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tierdeck.checkpoint.file.key_file import key_named
from tierdeck.checkpoint.folder import RetentionPolicy, SessionFolder, policy_of
from tierdeck.checkpoint.running import CallRules, Checkpointed, RunningSession, open_running, tidy
from tierdeck.config import CheckpointSettings, PromotionSettings, SearchSettings
from tierdeck.errors import ConflictError
from tierdeck.model import AccessKind, Node, NodeFilter, Outcome, SessionRow
from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.records import RunReport
from tierdeck.search import Query, SearchAnswer, hybrid_search
from tierdeck.store import Store, get_node

if TYPE_CHECKING:
    from tierdeck.embed.embedder import Embedder
    from tierdeck.vectors.vector_index import VectorIndex

_PROMOTION = PromotionSettings()
_SEARCH = SearchSettings()
_KEEP = CheckpointSettings()
_RULES = CallRules()


def open_session(
    store: Store | None,
    external_id: str,
    *,
    parent: str | None = None,
    project: str | None = None,
    agent: str | None = None,
    promotion: PromotionSettings = _PROMOTION,
    search: SearchSettings = _SEARCH,
    embedder: Embedder | None = None,
    index: VectorIndex | None = None,
    checkpoints: Path | None = None,
    every: int | None = None,
    keep: CheckpointSettings = _KEEP,
    checkpoint_key: bytes | None = None,
    rules: CallRules = _RULES,
    takes_restores: bool = True,
    depth: int = 0,
    on_problem: Callable[[str], None] | None = None,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Session:
    """The agent's session by its name: the one that is still open, else a new run of it.

    With checkpoints, one process at a time has a session. It begins anew unless `Session.resume` is called.

    Args:
        store: the memories; None for a session without.
        external_id: what the agent calls it; the same name after a restart goes on in the same session.
        parent: the session that began this one, for a sub-agent; both count as one.
        promotion: the rules' numbers, and whether they run by themselves.
        search: how `Session.search` weighs meaning against words, and how many hits it gives, unless told.
        embedder: makes the vectors of queries; without it and `index` words alone are looked for.
        index: the store's vectors, open.
        checkpoints: the folder of all sessions' checkpoints (`checkpoints_root()`); None for a session without.
        every: an automatic checkpoint after so many turns, 0 for none; None as `keep` says, which is 5 by default.
        keep: the settings of checkpoints: how often, how many are kept, and the file with the key.
        checkpoint_key: 1 to 64 bytes that checkpoints are sealed with, so that nobody without them can make or
            change one that is gone on from; None takes the key in `keep.key_file`, and without one there is none.
        rules: what is done about calls of unknown outcome; see `CallRules`.
        takes_restores: whether the agent goes on with the state that `turn` gives it. False refuses requests to go
            back while it runs.
        depth: of recursion, for a sub-agent.
        on_problem: told in a sentence what could not be saved or journalled; that is never raised.
        clock_ns: tells the time of checkpoints and journals, in nanoseconds since the epoch.

    Raises:
        ReadOnlyStoreError: the store can't be written, so that nothing could be recorded; says why.
        InvalidValueError: a name is none, the session would be its own ancestor, or `every` is no number of turns,
            or the key none.
        CheckpointKeyError: the key's file can't be read, or others can.
        StoreBusyError: another program holds the store.
        ConflictError: another process runs this session.
        CheckpointError: the folder can't be made or written. No session was opened in each case.
    Spec: SPEC-09.10, SPEC-09.20, SPEC-09.24
    """
    running = None
    if checkpoints is not None:
        running = open_running(
            checkpoints,
            external_id,
            every=keep.every_turns if every is None else every,
            depth=depth,
            takes_restores=takes_restores,
            rules=rules,
            on_problem=on_problem,
            after_save=functools.partial(_tidy, policy_of(keep)),
            key=key_named(keep.key_file) if checkpoint_key is None else checkpoint_key,
            clock_ns=clock_ns,
        )
    try:
        row = (
            None if store is None else meet_session(store, external_id, parent=parent, project=project, agent=agent)
        )
    except BaseException:
        if running is not None:
            running.close(is_clean=False)
        raise
    return Session(
        store, row, external_id, running, promotion=promotion, search=search, embedder=embedder, index=index
    )


def _tidy(policy: RetentionPolicy, folder: SessionFolder) -> None:
    tidy(folder, policy)


class Session(Checkpointed):
    """One session of an agent. Made by `open_session`; safe to use from several threads, but for turns.

    Leaving it as a context ends it, without an outcome unless `end` gave one. Leaving it by an exception leaves it
    open: a crash says nothing of the memories, and the agent that starts again under the same name goes on in it.
    One that never comes back is over by itself after 12 hours. Checkpoints that are on their way are written in any
    case; the last turn is saved when it ends without an exception.
    """

    def __init__(
        self,
        store: Store | None,
        row: SessionRow | None,
        external_id: str,
        running: RunningSession | None = None,
        *,
        promotion: PromotionSettings = _PROMOTION,
        search: SearchSettings = _SEARCH,
        embedder: Embedder | None = None,
        index: VectorIndex | None = None,
    ) -> None:
        super().__init__(external_id, running)
        self._given_store = store
        self._given_row = row
        self._promotion = promotion
        self._search = search
        self._embedder = embedder
        self._index = index
        self._lock = threading.RLock()
        self._just_opened: set[str] = set()
        self._moved: list[str] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and not self._has_ended:
                self.end()
        finally:
            if self._running is not None:
                self._running.close(is_clean=kind is None)

    @property
    def id(self) -> int:
        """The number of this run in the store. Raises ConflictError without a store."""
        return self.row.id

    @property
    def row(self) -> SessionRow:
        """The session in the store as it was when it was opened. Raises ConflictError without a store."""
        if self._given_row is None:
            raise ConflictError(f"use memories: session {self.external_id} was opened without a store")
        return self._given_row

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

        What it has saved is on disk then, the state after its last turn too.
        Ending it again changes nothing, except that an outcome which was not known yet is added.

        Returns:
            What the rules moved and refused among all that was pulled in it.

        Raises:
            ConflictError: it ended with the other outcome.
        """
        with self._lock:
            report = RunReport(None, (), ())
            if self._given_row is not None:
                report = end_session(self._store, self.id, outcome=outcome, settings=self._promotion)
            self._has_ended = True
            if self._running is not None:
                self._running.close(is_clean=True)
            return self._noted(report)

    @property
    def _store(self) -> Store:
        if self._given_store is None:
            raise ConflictError(f"use memories: session {self.external_id} was opened without a store")
        return self._given_store

    def _record(self, ids: Sequence[str], kind: AccessKind, outcome: Outcome | None = None) -> RunReport:
        with self._lock:
            self._check_open("record access")
            return self._noted(
                record_accesses(self._store, self.id, ids, kind, outcome=outcome, settings=self._promotion)
            )

    def _noted(self, report: RunReport) -> RunReport:
        self._moved.extend(report.moved)
        return report
