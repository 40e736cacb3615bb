"""Contestants asked in turns, so that what else the machine does hits all of them; wall and CPU time of each."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MIN_ROUNDS = 3
ROWS = 5
# The threads of a linear algebra library spin so long after their work, and would count as the next one's CPU time.
# Awake: on a virtual machine a core that slept for 50 ms needs two to three times as long for the next 6 ms of work
# on much memory (page tables and caches are cold), and a tenth longer for 240 ms.
REST_S = 0.03
ASLEEP_S = 0.2


@dataclass
class Contestant:
    """Answers a query by its number with the numbers of memories, best first; `every` thins the slow ones out.

    `is_rested`: the process sleeps before each answer, as it does between what a person asks.
    Times are in milliseconds; CPU is that of all threads; `faults` are pages touched for the first time.
    `to_numbers` is not measured; it is needed when an answer is no list of numbers yet.
    """

    name: str
    ask: Callable[[int], Sequence[object]]
    to_numbers: Callable[[Sequence[object]], Sequence[int]] | None = None
    every: int = 1
    is_rested: bool = False
    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    found: dict[int, Sequence[int]] = field(default_factory=dict)

    def once(self, number: int) -> None:
        """One query, measured."""
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        wall, cpu = time.perf_counter(), time.process_time()
        answer = self.ask(number)
        self.cpu_ms.append((time.process_time() - cpu) * 1e3)
        self.wall_ms.append((time.perf_counter() - wall) * 1e3)
        self.faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
        self.found[number] = (
            [one for one in answer if isinstance(one, int)] if self.to_numbers is None else self.to_numbers(answer)
        )

    @property
    def median_wall_ms(self) -> float:
        """Half of the answers took less."""
        return float(np.median(self.wall_ms))

    @property
    def median_cpu_ms(self) -> float:
        """Half of the answers took less of all threads together."""
        return float(np.median(self.cpu_ms))

    def wall_quantile_ms(self, part: float) -> float:
        """That part of the answers took less."""
        return float(np.quantile(self.wall_ms, part))

    def cpu_quantile_ms(self, part: float) -> float:
        """That part of the answers took less of all threads together."""
        return float(np.quantile(self.cpu_ms, part))


def in_a_row(one: Contestant) -> Contestant:
    """The same as a contestant of `in_rows`."""
    return Contestant(one.name, one.ask, one.to_numbers, every=one.every)


def rested(one: Contestant) -> Contestant:
    """The same asked after sleep, every tenth time."""
    return Contestant("  after 0.2 s of sleep", one.ask, one.to_numbers, every=10, is_rested=True)


def _rest(*, is_asleep: bool) -> None:
    if is_asleep:
        time.sleep(ASLEEP_S)
        return
    until = time.perf_counter() + REST_S
    while time.perf_counter() < until:
        pass


def in_turns(contestants: Sequence[Contestant], queries: int, budget_s: float) -> None:
    """Each query to each in turn, after one that does not count; no more rounds when the time is over."""
    for contestant in contestants:
        contestant.ask(queries - 1)
    began = time.perf_counter()
    for number in range(queries):
        if number >= MIN_ROUNDS and time.perf_counter() - began > budget_s:
            return
        for contestant in contestants:
            if number % contestant.every == 0:
                _rest(is_asleep=contestant.is_rested)
                contestant.once(number)


def in_rows(contestants: Sequence[Contestant], queries: int, budget_s: float) -> None:
    """A row of queries to each in turn, one right after the other; no more rows when the time is over.

    The first of a row does not count: it finds in the caches what others left there. On a virtual machine among
    others all memory that was not touched for 30 ms is far away, even where the core was busy all the time: 200
    vectors out of 100,000 take 1 to 3 ms right after the last, 7 after 30 ms, 21 after 100 ms.
    """
    began = time.perf_counter()
    for row in range(min(ROWS, queries)):
        if row and time.perf_counter() - began > budget_s:
            return
        for contestant in contestants:
            numbers = range(row, queries, ROWS * contestant.every)
            _rest(is_asleep=False)
            contestant.ask(numbers[-1])
            for number in numbers:
                contestant.once(number)


def load_average() -> str:
    """How busy the machine is: the figures mean little without it."""
    return " ".join(Path("/proc/loadavg").read_text().split()[:3])
