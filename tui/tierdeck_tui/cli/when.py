"""Times on the command line, read as everywhere else in the program."""

from __future__ import annotations

from tierdeck.errors import InvalidValueError
from tierdeck_tui.view.typed_time import future_time_ms, past_time_ms


def begin_of(text: str | None, now_ms: int) -> int | None:
    """The moment that a `--since` means: 7d, 12h, 2026-03-01; None for none."""
    try:
        return past_time_ms("since", text or "", now_ms)
    except ValueError as e:
        raise InvalidValueError(f"read --since {(text or '')[:60]!r}: it {e}") from e


def end_of(text: str | None, now_ms: int) -> int | None:
    """The moment before which an `--until` lets things through; a bare day is in. None for none."""
    try:
        return past_time_ms("until", text or "", now_ms)
    except ValueError as e:
        raise InvalidValueError(f"read --until {(text or '')[:60]!r}: it {e}") from e


def later(text: str | None, now_ms: int) -> int | None:
    """The moment to come until which an `--until` holds: 30d, or the beginning of a day; None for none.

    Raises:
        InvalidValueError: it can't be read, or does not lie ahead.
    """
    try:
        return future_time_ms(text or "", now_ms)
    except ValueError as e:
        raise InvalidValueError(f"read --until {(text or '')[:60]!r}: it {e}") from e
