"""One run of the indexer: the queue brought up to the store, then batch after batch until nothing is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck import db
from tierdeck.config import MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS, EmbeddingSettings
from tierdeck.embed.batch_sender import BatchSender, Refusal
from tierdeck.embed.catch_up import catch_up
from tierdeck.embed.claim import new_claimant
from tierdeck.embed.embed_report import EmbedProgress, EmbedReport
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.index_writer import IndexWriter, Made
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.embed.run_tally import RunTally
from tierdeck.embed.text_fit import first_fitting, fit_text, token_bound
from tierdeck.embed.weighing import embedder_to_fill
from tierdeck.embed.work_queue import SECRET, OpenStatus, Work, WorkQueue
from tierdeck.errors import ProviderError, StoppedError
from tierdeck.index.file import index_errors, open_for_writing
from tierdeck.index.path import index_path
from tierdeck.secret_scan import has_secret
from tierdeck.store import Store
from tierdeck.times import now_ms
from tierdeck.vectors.model_record import Model, has_probe, has_vectors, prepare_tables, save_probe, swap_in
from tierdeck.vectors.row_keys import keep_keys

_LEASE_MS = 120_000
_STOPPED = "stopped; the next run goes on from here"


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

    Returns:
        What became of every memory that waited; `stopped` says why when the queue is not worked off.

    Raises:
        ProviderError: no text would fare better (key, address, model or dimensions are wrong); nothing is marked.
        IndexFileError, ModelUnavailableError, StoreBusyError: the index file can't be used; what was done stays.
        ConflictError: another run gave the index to other models.
    Spec: SPEC-09.01, SPEC-09.03, SPEC-09.06, SPEC-09.07
    """
    with closing(open_for_writing(store)) as conn, index_errors(index_path(store)):
        embedder = embedder_to_fill(conn, store, embedder)
        run = _Run(store, conn, embedder, settings, on_progress, should_stop or (lambda: False), clock_ms, sleep)
        return run.go(min(batch_rows or settings.batch_rows, MAX_REQUEST_TEXTS), retry_failed=retry_failed)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is sent of a text: all of it, or as much as the model takes and a note that says so."""

    work: Work
    text: str
    note: str | None


class _Run:
    """One run: what it works on and with. What it has done so far is the tally's to say."""

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
        # Longer than one request may take; it is renewed before each.
        lease_ms = max(_LEASE_MS, int(3000 * settings.timeout_s))
        self._queue = WorkQueue(conn, self._model, new_claimant(), lease_ms=lease_ms, clock_ms=clock_ms)
        self._writer = IndexWriter(conn, store, self._model, self._queue)
        self._claimed: list[Work] = []
        self._sender = BatchSender(
            embedder,
            max_attempts=settings.max_attempts,
            should_stop=should_stop,
            sleep=sleep,
            before_request=lambda: self._queue.keep(self._claimed),
        )
        self._tally = RunTally()

    def go(self, batch_rows: int, *, retry_failed: bool) -> EmbedReport:
        prepare_tables(self._conn, self._model)
        if not self._holds_secrets_back:
            self._queue.ask_again("skipped", SECRET)
        if retry_failed:
            self._queue.ask_again("failed")
        stopped: str | None = _STOPPED
        try:
            if catch_up(self._conn, self._store, self._model, self._should_stop):
                self._tally.asked = self._queue.count_pending()
                if self._tally.asked and not has_probe(self._conn, self._model):
                    self._embed_probes(batch_rows)
                stopped = self._sender.last_error if self._sender.is_down else self._work_off(batch_rows)
        except StoppedError:
            stopped = _STOPPED
        finally:
            self._queue.release()
        if stopped is None and not self._queue.has_untried() and has_vectors(self._conn, self._model):
            swap_in(self._conn, self._model)
        keep_keys(self._conn, self._store, self._model, every=False)
        return self._tally.report(self._queue.count_pending(), stopped)

    def _work_off(self, batch_rows: int) -> str | None:
        """Batch after batch; the reason when it ended before the queue did."""
        while not self._should_stop():
            rows = min(batch_rows, self._sender.rows_limit or batch_rows)
            works = self._queue.claim(rows, self._tally.given_up)
            if not works:
                return None
            self._one_batch(works)
            if self._sender.is_down:
                return self._sender.last_error
        return _STOPPED

    def _embed_probes(self, batch_rows: int) -> None:
        """Embed the sentences that steady the mean; being harmless, they also show whether the provider works."""
        vectors: list[NDArray[np.float32]] = []
        refusals: list[str] = []
        for at in range(0, len(PROBE_SENTENCES), batch_rows):
            sent = self._sender.send(PROBE_SENTENCES[at : at + batch_rows])
            if self._sender.is_down:
                return
            vectors += [outcome for outcome in sent if isinstance(outcome, np.ndarray)]
            refusals += [outcome.message for outcome in sent if isinstance(outcome, Refusal)]
        if not vectors:
            raise ProviderError(
                f"{refusals[0] if refusals else self._sender.last_error}: every text is refused",
                is_retryable=False,
                stops_run=True,
            )
        with db.transaction(self._conn):
            save_probe(self._conn, self._model, np.stack(vectors).astype(np.float64).sum(axis=0) / len(vectors))

    def _one_batch(self, works: list[Work]) -> None:
        """One claim's texts: those that cost nothing, those that are held back, and one request for the others."""
        texts = self._writer.texts_of(works)
        made: list[Made] = []
        to_send: list[_Part] = []
        secret: list[Work] = []
        for work in works:
            if work.content_hash not in texts:
                continue
            part = _Part(work, *fit_text(texts[work.content_hash]))
            twin = self._writer.twin_vector(work)
            if twin is not None:
                made.append(Made(work, twin, part.note))
            elif self._holds_secrets_back and has_secret(part.text):
                secret.append(work)
            else:
                to_send.append(part)
        self._refuse(secret, "skipped", SECRET)
        count = first_fitting([token_bound(part.text) for part in to_send], self._batch_tokens)
        self._claimed = [part.work for part in to_send[:count]]
        self._queue.release([part.work for part in to_send[count:]])
        self._tally.add_embedded(self._writer.commit(made + self._sent(to_send[:count])))
        if self._on_progress is not None:
            self._on_progress(self._tally.progress(next(iter(texts.values()), "")))

    def _sent(self, batch: list[_Part]) -> list[Made]:
        """One request: what came back as a vector; what was refused is told of."""
        if not batch:
            return []
        made: list[Made] = []
        for part, outcome in zip(batch, self._sender.send([part.text for part in batch]), strict=True):
            if isinstance(outcome, Refusal):
                self._refuse([part.work], "failed" if outcome.is_permanent else "pending", outcome.message)
            elif outcome is not None:
                made.append(Made(part.work, outcome, part.note))
        return made

    def _refuse(self, works: list[Work], status: OpenStatus, error: str) -> None:
        if works:
            self._writer.refuse(works, status, error)
            self._tally.add_refused(works, status, error)
