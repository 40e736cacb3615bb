"""A call of the agent's that happens once: made, or given again from the journal."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from types import TracebackType
from typing import TypeVar, cast

from tierdeck.checkpoint.journal import Entry
from tierdeck.checkpoint.running.desk import Desk
from tierdeck.errors import ConflictError, InvalidValueError

_T = TypeVar("_T")


class Call:
    """One call. `run` makes it with a function; `with` makes it around any code, also in an `async` function.

        text = session.operation("model", prompt, has_side_effects=False).run(lambda: model(prompt))

        with session.operation("send mail", letter) as call:
            if call.is_due:
                call.result = send(letter)

    It is on disk as begun before the body of the `with`, and with its result when that is left. Left by an
    exception, it has failed; left by an interrupt (any `BaseException` that is no `Exception`), its outcome stays
    unknown.
    """

    def __init__(self, desk: Desk | None, entry: Entry | None, kind: str) -> None:
        self._desk = desk
        self._entry = entry
        self.kind = kind
        self.result: object = None
        self.is_due = False
        self._is_over = False

    @property
    def entry(self) -> Entry:
        """What the journal is told of it. Raises ConflictError when the session has no journal."""
        if self._entry is None:
            raise ConflictError(f"look at operation {self.kind}: its session has no journal")
        return self._entry

    @property
    def op_id(self) -> str:
        """The key that tells the same call in any process; a provider that takes one may be given it."""
        return self.entry.op_id

    def run(self, function: Callable[[], _T]) -> _T:
        """Make the call, or give its result from the journal without making it.

        Returns:
            What the function gave, now or then; None for a call that was skipped.

        Raises:
            UndecidedOperationError: whether it may be made has to be decided first; it was not made. After
                `Session.decide` the same object is run again.
            StoppedError: it was decided to abort; it was not made.
            ConflictError: this object was used before.
            InvalidValueError: the function is `async`; the call counts as failed.
            Whatever the function raises; the call has failed then.
        """
        with self:
            if self.is_due:
                self.result = function()
                if isawaitable(self.result):
                    raise InvalidValueError(
                        f"run operation {self.kind}: the function gave something to be awaited, not its result",
                        hint="use the call in a `with`, and await inside it",
                    )
        return cast("_T", self.result)

    def __enter__(self) -> Call:
        if self._is_over:
            raise ConflictError(f"run operation {self.kind}: this call was made already")
        if self._desk is None:
            self.is_due = True
        else:
            self.is_due, self.result = self._desk.begin(self.entry)
        self._is_over = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._desk is None or not self.is_due:
            return
        if error is None:
            self._desk.finish(self.entry, self.result)
        elif isinstance(error, Exception):
            self._desk.fail(self.entry, error)
