"""The background thread: one save at a time, automatic ones replaced by newer ones, failures told; its stack."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.every_value import same
from tierdeck import open_session
from tierdeck.checkpoint import Checkpoint, Snapshot, take_snapshot
from tierdeck.checkpoint.folder import SavedCheckpoint
from tierdeck.checkpoint.running.saver import BackgroundSaver

WAIT_S = 20


def snapshot(turn: int) -> Snapshot:
    return take_snapshot(Checkpoint("s", f"{turn:016x}", 1, turn))


class Disk:
    """A writer that waits until it is let go, and says what it was given and on which thread."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)
        self.turns: list[int] = []
        self.threads: set[str] = set()
        self.at_once = self.most_at_once = 0

    def write(self, given: Snapshot) -> SavedCheckpoint:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        self.turns.append(given.summary.turn)
        self.threads.add(threading.current_thread().name)
        self.begun.release()
        assert self.may_end.acquire(timeout=WAIT_S)
        self.at_once -= 1
        if given.summary.turn == 13:
            raise OSError("no luck")
        return SavedCheckpoint(Path(f"{given.summary.turn}"), given.summary.turn, 1)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.mark.spec("SPEC-09.24")
def test_one_is_written_at_most_one_automatic_one_waits_and_those_asked_for_all_do(disk: Disk) -> None:
    saver = BackgroundSaver(disk.write, str)
    first = saver.submit(snapshot(1), is_automatic=True)
    assert disk.begun.acquire(timeout=WAIT_S)
    saves = [saver.submit(snapshot(turn), is_automatic=turn != 3) for turn in (2, 3, 4, 5)]
    for _ in range(3):
        disk.may_end.release()
    saver.flush()
    assert disk.turns == [1, 3, 5]
    assert [save.is_replaced for save in saves] == [True, False, True, False]
    assert [save.saved is not None for save in (first, *saves)] == [True, False, True, False, True]
    assert (disk.most_at_once, disk.threads) == (1, {"tierdeck-save"})


def test_a_save_that_fails_is_told_and_the_next_one_is_written(disk: Disk) -> None:
    told: list[BaseException] = []

    def tell(error: BaseException) -> str:
        told.append(error)
        return f"told: {error}"

    saver = BackgroundSaver(disk.write, tell)
    bad, good = (saver.submit(snapshot(turn), is_automatic=False) for turn in (13, 14))
    disk.may_end.release()
    disk.may_end.release()
    saver.flush()
    assert (bad.saved, bad.problem) == (None, "told: no luck")
    assert (good.saved is not None, good.problem) == (True, None)
    assert [type(error) for error in told] == [OSError]


def test_no_thread_is_left_when_nothing_is_to_be_written(disk: Disk) -> None:
    saver = BackgroundSaver(disk.write, str)
    saver.flush()
    disk.may_end.release()
    saver.submit(snapshot(1), is_automatic=True)
    saver.flush()
    for thread in threading.enumerate():
        if thread.name == "tierdeck-save":
            thread.join(WAIT_S)
            assert not thread.is_alive()


def test_a_forked_child_does_not_wait_for_a_thread_it_does_not_have(disk: Disk) -> None:
    saver = BackgroundSaver(disk.write, str)
    saver.submit(snapshot(1), is_automatic=True)
    assert disk.begun.acquire(timeout=WAIT_S)
    child = os.fork()
    if child == 0:
        saver.flush()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    disk.may_end.release()
    saver.flush()


def test_the_deepest_value_is_packed_on_a_thread_of_a_program_with_small_stacks(tmp_path: Path) -> None:
    deep: list[object] = []
    for _ in range(396):
        deep = [deep]
    before = threading.stack_size(64 * 1024)
    try:
        with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
            session.turn({"deep": deep})
        assert threading.stack_size() == 64 * 1024
    finally:
        threading.stack_size(before)
    with open_session(None, "s", checkpoints=tmp_path) as session:
        back = session.resume()
        assert back is not None
        assert same(back.variables["deep"], deep)
