"""A connection to an index file that is closed without holding up the process's other threads."""

from __future__ import annotations

from contextlib import suppress

import apsw


class IndexConnection(apsw.Connection):
    """Gives back its map and its pages before it closes.

    Closing holds Python's lock: 45 to 200 ms where gigabytes of an index of a million vectors are mapped, in which
    a console paints nothing and an agent's event loop stands still. A statement lets others run; after these two
    the closing takes 1 ms.
    """

    def close(self, force: bool = False) -> None:
        """Close; a connection that is closed stays so.

        Args:
            force: as for `apsw.Connection.close`.
        """
        with suppress(apsw.Error):  # what closes a connection closes a damaged or a closed one too
            self.pragma("mmap_size", 0)
            self.pragma("shrink_memory")
        super().close(force)
