"""How far a restore and a prune are, and their end when the operator has had enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import filled, packed
from tierdeck.checkpoint.folder import (
    RetentionPolicy,
    list_sessions,
    list_trash,
    open_session_folder,
    plan_prune,
    prune,
)
from tierdeck.checkpoint.running import fork, rewind
from tierdeck.errors import StoppedError

ONE = RetentionPolicy(last_per_branch=1)


class Watcher:
    """Keeps what it is told, and stops after so many asks."""

    def __init__(self, stops_after: int | None = None) -> None:
        self.told: list[tuple[int, int]] = []
        self.asked = 0
        self._stops_after = stops_after

    def show(self, done: int, total: int) -> None:
        self.told.append((done, total))

    def should_stop(self) -> bool:
        self.asked += 1
        return self._stops_after is not None and self.asked > self._stops_after


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize("mode", ["fork", "rewind"])
def test_a_restore_tells_how_many_bytes_it_has_read_and_leaves_nothing_when_it_is_stopped(
    tmp_path: Path, mode: str
) -> None:
    folder = open_session_folder(tmp_path, "s", create=True)
    path = folder.save(packed(session_id="s", repl_state={"big": bytes(range(256)) * 40_000})).path

    def restore(watcher: Watcher) -> None:
        watch = {"on_progress": watcher.show, "should_stop": watcher.should_stop}
        if mode == "fork":
            fork(tmp_path, path, as_="t", **watch)  # type: ignore[arg-type]  # by their names
        else:
            rewind(folder, path.name, by="ann", **watch)  # type: ignore[arg-type]

    for steps in (0, 3):
        stopped = Watcher(steps)
        with pytest.raises(StoppedError, match="it was asked to stop; nothing was changed"):
            restore(stopped)
        assert len(stopped.told) == steps
        assert (folder.switched_head(), len(list_sessions(tmp_path))) == (None, 1)
    whole = Watcher()
    restore(whole)
    assert whole.told == sorted(whole.told)
    assert {total for _, total in whole.told} == {2 * path.stat().st_size}
    assert whole.told[-1][0] > path.stat().st_size


@pytest.mark.case("K16")
def test_pruning_tells_how_many_it_has_moved_and_says_what_it_had_moved_when_it_is_stopped(tmp_path: Path) -> None:
    folder = filled(tmp_path, 6)
    filled(tmp_path, 1, "other")
    planning = Watcher()
    plan = plan_prune(folder, ONE, on_progress=planning.show, should_stop=planning.should_stop)
    assert (len(plan.delete), planning.told) == (5, [(0, 1)])
    stopped = Watcher(2)
    report = prune(folder, plan, on_progress=stopped.show, should_stop=stopped.should_stop)
    assert (report.moved, report.is_stopped) == (tuple(each.file for each in plan.delete[:2]), True)
    assert (stopped.told, report.moved_bytes) == (
        [(1, 5), (2, 5)],
        sum(each.size_bytes for each in plan.delete[:2]),
    )
    assert [each.sequence for each in list_trash(folder)] == [1, 2]
    rest = prune(folder, plan_prune(folder, ONE))
    assert (len(rest.moved), rest.is_stopped) == (3, False)


def test_a_plan_to_prune_that_is_stopped_is_none(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    filled(tmp_path, 1, "other")
    with pytest.raises(StoppedError):
        plan_prune(folder, ONE, should_stop=lambda: True)
    assert list_trash(folder) == []
