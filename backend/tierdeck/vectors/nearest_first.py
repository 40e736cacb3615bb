"""Candidates given nearest first, compared exactly only as far as that needs. Knows no database.

Reading a vector takes longer than all that its bits tell: of candidates in the order of their estimates, those are
left unread whose estimate says that they can hardly be among the nearest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Of 100,000 vectors of 1,536 numbers the nearest 50 are found to 0.995, 0.998 and 0.999 with 1.5, 1.75 and 2
# standard deviations, by reading 218, 256 and 301 of them (means of 100 questions of the benchmark's store).
_DEVIATIONS = 1.75
# So few tell nothing of how far estimates are from the truth.
_ENOUGH_TO_LEARN = 32
_LEAST_READ = 128

Slots = NDArray[np.intp]
Cosines = NDArray[np.float32]


class NearestFirst:
    """The candidates of one query.

    Args:
        slots: in the order of their estimates.
        estimates: of each its estimated cosine.
        error: the standard deviation of an estimate.
        exact: the cosines of slots that are given in slot order.
        may_show: of slots in slot order whether each may be given; asked of those looked at. None: all may.
    """

    def __init__(
        self,
        slots: Slots,
        estimates: Cosines,
        error: float,
        exact: Callable[[Slots], Cosines],
        may_show: Callable[[Slots], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._slots = slots
        self._estimates = estimates
        self._error = error
        self._exact = exact
        self._may_show = may_show
        self._cosines = np.full(len(slots), -np.inf, np.float32)  # minus infinity: may not show, or was given
        self._too_low = 0.0
        self._looked_at = 0

    def __len__(self) -> int:
        """How many candidates there are, whether or not they may show."""
        return len(self._slots)

    def next(self, count: int, sure: int | None = None) -> tuple[Slots, Cosines]:
        """The nearest `count` not given yet, with their cosines, nearest first; fewer when no more are there.

        One that the estimates had put too far down may come after farther ones. Equal ones come in the order of
        their estimates.

        Args:
            sure: how many, from the first, have to be the nearest that there are, as well as that is known before
                they are compared; `count` when it is None. The more, the surer are the first of them.
        """
        self._look_at(max(_LEAST_READ, count + count // 2))
        while self._looked_at < (wanted := self._needed(count if sure is None else sure)):
            self._look_at(wanted)
        order = np.argsort(-self._cosines[: self._looked_at], kind="stable")[:count]
        order = order[self._cosines[order] > -np.inf]
        slots, cosines = self._slots[order], self._cosines[order]
        self._cosines[order] = -np.inf
        return slots, cosines

    def _needed(self, count: int) -> int:
        """How many have to be looked at before the nearest `count` of the rest are known well enough."""
        known = self._cosines[: self._looked_at]
        there = known[known > -np.inf]
        if len(there) < count:
            return min(len(self), 2 * max(self._looked_at, _LEAST_READ))
        least = np.partition(there, len(there) - count)[len(there) - count]
        lowest = least - np.float32(self._too_low + _DEVIATIONS * self._error)
        return int(np.searchsorted(-self._estimates, -lowest, side="right"))

    def _look_at(self, upto: int) -> None:
        """Compare exactly those up to there that may show."""
        first, self._looked_at = self._looked_at, max(self._looked_at, min(upto, len(self)))
        places = first + np.argsort(self._slots[first : self._looked_at])
        if self._may_show is not None and len(places):
            places = places[self._may_show(self._slots[places])]
        if len(places):
            self._cosines[places] = self._exact(self._slots[places])
        if len(places) >= _ENOUGH_TO_LEARN:
            # Where a model's numbers are spread otherwise than by chance, all estimates are too low or too wide.
            apart = self._cosines[places] - self._estimates[places]
            self._too_low = max(self._too_low, float(apart.mean()))
            self._error = max(self._error, float(apart.std()))
