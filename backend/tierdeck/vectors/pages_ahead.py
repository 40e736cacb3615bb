"""The pages of the index that searches will read, made ready in a thread."""

from __future__ import annotations

import threading
from pathlib import Path

from tierdeck.vectors.mapped_pages import map_pages


class PagesAhead:
    """Runs once, over what is mapped when it begins; what the file grows by later comes when it is touched."""

    def __init__(self, path: Path) -> None:
        self._must_stop = threading.Event()
        self._thread = threading.Thread(
            target=map_pages, args=(path, self._must_stop.is_set), name="tierdeck-pages", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Have it end, and wait for that: a few milliseconds, or one read of 64 MB from the disk."""
        self._must_stop.set()
        self._thread.join()
