"""What an import did, or would do: n of m, and why the rest was skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tierdeck.transfer.line_reader import Rejected

MAX_SKIPPED = 1_000
MAX_LINES_OF_REASON = 5
MAX_REASONS = 100
_OTHER = "for other reasons"


@dataclass(frozen=True, slots=True)
class Skipped:
    """One line that was not taken; `reason` is shared by many, `detail` particular to this one."""

    line: int
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SkipReason:
    """One reason: how many lines it stopped, and the numbers of the first few."""

    reason: str
    count: int
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came of each line: read = added + unchanged + skipped.

    `skipped` lists the first `MAX_SKIPPED` of `skipped_count`; `reasons` groups all of them, the most frequent
    first. `rows` counts what was added by kind of line. `notes` are sentences on the file as a whole. `is_complete`
    is False when the import was stopped: what is counted is in the store, and running it again does the rest.
    """

    source: str
    read: int
    added: int
    unchanged: int
    skipped_count: int
    skipped: tuple[Skipped, ...]
    reasons: tuple[SkipReason, ...]
    rows: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_complete: bool = True


class Tally:
    """Counts lines as they come; bounded however many are skipped."""

    def __init__(self) -> None:
        self.read = 0
        self.unchanged = 0
        self.skipped_count = 0
        self.rows: dict[str, int] = {}
        self.notes: list[str] = []
        self._skipped: list[Skipped] = []
        self._reasons: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str) -> None:
        """A line was added."""
        self.rows[kind] = self.rows.get(kind, 0) + 1

    def skip(self, line: int, why: Rejected) -> None:
        """A line was not taken."""
        self.skipped_count += 1
        if len(self._skipped) < MAX_SKIPPED:
            self._skipped.append(Skipped(line, why.reason, why.detail))
        reason = why.reason if why.reason in self._counts or len(self._counts) < MAX_REASONS else _OTHER
        self._counts[reason] = self._counts.get(reason, 0) + 1
        lines = self._reasons.setdefault(reason, [])
        if len(lines) < MAX_LINES_OF_REASON:
            lines.append(line)

    def report(self, source: str, *, is_complete: bool) -> ImportReport:
        """Everything counted so far."""
        ordered = sorted(self._counts.items(), key=lambda pair: (-pair[1], self._reasons[pair[0]]))
        return ImportReport(
            source=source,
            read=self.read,
            added=sum(self.rows.values()),
            unchanged=self.unchanged,
            skipped_count=self.skipped_count,
            skipped=tuple(self._skipped),
            reasons=tuple(SkipReason(reason, count, tuple(self._reasons[reason])) for reason, count in ordered),
            rows=dict(self.rows),
            notes=tuple(self.notes),
            is_complete=is_complete,
        )
