"""What went wrong in keeping a session, told without raising into the agent."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from tierdeck.errors import TierdeckError

_KEPT = 50


class Troubles:
    """Safe to use from several threads.

    Args:
        on_problem: called with each as a sentence, on the thread where it was met; what it raises is dropped, since
            it would end the agent or the saves.
    """

    def __init__(self, on_problem: Callable[[str], None] | None = None) -> None:
        self._on_problem = on_problem
        self._lock = threading.Lock()
        self._told: deque[str] = deque(maxlen=_KEPT)
        self._save_problem: str | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """The latest 50, oldest first."""
        with self._lock:
            return tuple(self._told)

    @property
    def save_problem(self) -> str | None:
        """Why the latest save failed; None when it worked, or none was made."""
        with self._lock:
            return self._save_problem

    def tell(self, problem: str) -> None:
        """Keep it and call back."""
        with self._lock:
            self._told.append(problem)
        if self._on_problem is not None:
            try:
                self._on_problem(problem)
            except Exception as e:  # noqa: BLE001
                with self._lock:
                    self._told.append(f"tell problem: the callback raised {type(e).__name__}")

    def save_failed(self, error: BaseException) -> str:
        """Tell of a save that failed; gives the sentence."""
        said = sentence(error)
        with self._lock:
            self._save_problem = said
        self.tell(said)
        return said

    def save_worked(self) -> None:
        """The latest save has no problem."""
        with self._lock:
            self._save_problem = None


def sentence(error: BaseException) -> str:
    """What happened, in one line."""
    if isinstance(error, TierdeckError):
        return error.message if error.hint is None else f"{error.message} ({error.hint})"
    return f"save checkpoint: {type(error).__name__}: {error}"
