"""The side of an agent's session that saves it and journals its calls; without checkpoints it does neither."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import ParamSpec, TypeVar

from tierdeck.checkpoint.journal import Choice, Decision, store_value
from tierdeck.checkpoint.running.call import Call
from tierdeck.checkpoint.running.question import Question
from tierdeck.checkpoint.running.resumed import Resumed
from tierdeck.checkpoint.running.running_session import RunningSession
from tierdeck.checkpoint.running.saves import SaveReport
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.checkpoint.running.turn_state import TurnState
from tierdeck.errors import ConflictError, InvalidValueError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Checkpointed:
    """A session that may have checkpoints.

    Args:
        external_id: what the agent calls it.
        running: its side of them, which it closes; None for a session without.
    """

    def __init__(self, external_id: str, running: RunningSession | None) -> None:
        self._external_id = external_id
        self._running = running
        self._turns = 0
        self._has_ended = False

    @property
    def external_id(self) -> str:
        """What the agent calls it."""
        return self._external_id

    @property
    def turns(self) -> int:
        """The turns done, those before a resume counted."""
        return self._turns if self._running is None else self._running.place.turn

    @property
    def branch(self) -> str | None:
        """The branch it is on, 8 hex digits; None without checkpoints."""
        return None if self._running is None else self._running.place.branch

    @property
    def spending(self) -> Spending:
        """What the branch and the session have cost; a rewind takes nothing off the session's."""
        return Spending(None, None, None, None) if self._running is None else self._running.spending

    @property
    def save_problem(self) -> str | None:
        """Why the latest checkpoint could not be saved; None when it was."""
        return None if self._running is None else self._running.troubles.save_problem

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong in keeping the session, the latest 50, oldest first."""
        return () if self._running is None else self._running.troubles.told

    def turn(
        self,
        variables: Mapping[str, object],
        *,
        messages: Sequence[object] = (),
        working_memory: Mapping[str, object] | None = None,
        trajectory: Sequence[object] = (),
        cells: Sequence[str] = (),
        source_text: Mapping[CodeType, str] | None = None,
        cost: float | None = None,
        tokens: int | None = None,
    ) -> Resumed | None:
        """A turn is over: the state is saved when it is time, and what an operator asked for is done.

        A save that fails is not raised: see `save_problem`.

        Args:
            variables: all of the agent's variables by name.
            working_memory, messages, trajectory: what else belongs to its state.
            cells: the texts it has run; `source_text` gives those of single functions by their code.
            cost, tokens: of this turn alone, cost in US dollars; None is unknown.

        Returns:
            The state to go on with, when an operator had the session go back; else None.

        Raises:
            ConflictError: the session has ended, or this is a forked child.
        Spec: SPEC-09.24
        """
        self._check_open("end turn")
        if self._running is None:
            self._turns += 1
            return None
        state = TurnState(variables, messages, working_memory or {}, trajectory, cells, source_text)
        return self._running.end_turn(state, cost=cost, tokens=tokens)

    def checkpoint(self, label: str | None = None) -> SaveReport:
        """Save what `turn` was given last, as it is now, as the state after that turn, and wait for it.

        In the middle of a turn, which the first call in it begins, it is saved when that ends.

        Raises:
            InvalidValueError: the label is blank or longer than 200 characters.
            ConflictError: the session has ended, or was opened without checkpoints.
        Spec: SPEC-09.25
        """
        return self._kept("save checkpoint").checkpoint(label)

    def resume(self, path: Path | None = None) -> Resumed | None:
        """Go on from a checkpoint; see `RunningSession.resume`, which this raises as. None without checkpoints.

        Spec: SPEC-09.23
        """
        self._check_open("resume")
        return None if self._running is None else self._running.resume(path)

    def operation(
        self, kind: str, request: object = None, *, has_side_effects: bool = True, block: int = 0
    ) -> Call:
        """A call that is made once: see `Call`. Without checkpoints it is just made.

        Args:
            kind: what it is, for people and for `CallRules`.
            request: what it is called with; an equal one is the same call.
            has_side_effects: whether making it twice does harm. A model's call only costs money.
            block: the piece of the turn it stands in, for an agent that counts them.

        Raises:
            ConflictError: the session has ended.
        Spec: SPEC-09.23
        """
        self._check_open("run operation")
        if self._running is None:
            return Call(None, None, kind)
        desk = self._running.desk
        entry = desk.new_entry(kind, request, has_side_effects=has_side_effects, block=block)
        return Call(desk, entry, kind)

    def journalled(
        self, kind: str, *, has_side_effects: bool = True
    ) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
        """A decorator: each call of the function is an `operation`, its arguments the request."""

        def wrap(function: Callable[_P, _T]) -> Callable[_P, _T]:
            @functools.wraps(function)
            def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
                one = self.operation(kind, [args, kwargs], has_side_effects=has_side_effects)
                return one.run(lambda: function(*args, **kwargs))

            return call

        return wrap

    def plan(self, *calls: Call) -> None:
        """Write down calls before the first of them is made, so that a crash between them is seen as one."""
        self._kept("plan operations").desk.plan([call.entry for call in calls])

    def unfinished(self) -> tuple[Call, ...]:
        """Calls that were planned, or whose outcome is unknown, in the order they were written down."""
        desk = self._kept("list operations").desk
        return tuple(Call(desk, entry, entry.kind) for entry in desk.unfinished())

    @property
    def questions(self) -> tuple[Question, ...]:
        """What will be asked before calls are made again, as far as it is known now; see `decide`."""
        return () if self._running is None else self._running.desk.questions()

    def decide(self, op_id: str, choice: Choice, value: object = None, *, by: str | None = None) -> None:
        """Say what is to be done about a call that is asked about: `questions`, or the error's `op_id`.

        Args:
            choice: `run again`; `done`, with the value it gave (None: what the journal has); `skip`, which gives
                the agent None; `abort`, which raises StoppedError when it comes to it.

        Raises:
            InvalidValueError: the choice is none of these, or the value can't be kept as it is.
            NotFoundError: the journal has no such call.
            CheckpointError: the journal can't be written. Nothing was decided in each case.
        """
        stored = store_value(value) if choice == "done" and value is not None else None
        if stored is not None and stored.why is not None:
            raise InvalidValueError(f"decide operation {op_id[:40]}: its value can't be kept: {stored.why}")
        self._kept("decide").desk.decide(op_id, Decision(choice, stored, by))

    def flush(self) -> None:
        """Wait until the checkpoints that are on their way are written, or have failed."""
        if self._running is not None:
            self._running.flush()

    def _kept(self, doing: str) -> RunningSession:
        self._check_open(doing)
        if self._running is None:
            raise ConflictError(f"{doing}: session {self.external_id} was opened without checkpoints")
        return self._running

    def _check_open(self, doing: str) -> None:
        if self._has_ended:
            raise ConflictError(
                f"{doing}: session {self.external_id} has ended", hint="open it again: that is a new run of it"
            )
