"""Full garbage collections, moved to where nobody waits for them.

A full collection walks all that was made since the last `gc.freeze` and holds every thread: 72 ms while the
console comes up, later 8 to 20 on a screen in use. Python sets it off wherever an object is made, which is mostly
in the middle of a paint; beside a search, which takes every other turn of the interpreter, a paint of 12 ms then
lasted more than 50. Here it comes when no key has been pressed for a while and no answer is awaited. The two
younger generations (2 ms at most) stay as they are.
"""

from __future__ import annotations

import gc

QUIET_S = 0.5
# Younger collections between two full ones: enough that one is worth it (Python's own number is 10), and the number
# that is not waited beyond.
DUE_AFTER = 4
AT_LATEST_AFTER = 200


class QuietCollector:
    """Holds full collections back from `start` to `stop`; `look` makes up for them."""

    def __init__(self) -> None:
        self._before = gc.get_threshold()

    def start(self) -> None:
        """Hold them back; what there is by now, modules and classes, is never walked again."""
        gc.freeze()
        self._before = gc.get_threshold()
        gc.set_threshold(*self._before[:2], AT_LATEST_AFTER)

    def stop(self) -> None:
        """Leave it to Python again."""
        gc.set_threshold(*self._before)

    def look(self, quiet_s: float, *, is_reading: bool) -> bool:
        """Collect if it is due, no key was pressed for `QUIET_S`, and nothing is being read for the operator.

        Args:
            quiet_s: for how long no key was pressed.
            is_reading: whether a worker searches or reads; beside it a collection takes twice its time.

        Returns:
            Whether it collected.
        """
        if is_reading or quiet_s < QUIET_S or gc.get_count()[2] < DUE_AFTER:
            return False
        gc.collect()
        return True
