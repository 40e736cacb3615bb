"""One run of the indexer: the queue brought up to the store, then batch after batch until nothing is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.config import EmbeddingSettings
from tierdeck.embed.batch_sender import BatchSender, Refusal
from tierdeck.embed.catch_up import catch_up, next_seq, remove_nodes
from tierdeck.embed.claim import new_claimant
from tierdeck.embed.embed_report import EmbedFault, EmbedProgress, EmbedReport
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.index_file import index_errors, open_for_writing
from tierdeck.embed.index_path import index_path
from tierdeck.embed.model_record import (
    Model,
    has_probe,
    load_table,
    prepare_tables,
    save_probe,
    save_table,
    swap_in,
)
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.embed.stoppable import StoppedError
from tierdeck.embed.store_texts import read_texts
from tierdeck.embed.text_fit import MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS, first_fitting, fit_text, token_bound
from tierdeck.embed.work_queue import SECRET, Work, WorkQueue
from tierdeck.model import content_hash
from tierdeck.secret_scan import has_secret, mask_secrets
from tierdeck.store import Store
from tierdeck.times import now_ms

_MAX_ERRORS = 100
_LEASE_MS = 120_000
_HEAD_CHARS = 60


def run_indexer(
    store: Store,
    embedder: Embedder,
    settings: EmbeddingSettings,
    *,
    on_progress: Callable[[EmbedProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    retry_failed: bool = False,
    batch_rows: int | None = None,
    clock_ms: Callable[[], int] = now_ms,
    sleep: Callable[[float], None] = time.sleep,
) -> EmbedReport:
    """Embed what the store holds and the index lacks, until nothing is left or it is to stop.

    Each batch is committed by itself: a run that is stopped, killed or refused loses at most the batch on its way,
    and the next run goes on. Several runs at once share the work. With another model than the index's, its vectors
    grow beside the current ones, which serve the search until every text had its turn.

    Args:
        on_progress: called after each batch, in this thread.
        should_stop: asked often; a run ends within 100 ms of a yes.
        retry_failed: try again also what was refused for good.
        batch_rows: how many texts a request, when it is not the settings' number; a background run takes few.
        clock_ms, sleep: the clock, in milliseconds since the epoch, and the wait, in seconds.

    Raises:
        ProviderError: no text would fare better (key, address, model or dimensions are wrong); nothing is marked.
        IndexFileError: the index file can't be used.
        ConflictError: another run gave the index to other models.
    Spec: SPEC-09.01, SPEC-09.03, SPEC-09.06, SPEC-09.07
    """
    with closing(open_for_writing(store)) as conn, index_errors(index_path(store)):
        run = _Run(store, conn, embedder, settings, on_progress, should_stop or (lambda: False), clock_ms, sleep)
        return run.go(batch_rows or settings.batch_rows, retry_failed=retry_failed)


class _Run:
    def __init__(
        self,
        store: Store,
        conn: apsw.Connection,
        embedder: Embedder,
        settings: EmbeddingSettings,
        on_progress: Callable[[EmbedProgress], None] | None,
        should_stop: Callable[[], bool],
        clock_ms: Callable[[], int],
        sleep: Callable[[float], None],
    ) -> None:
        self._store = store
        self._conn = conn
        self._model = Model(embedder.name, embedder.dimensions)
        self._holds_secrets_back = embedder.is_remote and not settings.send_secrets
        self._batch_tokens = min(settings.batch_tokens, MAX_REQUEST_TOKENS)
        self._on_progress = on_progress
        self._should_stop = should_stop
        lease_ms = max(_LEASE_MS, int(2000 * settings.timeout_s))
        self._queue = WorkQueue(conn, self._model, new_claimant(), lease_ms=lease_ms, clock_ms=clock_ms)
        self._sender = BatchSender(
            embedder, max_attempts=settings.max_attempts, should_stop=should_stop, sleep=self._wait(sleep)
        )
        self._claimed: list[Work] = []
        self._given_up: set[str] = set()
        self._errors: list[EmbedFault] = []
        self._asked = self._embedded = self._failed = self._skipped = 0

    def go(self, batch_rows: int, *, retry_failed: bool) -> EmbedReport:
        prepare_tables(self._conn, self._model)
        if not self._holds_secrets_back:
            self._queue.ask_again("skipped", SECRET)
        if retry_failed:
            self._queue.ask_again("failed")
        stopped: str | None = None
        try:
            is_level = catch_up(self._conn, self._store, self._model, self._should_stop)
            self._asked = self._queue.count("pending")
            stopped = self._work_off(min(batch_rows, MAX_REQUEST_TEXTS)) if is_level else "stopped"
        except StoppedError:
            stopped = "stopped"
        finally:
            self._queue.release()
        if stopped is None and not self._queue.has_untried():
            swap_in(self._conn, self._model)
        return self._report(stopped)

    def _work_off(self, batch_rows: int) -> str | None:
        """Batch after batch; the reason when it ended before the queue did."""
        while not self._should_stop():
            self._claimed = self._queue.claim(
                min(batch_rows, self._sender.rows_limit or batch_rows), self._given_up
            )
            if not self._claimed:
                return None
            if not has_probe(self._conn, self._model):
                reason = self._embed_probes(batch_rows)
                if reason is not None:
                    return reason
            self._one_batch(self._claimed)
            if self._sender.is_down:
                return "the provider failed again and again"
        return "stopped"

    def _embed_probes(self, batch_rows: int) -> str | None:
        """Embed the sentences that steady the mean; they also show whether the provider answers at all."""
        vectors: list[NDArray[np.float32]] = []
        for at in range(0, len(PROBE_SENTENCES), batch_rows):
            sent = self._sender.send(PROBE_SENTENCES[at : at + batch_rows])
            vectors += [outcome for outcome in sent if not isinstance(outcome, Refusal)]
        if self._sender.is_down or not vectors:
            return "the provider failed again and again"
        mean = np.stack(vectors).astype(np.float64).sum(axis=0) / len(vectors)
        with self._conn:
            save_probe(self._conn, self._model, mean)
        return None

    def _one_batch(self, works: list[Work]) -> None:
        texts = self._texts(works)
        sendable: list[tuple[Work, str, str | None]] = []
        for work in works:
            text = texts.get(work.content_hash)
            if text is None:
                continue
            part, note = fit_text(text)
            if work.twin_id is not None:
                self._copy_twin(work, note)
            elif self._holds_secrets_back and has_secret(part):
                self._refuse(work, SECRET, "skipped")
            else:
                sendable.append((work, part, note))
        count = first_fitting([token_bound(part) for _, part, _ in sendable], self._batch_tokens)
        self._queue.release([work for work, _, _ in sendable[count:]])
        if sendable:
            self._send(sendable[:count])

    def _send(self, batch: list[tuple[Work, str, str | None]]) -> None:
        outcomes = self._sender.send([part for _, part, _ in batch])
        good: list[tuple[Work, NDArray[np.float32], str | None]] = []
        for (work, _, note), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Refusal):
                self._refuse(work, outcome.message, "failed" if outcome.is_permanent else "pending")
            else:
                good.append((work, outcome, note))
        self._commit(good)
        if self._on_progress is not None:
            head = mask_secrets(batch[-1][1][: 4 * _HEAD_CHARS])[:_HEAD_CHARS]
            done = self._embedded + self._failed + self._skipped
            self._on_progress(EmbedProgress(done, max(done, self._asked), self._failed, head))

    def _commit(self, good: list[tuple[Work, NDArray[np.float32], str | None]]) -> None:
        """Write vectors whose texts are still what was embedded; the others wait for their new text."""
        now = read_texts(self._store, [node_id for work, _, _ in good for node_id in work.node_ids])
        hashes = {node_id: content_hash(text) for node_id, text in now.items()}
        with self._conn:
            table = load_table(self._conn, self._model)
            seq = next_seq(self._conn)
            for work, vector, note in good:
                for node_id in work.node_ids:
                    if hashes.get(node_id) != work.content_hash:
                        self._put_back(node_id, hashes.get(node_id))
                    elif self._queue.finish(node_id, work.content_hash, note, seq):
                        table.put(node_id, vector)
                        self._embedded += 1
            save_table(self._conn, self._model, table)

    def _copy_twin(self, work: Work, note: str | None) -> None:
        """The same text has its vector already: it costs nothing."""
        with self._conn:
            vector = load_table(self._conn, self._model).get(work.twin_id or "")
        if vector is None:  # its state says done but the vector is gone: make it anew
            with self._conn:
                self._queue.put_back(work.twin_id or "", work.content_hash)
            self._queue.release([work])
            return
        self._commit([(work, vector, note)])

    def _texts(self, works: list[Work]) -> dict[str, str]:
        """The text of each hash; memories whose text is another by now are put back or removed."""
        texts: dict[str, str] = {}
        now = read_texts(self._store, [node_id for work in works for node_id in work.node_ids])
        moved: list[tuple[str, str | None]] = []
        for work in works:
            for node_id in work.node_ids:
                text = now.get(node_id)
                text_hash = None if text is None else content_hash(text)
                if text is not None and text_hash == work.content_hash:
                    texts[work.content_hash] = text
                else:
                    moved.append((node_id, text_hash))
        if moved:
            with self._conn:
                for node_id, text_hash in moved:
                    self._put_back(node_id, text_hash)
        return texts

    def _put_back(self, node_id: str, text_hash: str | None) -> None:
        if text_hash is None:
            remove_nodes(self._conn, [node_id])
        else:
            self._queue.put_back(node_id, text_hash)

    def _refuse(self, work: Work, error: str, status: str) -> None:
        self._given_up.add(work.content_hash)
        with self._conn:
            for node_id in work.node_ids:
                self._queue.refuse(node_id, status, error)
        self._failed += len(work.node_ids) * (status == "failed")
        self._skipped += len(work.node_ids) * (status == "skipped")
        if status != "skipped":
            self._errors += [EmbedFault(node_id, error, status == "failed") for node_id in work.node_ids]

    def _wait(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        def wait(seconds: float) -> None:
            self._queue.renew(self._claimed)
            sleep(seconds)

        return wait

    def _report(self, stopped: str | None) -> EmbedReport:
        return EmbedReport(
            asked=self._asked,
            embedded=self._embedded,
            pending=self._queue.count("pending"),
            failed=self._failed,
            skipped=self._skipped,
            errors=tuple(self._errors[:_MAX_ERRORS]),
            stopped=stopped,
        )
