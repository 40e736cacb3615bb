from __future__ import annotations

import os
import signal
import sys

import pytest

from tierdeck.errors import InvalidValueError
from tierdeck_tui.terminal import ENDING_SIGNALS, ending_on_signals, require_terminal


class _Terminal:
    """A stream that says that it is one."""

    closed = False

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_it_points_at_the_commands() -> None:
    with pytest.raises(InvalidValueError) as caught:
        require_terminal()
    assert "not a terminal" in caught.value.message
    assert "tierdeck search" in (caught.value.hint or "")


@pytest.mark.parametrize("term", ["dumb", "", "unknown"])
def test_a_terminal_that_can_not_draw_is_refused(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    for name in ("__stdin__", "__stdout__", "__stderr__"):
        monkeypatch.setattr(sys, name, _Terminal())
    monkeypatch.setenv("TERM", term)
    with pytest.raises(InvalidValueError, match="TERM"):
        require_terminal()


def test_a_terminal_that_draws_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("__stdin__", "__stdout__", "__stderr__"):
        monkeypatch.setattr(sys, name, _Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    require_terminal()


@pytest.mark.case("T18")
@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_a_signal_asks_for_the_end_with_its_exit_code(number: signal.Signals) -> None:
    asked: list[int] = []
    with ending_on_signals(asked.append):
        os.kill(os.getpid(), number)
    assert asked == [128 + number]


def test_the_handlers_are_as_they_were_afterwards() -> None:
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    with ending_on_signals(lambda _: None):
        assert signal.getsignal(signal.SIGTERM) is not before[signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in ENDING_SIGNALS} == before


def test_a_hangup_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    asked: list[int] = []
    try:
        with ending_on_signals(asked.append):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert asked == []
