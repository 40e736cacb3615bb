"""Full garbage collections, moved to where nobody waits for them, and kept short.

A full collection walks all that was made since the last `gc.freeze` and holds every thread: 72 ms while the
console comes up, later 8 to 20 on a screen in use, and up to 80 where a search of a million memories pushed the
objects out of the processor's caches. Python sets it off wherever an object is made, which is mostly in the middle
of a paint. Here it comes when no key has been pressed for a while and no answer is awaited, and what it leaves is
frozen: the next one walks only what was made since, in bites of 3 to 15 ms. What was frozen and is bound in a
circle by now waits for a thorough collection, which walks everything: it comes when the keys were left alone for
long. The two younger generations (2 ms at most) stay as they are.
"""

from __future__ import annotations

import gc

QUIET_S = 0.25
LEFT_ALONE_S = 20.0
# Younger collections between two full ones: enough that one is worth it (Python's own number is 10), and the number
# that is not waited beyond.
DUE_AFTER = 1
AT_LATEST_AFTER = 200
# Full ones between two thorough ones: enough that one is worth it, and the number that is not waited beyond.
THOROUGH_DUE_AFTER = 10
THOROUGH_AT_LATEST_AFTER = 500


class QuietCollector:
    """Holds full collections back from `start` to `stop`; `look` makes up for them."""

    def __init__(self) -> None:
        self._before = gc.get_threshold()
        self._since_thorough = 0

    def start(self) -> None:
        """Hold them back."""
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
        if is_reading or quiet_s < QUIET_S:
            return False
        is_left_alone = quiet_s >= LEFT_ALONE_S
        if self._since_thorough >= (THOROUGH_DUE_AFTER if is_left_alone else THOROUGH_AT_LATEST_AFTER):
            gc.unfreeze()
            self._since_thorough = 0
        elif gc.get_count()[2] < DUE_AFTER:
            return False
        else:
            self._since_thorough += 1
        gc.collect()
        gc.freeze()
        return True
