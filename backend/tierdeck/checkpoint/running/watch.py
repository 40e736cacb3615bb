"""How far a restore has read, told to whoever waits for it, and its end when that one has had enough. Pure."""

from __future__ import annotations

from collections.abc import Callable

from tierdeck.errors import StoppedError

Progress = Callable[[int, int], None]
Stop = Callable[[], bool]

_PASSES = 2  # once for the trailer, once for what is decoded


class ReadWatch:
    """Called with the bytes of each read of one file.

    Args:
        doing: what is stopped, as the error's message begins.
        file_bytes: how large the file is; it is read twice.
        on_progress: told how many of how many bytes were read.
        should_stop: asked at each read.
    """

    def __init__(self, doing: str, file_bytes: int, on_progress: Progress | None, should_stop: Stop | None) -> None:
        self._doing = doing
        self._total_bytes = _PASSES * file_bytes
        self._read_bytes = 0
        self._on_progress, self._should_stop = on_progress, should_stop

    def __call__(self, read_bytes: int) -> None:
        """Raises StoppedError when it should stop; nothing has been written by then."""
        if self._should_stop is not None and self._should_stop():
            raise StoppedError(f"{self._doing}: it was asked to stop; nothing was changed")
        self._read_bytes += read_bytes
        if self._on_progress is not None:
            self._on_progress(min(self._read_bytes, self._total_bytes), self._total_bytes)
