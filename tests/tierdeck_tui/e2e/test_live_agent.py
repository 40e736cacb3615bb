"""The README's agent, run, killed and restored from the console in a real terminal; what it sent is counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.letters import SESSION, TURNS, Letters, sent
from tests.tierdeck_tui.e2e.tmux import Tmux, console_command
from tests.tierdeck_tui.screens.checkpoints_host import empty_store
from tierdeck.checkpoint.folder import list_sessions, open_session_folder

ALL = list(range(1, TURNS + 1))


def console(tmux: Tmux, folder: Path) -> None:
    """Open the Checkpoints screen on what the agent saves; the cursor is on its newest checkpoint."""
    tmux.start(console_command(empty_store(folder / "s.db")), RLM_CHECKPOINT_DIR=str(folder / "saved"))
    tmux.wait_for("1 Search")
    tmux.send("3")
    tmux.wait_for("turn 4")


def restore(tmux: Tmux, turn: int, *, rewinds: bool = False, choose: Sequence[str] = ()) -> None:
    """Open the dialog of the row under the cursor and confirm it by its turn.

    Args:
        choose: keys pressed in the list of calls.
    """
    tmux.send("R")
    tmux.wait_for(f"type the turn, {turn}")
    if rewinds:
        tmux.send("Tab", "Right")
        tmux.wait_for("✓rewind")
    if choose:
        tmux.send("Tab", "Tab", *choose)
        tmux.wait_for("3 calls: 1 run again, 1 marked done, 1 skipped")
    tmux.type(str(turn))
    tmux.wait_for(f"turn       {turn} ")
    tmux.send("Enter")
    tmux.wait_for("▸ Rewind" if rewinds else "▸ Fork")
    tmux.send("Tab", "BTab", "Enter")


def leave(tmux: Tmux) -> None:
    tmux.send("q")
    tmux.wait_for("exit=0")


def head_turn(folder: Path) -> int:
    """The turn that the session stands at."""
    [head] = [each for each in open_session_folder(folder / "saved", SESSION).listed() if each.is_head]
    return head.turn


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K27")
def test_killed_and_forked_on_the_screen_the_fork_asks_about_the_letter_in_flight_and_repeats_none(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    with Letters(tmp_path) as agent:
        agent.go_to(5)
    tmux = make_tmux(120, 32)
    console(tmux, tmp_path)
    restore(tmux, 4)
    tmux.wait_for("applied")
    leave(tmux)
    [new] = [info.session_id for info in list_sessions(tmp_path / "saved") if info.session_id != SESSION]
    assert sent(tmp_path) == ALL[:5]
    with Letters(tmp_path, new) as forked:
        said = forked.finish("done")
    assert said.startswith(f"{new}: 4 turns are done\nletter 5: ")
    assert said.endswith("9 receipts, $ 0.18\n")
    assert sent(tmp_path) == ALL
    assert head_turn(tmp_path) == 4


@pytest.mark.spec("SPEC-09.23", "SPEC-09.24", "SPEC-09.26")
@pytest.mark.case("K30")
def test_a_live_agent_goes_back_at_its_turn_s_end_and_the_screen_says_applied_only_then(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    with Letters(tmp_path) as agent:
        agent.go_to(5)
        tmux = make_tmux()
        console(tmux, tmp_path)
        tmux.wait_for("run-41  running")
        tmux.send("j")
        restore(tmux, 2, rewinds=True)
        assert "applied" not in tmux.wait_for("requested: back to turn 2")
        assert head_turn(tmp_path) == 4
        agent.go_on()
        tmux.wait_for("applied", without="requested: back to turn 2")
        assert head_turn(tmp_path) == 2
        leave(tmux)
        said = agent.finish("done", "skip", "done")
    assert re.findall(r"letter \d: it was \w+", said) == [f"letter {number}: it was done" for number in (3, 4, 5)]
    assert said.endswith("9 receipts, $ 0.24\n")  # what the branch that was left has cost stays spent
    assert sent(tmp_path) == ALL


@pytest.mark.spec("SPEC-09.23", "SPEC-09.26")
@pytest.mark.case("C14", "K28")
def test_a_dead_agent_s_session_goes_back_at_once_and_the_next_process_does_what_it_is_told(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    with Letters(tmp_path) as agent:
        agent.go_to(5)
    tmux = make_tmux()
    console(tmux, tmp_path)
    tmux.send("j")
    restore(tmux, 2, rewinds=True)
    tmux.wait_for("applied: HEAD is at turn 2")
    assert head_turn(tmp_path) == 2
    leave(tmux)
    assert sent(tmp_path) == ALL[:5]
    with Letters(tmp_path) as agent:
        said = agent.finish("done", "skip", "run again")
    assert said.startswith("run-41: 2 turns are done\nletter 3: it was done on branch")
    assert "letter 5: it was begun on branch" in said
    assert sent(tmp_path) == [*ALL[:5], 5, *ALL[5:]]


@pytest.mark.spec("SPEC-09.23", "SPEC-09.26")
@pytest.mark.case("C14", "K28")
def test_what_is_chosen_in_the_dialog_is_done_and_the_agent_asks_nothing_more(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    with Letters(tmp_path) as agent:
        agent.go_to(5)
    tmux = make_tmux(120, 32)
    console(tmux, tmp_path)
    tmux.send("j")
    done, skip, again = ["Right"] * 2, ["Right"] * 3, ["Right"]
    restore(tmux, 2, rewinds=True, choose=[*done, "Down", *skip, "Down", *again])
    tmux.wait_for("applied: HEAD is at turn 2")
    leave(tmux)
    assert sent(tmp_path) == ALL[:5]
    with Letters(tmp_path) as agent:
        said = agent.finish()
    assert said == "run-41: 2 turns are done\n9 receipts, $ 0.22\n"
    assert sent(tmp_path) == [*ALL[:5], 5, *ALL[5:]]
