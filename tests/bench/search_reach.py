"""What is asked of search at 100,000 and at a million memories, each beside what was measured.

Whole searches are held against a pass by wall time, as they are felt, and by CPU time: other programs on the
machine stretch the wall time of a short answer more than that of a long pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.bench.search_ours import Passes
from tests.bench.search_process import FirstAnswers, Memory
from tests.bench.turns import Contestant


@dataclass
class Measured:
    """Everything that was measured of one store; what was not stays None."""

    rows: int
    passes: Passes
    vec0: Contestant
    leg: Contestant
    recalls: tuple[float, ...]
    narrowed: list[tuple[str, tuple[float, ...]]] = field(default_factory=list)
    flat: Contestant | None = None
    hybrid: Contestant | None = None
    typing: Contestant | None = None
    passes_beside_hybrid: Passes | None = None
    first: tuple[FirstAnswers, FirstAnswers] | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The bounds at one size: recalls at least, all else at most. Ratios are of what stands beside."""

    recall_10: float
    recall_50: float | None
    first: float
    memory_mb: float


ASKED = {100_000: Asked(0.995, 0.99, 1 / 2, 60), 1_000_000: Asked(0.99, None, 1 / 4, 280)}
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
    cpu_ms = measured.leg.median_cpu_ms
    yield _most("meaning leg, CPU, of plain vec0", LEG_OF_VEC0, cpu_ms / measured.vec0.median_cpu_ms)
    yield _most("meaning leg, CPU, of one pass", LEG_OF_PASS, cpu_ms / measured.passes.cpu_ms)
    for name, recalls in (("", measured.recalls), *((f", {name}", recalls) for name, recalls in measured.narrowed)):
        yield _least(f"recall@10{name}", asked.recall_10, recalls[0])
        if asked.recall_50 is not None:
            yield _least(f"recall@50{name}", asked.recall_50, recalls[1])


def _reach_of_hybrid(measured: Measured) -> Iterator[str]:
    if measured.passes_beside_hybrid is None:
        return
    passes = measured.passes_beside_hybrid
    for one in (measured.hybrid, measured.typing):
        if one is not None:
            for name, part, bound in (("p50", 0.5, HYBRID_P50), ("p95", 0.95, HYBRID_P95)):
                yield _most(f"{one.name} {name}, of one pass", bound, one.wall_quantile_ms(part) / passes.wall_ms)
                cpu = one.cpu_quantile_ms(part) / passes.cpu_ms
                yield _most(f"{one.name} {name}, CPU, of one pass", bound, cpu)
    if measured.hybrid is not None and measured.flat is not None:
        ratio = measured.hybrid.median_wall_ms / measured.flat.median_wall_ms
        yield _most(f"our hybrid p50, of {measured.flat.name}", HYBRID_OF_FLAT, ratio)


def _reach_of_processes(measured: Measured, asked: Asked) -> Iterator[str]:
    if measured.first is not None:
        ours, vec0 = measured.first
        yield _most("first answer, from the process's start, of vec0's", asked.first, ours.whole_ms / vec0.whole_ms)
        yield _most("first answer, from opening, of vec0's", asked.first, ours.from_open_ms / vec0.from_open_ms)
    if measured.memory is not None:
        yield _most("private memory above the store's, MB", asked.memory_mb, measured.memory.held_mb)


def _most(what: str, bound: float, value: float) -> str:
    return _line(what, "at most", bound, value, is_reached=value <= bound)


def _least(what: str, bound: float, value: float) -> str:
    return _line(what, "at least", bound, value, is_reached=value >= bound)


def _line(what: str, side: str, bound: float, value: float, *, is_reached: bool) -> str:
    def shown(number: float) -> str:
        if side == "at least":
            return f"{number:.4f}"
        return f"1/{1 / number:.1f}" if 0 < number < 1 else f"{number:,.1f}"

    return (
        f"{what:50} {side} {shown(bound):8} measured {shown(value):9} {'reached' if is_reached else 'NOT REACHED'}"
    )
