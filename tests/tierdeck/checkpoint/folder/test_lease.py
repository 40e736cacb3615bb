"""The lease tells whether an agent lives, and dies with it; a forked child never has it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import SESSION, opened
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint.folder.lease import LEASE_FILE
from tierdeck.checkpoint.folder.locks import KernelLock, is_locked


@pytest.mark.spec("SPEC-09.22")
def test_one_process_has_the_lease_and_another_is_told_at_once(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    assert not folder.is_live()
    with other_process(tmp_path, SESSION) as other:
        assert other.do("lease = folder.try_lease(); result = lease.is_held") is True
        assert folder.is_live()
        assert folder.try_lease() is None
        other.do("lease.release(); lease.release()")
        assert not folder.is_live()
        with folder.try_lease() or pytest.fail("the lease was free") as lease:
            assert lease.is_held
            assert other.do("result = [folder.try_lease() is None, folder.is_live()]") == [True, True]
        assert not lease.is_held
    assert (folder.path / LEASE_FILE).exists()


def test_a_killed_process_frees_the_lease(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    with other_process(tmp_path, SESSION) as other:
        other.do("lease = folder.try_lease()")
        assert folder.is_live()
        other.kill()
        assert not folder.is_live()


def test_a_forked_child_does_not_keep_its_dead_parents_lease(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    with other_process(tmp_path, SESSION) as other:
        child = other.do(
            "lease = folder.try_lease()\n"
            "r, w = os.pipe()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    os.write(w, json.dumps([lease.is_held, folder.is_live(), folder.try_lease() is None]).encode())\n"
            "    lease.release()\n"
            "    os.write(w, b'.')\n"
            "    os.close(0); os.close(1)\n"
            "    time.sleep(60)\n"
            "    os._exit(0)\n"
            "said = b''\n"
            "while not said.endswith(b'.'):\n"
            "    said += os.read(r, 100)\n"
            "result = [child, json.loads(said[:-1]), lease.is_held, folder.is_live()]\n"
        )
        assert isinstance(child, list)
        pid, in_child, *in_parent = child
        try:
            assert in_child == [False, True, True]
            assert in_parent == [True, True]
            assert folder.is_live()
            other.kill()
            assert not folder.is_live(), "the child kept it"
            os.kill(pid, 0)
        finally:
            os.kill(pid, 9)


def test_looking_never_takes_the_lease_from_who_wants_it(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            folder.is_live()

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(200):
            lease = folder.try_lease()
            assert lease is not None
            lease.release()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_a_lock_that_nobody_ever_made_is_not_held(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "lease")
    assert os.listdir(tmp_path) == []


def test_threads_of_one_process_exclude_each_other_too(tmp_path: Path) -> None:
    one, two = KernelLock(tmp_path / "x"), KernelLock(tmp_path / "x")
    assert one.try_take()
    assert one.try_take()
    assert not two.try_take()
    one.release()
    assert two.try_take()
    two.release()
    assert not two.try_take()
