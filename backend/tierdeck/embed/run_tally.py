"""What a run of the indexer has done so far, counted as it goes."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.embed.embed_report import EmbedFault, EmbedProgress, EmbedReport
from tierdeck.embed.work_queue import OpenStatus, Work
from tierdeck.secret_scan import mask_secrets

_MAX_ERRORS = 100
_HEAD_CHARS = 60


class RunTally:
    """Counts memories. `given_up` holds the hashes of texts that this run tried in vain and won't try again."""

    def __init__(self) -> None:
        self.asked = 0
        self.given_up: set[str] = set()
        self._embedded = 0
        self._failed = 0
        self._skipped = 0
        self._errors: list[EmbedFault] = []

    def add_embedded(self, memories: int) -> None:
        """So many memories got their vector."""
        self._embedded += memories

    def add_refused(self, works: Sequence[Work], status: OpenStatus, error: str) -> None:
        """The memories of these texts have no vector, and why; the first 100 are named, those left out are not."""
        self.given_up.update(work.content_hash for work in works)
        ids = [node_id for work in works for node_id in work.node_ids]
        self._failed += len(ids) * (status == "failed")
        self._skipped += len(ids) * (status == "skipped")
        if status != "skipped":
            room = _MAX_ERRORS - len(self._errors)
            self._errors += [EmbedFault(node_id, error, status == "failed") for node_id in ids[:room]]

    def progress(self, text: str) -> EmbedProgress:
        """How far the run is, with the head of a text just done, masked."""
        done = self._embedded + self._failed + self._skipped
        head = mask_secrets(text[: 4 * _HEAD_CHARS])[:_HEAD_CHARS]
        return EmbedProgress(done, max(done, self.asked), self._failed, head)

    def report(self, pending: int, stopped: str | None) -> EmbedReport:
        """What the run did; `pending` memories wait for another."""
        return EmbedReport(
            asked=self.asked,
            embedded=self._embedded,
            pending=pending,
            failed=self._failed,
            skipped=self._skipped,
            errors=tuple(self._errors),
            stopped=stopped,
        )
