"""Where calls are brought before they are made: what was done is given again, what is unknown is asked about."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from shlex import join

from tierdeck.checkpoint.checkpoint import Operation, OperationState
from tierdeck.checkpoint.journal import (
    MAX_VALUE_BYTES,
    Decision,
    Entry,
    Journal,
    call_digest,
    op_id,
    shortened,
    store_value,
)
from tierdeck.checkpoint.running.question import (
    CallRules,
    OpenOperation,
    Question,
    open_operations,
    question_about,
    question_before,
    question_planned,
)
from tierdeck.checkpoint.running.troubles import Troubles, sentence
from tierdeck.errors import CheckpointError, ConflictError, NotFoundError, StoppedError, UndecidedOperationError

_UNKNOWN = frozenset({"running", "failed", "done"})


class Desk:
    """The calls of a session on one branch. Safe to use from several threads.

    A journal that can't be written is told of, and the call is made all the same: the agent goes on.
    """

    def __init__(self, journal: Journal, rules: CallRules, troubles: Troubles, *, turn: int) -> None:
        self._journal = journal
        self._pid = os.getpid()
        self._rules = rules
        self._troubles = troubles
        self._lock = threading.RLock()
        self._earlier = {entry.op_id: entry for entry in journal.operations() if entry.turn >= turn}
        self._earlier_turn = journal.last_turn
        self._begun: set[str] = set()
        self._unwritten: set[str] = set()
        self._turn = turn
        self._seen: Counter[tuple[int, str]] = Counter()
        self._claimed: set[str] = set()
        self._brought = self._made = 0

    @property
    def journal(self) -> Journal:
        """The branch's journal."""
        return self._journal

    @property
    def is_between_turns(self) -> bool:
        """Whether no call was brought here since the turn began."""
        return self._brought == 0 and self._made == 0

    @property
    def has_only_replayed(self) -> bool:
        """Whether calls were brought here in this turn, and not one was made."""
        return self._brought > 0 and self._made == 0

    def begin_turn(self, turn: int) -> None:
        """Count calls anew."""
        with self._lock:
            self._turn = turn
            self._seen = Counter()
            self._claimed = set()
            self._brought = self._made = 0

    def new_entry(self, kind: str, request: object, *, has_side_effects: bool, block: int) -> Entry:
        """What the journal is to be told of a call of this turn that is not made yet."""
        digest = call_digest(kind, request)
        with self._lock:
            self._brought += 1
            sequence = self._seen[block, digest]
            self._seen[block, digest] += 1
            line = self._journal.line
            key = op_id(line.session_id, line.branch, self._turn, block, sequence, digest)
            self._claimed.add(key)
        return Entry(key, kind, "pending", self._turn, has_side_effects, digest, line.branch, store_value(request))

    def plan(self, entries: Sequence[Entry]) -> None:
        """Write calls down as planned, all at once; those that the journal has are left as they are."""
        new = [entry for entry in entries if self._journal.find(entry.op_id) is None]
        if new:
            self._write(lambda: self._journal.plan(new))

    def unfinished(self) -> tuple[Entry, ...]:
        """Calls that are planned, or whose outcome is unknown, in the order they were written down."""
        return tuple(entry for entry in self._journal.operations() if entry.state in ("pending", "running"))

    def open_operations(self) -> list[Operation]:
        """The same as a checkpoint holds them."""
        found = []
        for entry in self.unfinished():
            try:
                found.append(entry.operation())
            except CheckpointError as e:
                self._troubles.tell(sentence(e))
        return found

    def to_decide(self) -> tuple[OpenOperation, ...]:
        """The calls that can be decided about before the agent comes to them again, as far as they are known."""
        operations = self._journal.operations()
        with self._lock:
            own = [entry for entry in operations if self._is_left(entry)]
        made = Counter(entry.digest for entry in operations if entry.state != "pending")
        before: list[Entry] = []
        for entry in self._journal.before():
            made[entry.digest] -= 1
            if made[entry.digest] < 0:
                before.append(entry)
        return open_operations(own, before)

    def _is_left(self, entry: Entry) -> bool:
        """Whether an earlier process left it so: made in this turn, or unfinished in one before."""
        is_unfinished = entry.state in ("pending", "running") and entry.op_id not in self._begun
        return is_unfinished or entry.op_id in self._earlier

    def questions(self) -> tuple[Question, ...]:
        """Those of them that will be asked about."""
        return tuple(each.question for each in self.to_decide() if each.question is not None)

    def decide(self, key: str, decision: Decision) -> None:
        """Say what is to be done about a call that a question is about.

        Raises:
            InvalidValueError: it is no choice.
            NotFoundError: the journal has no such call.
            CheckpointError: the journal can't be written. Nothing was decided in each case.
        """
        self._journal.decide(key, decision)

    def begin(self, entry: Entry) -> tuple[bool, object]:
        """Whether the call is to be made now, and what it gave when it is not.

        Raises:
            ConflictError: this process was forked from the one that has the journal.
            UndecidedOperationError: nobody has decided; nothing was written.
            StoppedError: it was decided to abort.
        """
        if os.getpid() != self._pid:
            raise ConflictError(
                f"run operation {entry.kind}: this process was forked from the one that holds the session",
                hint="a forked child opens a session of its own",
            )
        known = self._journal.find(entry.op_id)
        question = self._question(entry, known)
        if question is None and known is not None and known.state in ("done", "cancelled"):
            return False, None if known.result is None else known.result.value()
        if question is not None:
            decision = self._decision(question, entry)
            if decision.choice != "run again":
                return False, self._without_call(entry, question, decision)
        with self._lock:
            self._made += 1
            self._earlier.pop(entry.op_id, None)
            self._begun.add(entry.op_id)
        written = entry
        is_large = len(entry.request.raw) > MAX_VALUE_BYTES
        if known is None and (is_large or not entry.has_side_effects):
            # Nobody has to judge a model's call; whole prompts would make the journal larger than the checkpoints.
            written = replace(entry, request=shortened(entry.request))
        self._write(lambda: self._journal.start(written), entry)
        return True, None

    def finish(self, entry: Entry, result: object) -> None:
        """Write down what the call gave; it is on disk before the agent has it."""
        if entry.op_id not in self._unwritten:
            self._write(lambda: self._journal.finish(entry.op_id, "done", store_value(result)))

    def fail(self, entry: Entry, error: Exception) -> None:
        """Write down that the call raised."""
        said = f"{type(error).__name__}: {error}"
        if entry.op_id not in self._unwritten:
            self._write(lambda: self._journal.finish(entry.op_id, "failed", store_value(said)))

    def _question(self, entry: Entry, known: Entry | None) -> Question | None:
        if known is not None and known.state != "pending":
            return question_about(known)
        if entry.has_side_effects and (question := self._elsewhere(entry, known)) is not None:
            return question
        return None if known is None or known.decision is None else question_planned(known)

    def _elsewhere(self, entry: Entry, known: Entry | None) -> Question | None:
        """What is open about a call that this branch has not begun, since it may have been made elsewhere."""
        before = [other for other in self._journal.before() if other.digest == entry.digest]
        if before:
            own = sum(
                other.digest == entry.digest and other.op_id != entry.op_id and other.state != "pending"
                for other in self._journal.operations()
            )
            if own < len(before):
                return question_before(before[own])
        return None if known is not None else self._odd(entry)

    def _odd(self, entry: Entry) -> Question | None:
        """A call that the journal does not have, in a turn that was begun before."""
        for other in tuple(self._earlier.values()):
            is_like_it = other.turn == self._turn and other.kind == entry.kind and other.has_side_effects
            if is_like_it and other.state in _UNKNOWN and other.op_id not in self._claimed:
                why = "this turn was begun before, and made a call of this kind with another request"
                return Question(self._journal.find(other.op_id) or other, why)
        if self._journal.is_damaged and self._turn <= self._earlier_turn:
            return Question(entry, "the journal of this turn is damaged: whether it was made is unknown")
        return None

    def _decision(self, question: Question, entry: Entry) -> Decision:
        decision = self._rules.decision(question, has_side_effects=entry.has_side_effects)
        if decision is None:
            raise UndecidedOperationError(
                f"run operation {entry.kind}: {question.why}",
                op_id=question.about.op_id,
                hint=self._how_to_decide(question),
            )
        self._claimed.add(question.about.op_id)
        return decision

    def _how_to_decide(self, question: Question) -> str:
        words = [choice.removeprefix("run ") for choice in question.choices]  # as the command spells them
        asked = ["tierdeck", "checkpoint", "decide", self._journal.line.session_id, question.about.op_id, "CHOICE"]
        command = join([*asked, "--checkpoints", str(self._journal.path.parent.parent)])
        return f"once the agent has ended, `{command}` decides; CHOICE is one of {', '.join(words)}"

    def _without_call(self, entry: Entry, question: Question, decision: Decision) -> object:
        if decision.choice == "abort":
            raise StoppedError(f"run operation {entry.kind}: {question.why}; it was decided to abort")
        value = decision.value or (question.about.result if question.about.state == "done" else None)
        is_done = decision.choice == "done"
        if self._journal.find(entry.op_id) is None:
            self._write(lambda: self._journal.plan([entry]), entry)
        if entry.op_id not in self._unwritten:
            state: OperationState = "done" if is_done else "cancelled"
            self._write(lambda: self._journal.finish(entry.op_id, state, value if is_done else None))
        return value.value() if is_done and value is not None else None

    def _write(self, write: Callable[[], None], entry: Entry | None = None) -> None:
        try:
            write()
            if entry is not None:
                self._unwritten.discard(entry.op_id)
        except (CheckpointError, NotFoundError) as e:
            if entry is not None:
                self._unwritten.add(entry.op_id)
            self._troubles.tell(sentence(e))
