"""What is asked of search at 100,000 and at a million memories, each beside what was measured.

Whole searches are held against a pass by wall time, as they are felt, and by CPU time: other programs on the
machine stretch the wall time of a short answer more than that of a long pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.bench.search_limits import READ_VECTORS, LegLimits
from tests.bench.search_ours import Passes
from tests.bench.search_process import FirstAnswers, Memory
from tests.bench.turns import Contestant, in_a_row


@dataclass
class LegTimes:
    """The meaning leg beside what it is held against, all asked in one way."""

    passes: Passes
    vec0: Contestant
    leg: Contestant
    limits: LegLimits

    def in_a_row(self) -> LegTimes:
        """The same, to be asked in rows."""
        return LegTimes(self.passes.in_a_row(), in_a_row(self.vec0), in_a_row(self.leg), self.limits.in_a_row())

    @property
    def contestants(self) -> list[Contestant]:
        """All of them."""
        return [*self.passes.contestants, self.vec0, self.leg, self.limits.signs, self.limits.reads]

    def limit_of(self, whole_ms: float) -> str:
        """What a leg can't do without takes of so many milliseconds, as the reason for a bound not reached."""
        faults = float(np.median(self.leg.faults))
        alone = _shown(self.limits.cpu_ms(faults) / whole_ms)
        return f"half of the signs, {READ_VECTORS} vectors and {faults:.0f} pages touched first take {alone} alone"


@dataclass
class HybridTimes:
    """Whole searches beside what they are held against, all asked in one way."""

    passes: Passes
    hybrid: Contestant
    typing: Contestant
    words: Contestant

    @property
    def ours(self) -> list[Contestant]:
        """The searches."""
        return [self.hybrid, self.typing, self.words]

    @property
    def contestants(self) -> list[Contestant]:
        """All of them."""
        return [*self.passes.contestants, *self.ours]

    def in_a_row(self) -> HybridTimes:
        """The same, to be asked in rows."""
        return HybridTimes(
            self.passes.in_a_row(), in_a_row(self.hybrid), in_a_row(self.typing), in_a_row(self.words)
        )


@dataclass
class Measured:
    """Everything that was measured of one store, by the way it was asked where that is more than one."""

    rows: int
    recalls: tuple[float, ...] = ()
    legs: dict[str, LegTimes] = field(default_factory=dict)
    hybrids: dict[str, HybridTimes] = field(default_factory=dict)
    narrowed: list[tuple[str, tuple[float, ...]]] = field(default_factory=list)
    flat: Contestant | None = None
    first: tuple[FirstAnswers, FirstAnswers, FirstAnswers] | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The bounds at one size: recalls at least, all else at most. Ratios are of what stands beside."""

    recall_10: float
    recall_50: float | None
    first: float
    memory_mb: float


ASKED = {100_000: Asked(0.995, 0.99, 1 / 2, 60), 1_000_000: Asked(0.99, None, 1 / 4, 280)}
IN_TURNS, IN_A_ROW = "in turns", "in a row"
LEG_OF_VEC0, LEG_OF_PASS = 1 / 40, 1 / 6
HYBRID_P50, HYBRID_P95, HYBRID_OF_FLAT = 1 / 4, 2 / 3, 1 / 20


def reach(measured: Measured) -> Iterator[str]:
    """A line for each thing asked at this size: what, asked, measured, reached or not; none at other sizes."""
    asked = ASKED.get(measured.rows)
    if asked is not None:
        yield from _reach_of_leg(measured, asked)
        yield from _reach_of_hybrid(measured)
        yield from _reach_of_processes(measured, asked)


def _reach_of_leg(measured: Measured, asked: Asked) -> Iterator[str]:
    for way, times in measured.legs.items():
        for name, bound, whole_ms in (
            ("plain vec0", LEG_OF_VEC0, times.vec0.median_cpu_ms),
            ("one pass", LEG_OF_PASS, times.passes.cpu_ms),
        ):
            ratio = times.leg.median_cpu_ms / whole_ms
            yield _most(f"meaning leg, CPU, of {name}, {way}", bound, ratio, times.limit_of(whole_ms))
    for name, recalls in (("", measured.recalls), *((f", {name}", recalls) for name, recalls in measured.narrowed)):
        yield _least(f"recall@10{name}", asked.recall_10, recalls[0])
        if asked.recall_50 is not None:
            yield _least(f"recall@50{name}", asked.recall_50, recalls[1])


def _reach_of_hybrid(measured: Measured) -> Iterator[str]:
    for way, times in measured.hybrids.items():
        passes, words = times.passes, times.words
        for one in (times.hybrid, times.typing):
            for name, part, bound in (("p50", 0.5, HYBRID_P50), ("p95", 0.95, HYBRID_P95)):
                for of, ours_ms, words_ms, pass_ms in (
                    ("", one.wall_quantile_ms(part), words.wall_quantile_ms(part), passes.wall_ms),
                    (", CPU", one.cpu_quantile_ms(part), words.cpu_quantile_ms(part), passes.cpu_ms),
                ):
                    limit = f"its words alone {_shown(words_ms / pass_ms)}"
                    yield _most(f"{one.name} {name}{of}, of one pass, {way}", bound, ours_ms / pass_ms, limit)
    if IN_TURNS in measured.hybrids and measured.flat is not None:
        times, flat = measured.hybrids[IN_TURNS], measured.flat
        for of, ours_ms, flat_ms, words_ms in (
            ("", times.hybrid.median_wall_ms, flat.median_wall_ms, times.words.median_wall_ms),
            (", CPU", times.hybrid.median_cpu_ms, flat.median_cpu_ms, times.words.median_cpu_ms),
        ):
            limit = f"its words alone {_shown(words_ms / flat_ms)}"
            yield _most(f"our hybrid p50{of}, of {flat.name}", HYBRID_OF_FLAT, ours_ms / flat_ms, limit)


def _reach_of_processes(measured: Measured, asked: Asked) -> Iterator[str]:
    if measured.first is not None:
        ours, vec0, imports = measured.first
        limit = f"its imports alone {_shown(imports.whole_ms / vec0.whole_ms)}"
        ratio = ours.whole_ms / vec0.whole_ms
        yield _most("first answer, from the process's start, of vec0's", asked.first, ratio, limit)
        yield _most("first answer, from opening, of vec0's", asked.first, ours.from_open_ms / vec0.from_open_ms)
    if measured.memory is not None:
        yield _most("private memory above the store's, MB", asked.memory_mb, measured.memory.held_mb)


def _most(what: str, bound: float, value: float, limit: str = "") -> str:
    is_reached = value <= bound
    line = _line(what, f"at most {_shown(bound):8}", _shown(value), is_reached=is_reached)
    return line if is_reached or not limit else f"{line}: {limit}"


def _least(what: str, bound: float, value: float) -> str:
    return _line(what, f"at least {bound:.4f}  ", f"{value:.4f}", is_reached=value >= bound)


def _shown(number: float) -> str:
    return f"1/{1 / number:.1f}" if 0 < number < 1 else f"{number:,.1f}"


def _line(what: str, asked: str, value: str, *, is_reached: bool) -> str:
    return f"{what:56} {asked} measured {value:9} {'reached' if is_reached else 'NOT REACHED'}"
