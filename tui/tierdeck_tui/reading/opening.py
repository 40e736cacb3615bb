"""Opening the store without making anybody wait for it.

A store that another program holds exclusively answers only after the busy timeout (5 s). So it is opened in a
thread of its own: an ordinary error still ends the program before a screen opens, and a held store shows a screen
that says so and goes on trying.
"""

from __future__ import annotations

import threading
from pathlib import Path

from tierdeck.config import Settings
from tierdeck.errors import StoreBusyError
from tierdeck.store import open_store
from tierdeck_tui.reading.console import Console

RETRY_S = 0.5


class StoreOpening:
    """One attempt, repeated while another program holds the store, to get a `Console` on it."""

    def __init__(self, path: Path, settings: Settings, read_only: bool) -> None:
        self.path = path
        self.settings = settings
        self.read_only = read_only
        self._lock = threading.Lock()
        self._console: Console | None = None
        self._busy: StoreBusyError | None = None
        self._error: Exception | None = None
        self._stopped = threading.Event()
        # A daemon, for nobody who leaves shall wait out the busy timeout; it holds no lock while it waits.
        self._thread = threading.Thread(target=self._run, name="open-store", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self, seconds: float) -> Console | None:
        """The console, when it is there within that time; None while the store is still being opened.

        Raises:
            TierdeckError: the store can't be opened; trying again would not help.
            Exception: what nobody foresaw.
        """
        self._thread.join(seconds)
        with self._lock:
            if self._error is not None:
                raise self._error
            return self._console

    @property
    def busy(self) -> StoreBusyError | None:
        """What the store said when it was last found held by another program."""
        with self._lock:
            return self._busy

    def close(self) -> None:
        """Give up, and close what was opened; a store that opens after this is closed again."""
        self._stopped.set()
        with self._lock:
            console, self._console = self._console, None
        if console is not None:
            console.close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                store = open_store(self.path, read_only=self.read_only)
            except StoreBusyError as e:
                with self._lock:
                    self._busy = e
                self._stopped.wait(RETRY_S)
                continue
            except Exception as e:  # noqa: BLE001 - the thread's last frame: `wait` raises it where it is seen
                with self._lock:
                    self._error = e
                return
            with self._lock:
                self._console = Console(store, self.settings, self.read_only)
            if self._stopped.is_set():
                self.close()
            return
