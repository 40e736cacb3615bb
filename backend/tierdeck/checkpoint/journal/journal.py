"""The calls of one branch of a session, each written down before it is made and again before its result is used.

    journal = Journal(folder, "1f0c9a2b", line=BranchLine("run-41", "1f0c9a2b"))
    journal.start(entry)                      # on disk before the call
    journal.finish(entry.op_id, "done", store_value(result))

A file is made by the first record, so that looking at a session's journal changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from tierdeck.checkpoint.checkpoint import OperationState
from tierdeck.checkpoint.journal.entry import CHOICES, NO_DECISIONS, Decision, Decisions, Entry
from tierdeck.checkpoint.journal.journal_files import journal_path
from tierdeck.checkpoint.journal.lines import (
    BranchLine,
    CallLine,
    DecisionLine,
    FinishLine,
    Line,
    TurnLine,
    pack_line,
    parse_line,
)
from tierdeck.checkpoint.journal.record_file import RecordFile, Records, read_records
from tierdeck.checkpoint.journal.stored_value import MAX_VALUE_BYTES, SHORT_BYTES, StoredValue, without_value
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.errors import CheckpointError, DamagedCheckpointError, InvalidValueError, NotFoundError

_MAX_NS = 2**62  # in the year 2116; what claims to be later must not push the times after it out of 64 bits


class Journal:
    """The journal of a branch. Safe to use from several threads of the one process that holds the session.

    Args:
        folder: the session's.
        branch: 8 hex digits.
        line: what stands in the first record of a new journal; None for one that is only looked at.
        not_before_ns: no time in it is earlier, whatever the clock says: journals are told apart by their times.
        max_bytes: the file never grows beyond. From three quarters of it on, only short results are kept.

    Raises:
        DamagedCheckpointError: the file there is no journal, or another branch's.
        NewerCheckpointError: a newer version wrote it.
        CheckpointError: it can't be read. Nothing was changed in each case.
    Spec: SPEC-09.23
    """

    def __init__(
        self,
        folder: Path,
        branch: str,
        *,
        line: BranchLine | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
        not_before_ns: int = 0,
        max_bytes: int = AGENT_LIMITS.file_bytes,
    ) -> None:
        self._path = journal_path(folder, branch)
        self._given_clock_ns = clock_ns
        self._not_before_ns = not_before_ns
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._file: RecordFile | None = None
        self._entries: dict[str, Entry] = {}
        self._before: dict[str, Entry] = {}
        self._turns: dict[int, TurnLine] = {}
        self._unknown = self._last_at_ns = 0
        self.branch = branch
        found = read_records(self._path)
        self._found = found or Records((), b"", 0)
        self.line = line or BranchLine("", branch)
        self._has_line = self._is_closed = False
        for record in self._found.records:
            self._take_record(record)
        self._check_is_of(self.line if line is None else line)

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return self._path

    @property
    def notes(self) -> tuple[str, ...]:
        """What was wrong with the file when it was opened, in words."""
        said = []
        if self._found.torn_bytes:
            said.append(
                f"{self._path.name}: a record cut off at the end was dropped ({self._found.torn_bytes} bytes)"
            )
        if self._found.damaged_bytes:
            said.append(f"{self._path.name}: {self._found.damaged_bytes:,} bytes in the middle are damaged")
        if self._unknown:
            said.append(f"{self._path.name}: {self._unknown} records can't be understood")
        return tuple(said)

    @property
    def is_damaged(self) -> bool:
        """Whether a call may have been made that is not listed here any more."""
        return bool(self._found.damaged_bytes or self._unknown)

    @property
    def last_turn(self) -> int:
        """The last turn that anything here is of; 0 for none."""
        with self._lock:
            return max([0, *self._turns, *(entry.turn for entry in self._entries.values())])

    @property
    def last_at_ns(self) -> int:
        """When the latest of its calls began or ended, or a turn; 0 for none. In nanoseconds since the epoch."""
        with self._lock:
            return self._last_at_ns

    def reaches(self, turn: int) -> bool:
        """Whether it goes on to the end of that turn: one that was lost or cut off may not."""
        with self._lock:
            return self._has_line and (turn <= self.line.parent_turn or turn in self._turns)

    def operations(self) -> tuple[Entry, ...]:
        """The branch's own calls, in the order they were first written down."""
        with self._lock:
            return tuple(self._entries.values())

    def before(self) -> tuple[Entry, ...]:
        """Calls with side effects of branches that were left: made, and not in what this branch remembers."""
        with self._lock:
            return tuple(self._before.values())

    def find(self, op_id: str) -> Entry | None:
        """A call of the branch by its id."""
        with self._lock:
            return self._entries.get(op_id)

    def turn(self, turn: int) -> TurnLine | None:
        """What was noted when a turn was over, the last time it was."""
        with self._lock:
            return self._turns.get(turn)

    def last(self) -> TurnLine | None:
        """The note that was written last."""
        with self._lock:
            return next(reversed(self._turns.values()), None)

    def plan(self, entries: Iterable[Entry]) -> None:
        """Write down calls that are going to be made. Raises as `start`."""
        self._add(*(CallLine(replace(entry, state="pending", at_ns=self._clock_ns())) for entry in entries))

    def start(self, entry: Entry) -> None:
        """Write down that a call begins; it is on disk when this returns.

        Raises:
            CheckpointError: it can't be written; the records before stand.
        """
        known = self.find(entry.op_id)
        starts = 1 if known is None else known.starts + 1
        # What was decided counts once: should this one fail too, it is asked about again.
        begun = replace(entry, state="running", starts=starts, at_ns=self._clock_ns(), result=None, decision=None)
        self._add(CallLine(begun))

    def finish(self, op_id: str, state: OperationState, result: StoredValue | None = None) -> None:
        """Write down that a call is over, and what it gave. Raises as `start`; NotFoundError for no such call.

        A result that is too large is left out and said to be: who comes to the call again is asked about it.
        """
        if self.find(op_id) is None:
            raise NotFoundError(f"finish operation {op_id}: the journal has none of that id")
        self._add(FinishLine(op_id, state, None if result is None else self._fitting(result), self._clock_ns()))

    def decide(self, op_id: str, decision: Decision) -> None:
        """Write down what was said about a call; it counts when the agent comes to it.

        Raises:
            InvalidValueError: it is no choice; nothing was written.
            NotFoundError, CheckpointError: as `finish`.
        """
        if decision.choice not in CHOICES:
            raise InvalidValueError(
                f"decide operation {op_id[:40]}: {str(decision.choice)[:40]!r} is no choice",
                hint=f"choose one of: {', '.join(CHOICES)}",
            )
        if self.find(op_id) is None and op_id not in self._before:
            raise NotFoundError(f"decide operation {op_id[:40]}: the journal has none of that id")
        self._add(DecisionLine(op_id, decision, self._clock_ns()))

    def begin(self, planned: Iterable[Entry], before: Iterable[Entry], decisions: Decisions = NO_DECISIONS) -> None:
        """Make the file of a new branch with all that it begins with, in one piece. Raises as `start`.

        Args:
            planned: calls that are going to be made.
            before: calls of branches that were left.
            decisions: what was said about them, by their ids.
        """
        now_ns = self._clock_ns()
        self._add(
            *(CallLine(replace(entry, decision=None), is_before=True) for entry in before),
            *(CallLine(replace(entry, state="pending", at_ns=now_ns)) for entry in planned),
            *(DecisionLine(op_id, decision, now_ns) for op_id, decision in decisions.items()),
        )

    def end_turn(self, note: TurnLine) -> None:
        """Note that a turn is over. Raises as `start`."""
        # Not flushed: it survives the process, and costs no turn a wait for the disk.
        self._add(replace(note, at_ns=self._clock_ns()), is_flushed=False)

    def close(self) -> None:
        """Close the file; a call that is still under way can't be finished in it any more."""
        with self._lock:
            self._is_closed = True
            if self._file is not None:
                self._file.close()
                self._file = None

    def _fitting(self, value: StoredValue) -> StoredValue:
        size = 0 if self._file is None else self._file.size_bytes
        limit = SHORT_BYTES if size > self._max_bytes * 3 // 4 else min(MAX_VALUE_BYTES, self._max_bytes // 8)
        return value if len(value.raw) <= limit else without_value(value, limit)

    def _clock_ns(self) -> int:
        """The time, never before one that stands in the journal already."""
        return max(self._given_clock_ns(), self._not_before_ns, self.last_at_ns)

    def _add(self, *lines: Line, is_flushed: bool = True) -> None:
        with self._lock:
            if self._is_closed:
                raise CheckpointError(f"write journal {self._path}: its session has left this branch, or has ended")
            if self._file is None:
                self._file = RecordFile(self._path, max_bytes=self._max_bytes)
            new = lines if self._has_line else (self.line, *lines)
            self._file.append(*map(pack_line, new), is_flushed=is_flushed)
            for line in new:
                self._take(line)

    def _check_is_of(self, wanted: BranchLine) -> None:
        """What another branch did would be taken for done here."""
        found = self.line
        is_other_session = wanted.session_id not in ("", found.session_id)
        if self._has_line and (is_other_session or found.branch != self.branch):
            whose = f"session {found.session_id[:80]!r}, branch {found.branch[:8]}"
            raise DamagedCheckpointError(
                f"read journal {self._path.name}: it is of {whose}",
                hint="put the session's own journal back, or take the file away",
            )

    def _take_record(self, record: bytes) -> None:
        try:
            line = parse_line(record)
        except ValueError:
            line = None
        if line is None:
            self._unknown += 1
        else:
            self._take(line)

    def _take(self, line: Line) -> None:
        self._last_at_ns = max(self._last_at_ns, min(_time_of(line), _MAX_NS))
        if isinstance(line, BranchLine):
            self.line, self._has_line = line, True
        elif isinstance(line, CallLine):
            (self._before if line.is_before else self._entries)[line.entry.op_id] = line.entry
        elif isinstance(line, TurnLine):
            self._turns.pop(line.turn, None)
            self._turns[line.turn] = line
        elif isinstance(line, FinishLine):
            self._change(line.op_id, state=line.state, result=line.result)
        else:
            self._change(line.op_id, decision=line.decision)

    def _change(self, op_id: str, **changes: object) -> None:
        # A call that was planned at a checkpoint and made on a branch that was left has one id in both; what is
        # decided is about it, and what it gave on this branch is not what it gave there.
        both = (self._entries, self._before) if "decision" in changes else (self._entries,)
        known = [entries for entries in both if op_id in entries]
        for entries in known:
            entries[op_id] = replace(entries[op_id], **changes)  # type: ignore[arg-type]  # fields of an entry
        if not known:
            self._unknown += 1


def _time_of(line: Line) -> int:
    """When what it says of this branch happened; 0 for what happened on another."""
    if isinstance(line, BranchLine) or (isinstance(line, CallLine) and line.is_before):
        return 0
    return line.entry.at_ns if isinstance(line, CallLine) else line.at_ns
