"""promote, approve, dismiss, hold, release, sweep and undo: what moves, what is refused, how it ends."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.promotion_history import BACK, DUE, KNOWN, MANUAL, NEAR, STALE, make_history, visit
from tests.tierdeck_tui.cli.terminal import command_line, in_terminal, piped
from tierdeck.model import AccessKind, NodeDraft
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.store import add_nodes, get_node, open_store


@pytest.fixture
def history(db: Path) -> Path:
    """The store with a past."""
    make_history(db)
    return db


def tier(db: Path, node_id: str) -> str:
    with open_store(db, read_only=True) as store:
        return get_node(store, node_id).tier.value


@pytest.mark.spec("SPEC-09.15")
def test_promote_moves_by_hand_with_a_reason_and_holds_it_there(run: Command, history: Path) -> None:
    result = run("promote", "bbbb", "--to", "longterm", "--reason", "needed at every deploy")
    assert (result.exit_code, result.stdout) == (0, f"{NEAR}\n")
    assert "the rules: needs 1 more pull in one session" in result.stderr
    assert tier(history, NEAR) == "longterm"
    [hold] = json.loads(run("holds", "--json").stdout)["holds"]
    assert (hold["node_id"], hold["until_ms"], hold["reason"]) == (NEAR, None, "needed at every deploy")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--to", "longterm"), "--reason"),
        (("--to", "longterm", "--reason", " x "), "3"),
        (("--to", "elsewhere", "--reason", "good reason"), "--to"),
        (("--to", "task", "--reason", "good reason", "--until", "2001-01-01"), "after now"),
        (("--to", "task", "--reason", "good reason", "--until", "soon"), "soon"),
        (("--to", "task", "--reason", "good reason", "--until", "3d", "--no-hold"), "exclude"),
    ],
)
def test_promote_refuses_what_is_wrong_and_moves_nothing(
    run: Command, history: Path, args: tuple[str, ...], said: str
) -> None:
    result = run("promote", NEAR, *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert tier(history, NEAR) == "task"


@pytest.mark.spec("SPEC-09.15")
def test_a_dry_run_says_what_moves_what_is_held_and_what_stands_there_already(run: Command, history: Path) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    asked = ("promote", NEAR, KNOWN, STALE, "--to", "longterm", "--reason", "good reason", "--dry-run")
    text = run(*asked).stdout
    assert "1 memory would move to longterm" in text
    assert "1 memory held, and passed over" in text
    assert "1 memory already in longterm" in text
    found = json.loads(run(*asked, "--json").stdout)
    assert ([each["node_id"] for each in found["moves"]], found["unchanged"]) == ([NEAR], [STALE])
    assert "2 memories would move" in run(*asked, "--held").stdout
    assert [tier(history, node_id) for node_id in (NEAR, KNOWN)] == ["task", "session"]


def test_a_memory_that_is_there_already_is_no_refusal(run: Command, history: Path) -> None:
    result = run("promote", STALE, "--to", "longterm", "--reason", "good reason", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"run_id": None, "moved": [], "refused": [], "unchanged": [STALE]}


@pytest.mark.spec("SPEC-09.15")
def test_of_several_the_held_ones_are_refused_and_it_ends_with_10(run: Command, history: Path) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    result = run("promote", NEAR, KNOWN, STALE, "--to", "longterm", "--reason", "good reason", "--yes")
    assert (result.exit_code, result.stdout) == (10, f"{NEAR}\n")
    assert "cccc3333" in result.stderr
    assert "1 memory stood so already" in result.stderr
    assert tier(history, KNOWN) == "session"


def test_several_are_moved_only_when_that_was_confirmed(run: Command, history: Path) -> None:
    asked = ("promote", NEAR, DUE, "--to", "longterm", "--reason", "good reason")
    refused = run(*asked)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--yes" in refused.stderr
    assert tier(history, NEAR) == "task"
    assert run(*asked, "--yes").stdout.split() == [NEAR, DUE]


def test_at_a_terminal_it_asks_after_the_preview(history: Path) -> None:
    asked = ("promote", NEAR, DUE, "--to", "longterm", "--reason", "good reason")
    no = in_terminal(history, *asked, answers=[("[y/N]", "n\n")])
    assert no.exit_code == 130
    assert no.shown.index("2 memories would move to longterm") < no.shown.index("move 2 memories to longterm?")
    assert tier(history, NEAR) == "task"
    assert in_terminal(history, *asked, answers=[("[y/N]", "y\n")]).exit_code == 0
    assert tier(history, NEAR) == "longterm"


@pytest.mark.spec("SPEC-09.15")
def test_approve_moves_candidates_and_says_what_the_others_lack(run: Command, history: Path) -> None:
    result = run("approve", DUE, NEAR, "--yes")
    assert (result.exit_code, result.stdout) == (10, f"{DUE}\n")
    assert "bbbb2222" in result.stderr
    assert (tier(history, DUE), tier(history, NEAR)) == ("session", "task")
    assert run("approve", NEAR).exit_code == 5


def test_approve_all_takes_every_candidate_of_a_rule(run: Command, history: Path) -> None:
    assert run("approve", "--all", "--rule", "archive-longterm").stdout.split() == [BACK]
    assert set(run("approve", "--all", "--yes", "--json").stdout.split('"')) >= {DUE, STALE}
    assert (tier(history, BACK), tier(history, STALE)) == ("longterm", "archive")
    nothing = run("approve", "--all")
    assert (nothing.exit_code, nothing.stdout) == (0, "")


def test_approve_takes_ids_or_all(run: Command, history: Path) -> None:
    assert run("approve").exit_code == 2
    assert run("approve", DUE, "--all").exit_code == 2
    assert run("approve", DUE, "--rule", "task-session").exit_code == 2


def test_ids_of_candidates_go_through_a_pipe(run: Command, history: Path) -> None:
    ids = run("candidates", "--rule", "task-session", "--ids").stdout
    assert run("approve", "-", stdin=ids).stdout == ids


def test_a_dismissed_candidate_is_gone_until_it_is_pulled_again(run: Command, history: Path) -> None:
    assert run("dismiss", DUE, "--reason", "not yet").stdout.split() == [DUE]
    assert DUE not in run("candidates", "--ids").stdout
    assert "dismissed" in run("why", DUE).stdout
    assert run("dismiss", NEAR).exit_code == 5
    with open_store(history) as store:
        visit(store, "s-9", [DUE], None)
    assert DUE in run("candidates", "--ids").stdout


@pytest.mark.spec("SPEC-09.15")
def test_a_held_memory_is_no_candidate_until_it_is_released(run: Command, history: Path) -> None:
    assert run("hold", DUE, "--reason", "keep it here", "--until", "30d").stdout.split() == [DUE]
    assert DUE not in run("candidates", "--ids").stdout
    text = run("holds").stdout
    assert "aaaa1111  task" in text
    assert "keep it here" in text
    assert run("release", DUE).stdout.split() == [DUE]
    assert DUE in run("candidates", "--ids").stdout
    assert run("release", DUE).exit_code == 5


def test_a_held_memory_that_another_program_moved_is_flagged(run: Command, history: Path) -> None:
    run("hold", DUE, "--reason", "keep it here")
    with open_store(history) as store, store.writing() as conn:
        conn.execute("UPDATE nodes SET tier = 'archive' WHERE id = ?", (DUE,))
    result = run("holds")
    assert "moved to archive by another program" in result.stdout
    assert "1 held memory was moved by another program" in result.stderr


@pytest.mark.spec("SPEC-09.12")
@pytest.mark.case("P11", "P13")
def test_the_first_sweep_only_says_what_would_move_until_it_is_applied(run: Command, history: Path) -> None:
    first = run("sweep")
    assert first.exit_code == 0
    assert "2 memories would move" in first.stdout
    assert "for example:" in first.stdout
    assert "tierdeck sweep --apply" in first.stderr
    assert (tier(history, DUE), tier(history, STALE)) == ("task", "longterm")
    document = json.loads(run("sweep", "--json").stdout)
    assert (document["is_dry_run"], document["plan"]["due_rows"], document["report"]) == (True, 2, None)
    applied = run("sweep", "--apply")
    assert applied.exit_code == 0
    assert applied.stdout == "moved 2 of 2\n"
    assert (tier(history, DUE), tier(history, STALE), tier(history, BACK)) == ("session", "archive", "archive")
    again = run("sweep")
    assert (again.stdout, again.exit_code) == ("moved 0 of 0\n", 0)
    assert "nothing is due" in again.stderr


def test_a_later_sweep_needs_no_word_for_a_few(run: Command, history: Path) -> None:
    run("sweep", "--apply")
    with open_store(history) as store:
        visit(store, "s-9", [NEAR, NEAR], None)
    result = run("sweep", "--json")
    assert json.loads(result.stdout)["report"]["moved"] == [NEAR]
    assert run("sweep", "--dry-run", "--apply").exit_code == 2


@pytest.mark.spec("SPEC-09.15")
def test_undo_takes_back_the_newest_deed_be_it_a_change_or_a_move(run: Command, history: Path) -> None:
    run("edit", NEAR, "--confidence", "0.5")
    run("promote", NEAR, "--to", "longterm", "--reason", "good reason")
    first = run("undo", NEAR)
    assert first.stdout.split() == [NEAR]
    assert "took back #" in first.stderr
    assert tier(history, NEAR) == "task"
    assert json.loads(run("holds", "--json").stdout)["holds"] == []
    run("undo", NEAR)
    with open_store(history) as store:
        assert get_node(store, NEAR).confidence == 0.9
    assert run("undo", NEAR).exit_code == 4


@pytest.mark.spec("SPEC-09.15")
def test_undo_and_redo_of_a_move_go_there_and_back(run: Command, history: Path) -> None:
    run("promote", NEAR, "--to", "longterm", "--reason", "good reason")
    run("undo", NEAR)
    assert "taken back · by hand" in run("log").stdout
    assert run("undo", NEAR, "--redo").exit_code == 0
    assert tier(history, NEAR) == "longterm"
    assert "taken back · by hand" not in run("log").stdout


@pytest.mark.spec("SPEC-09.15")
def test_undo_of_several_lists_those_that_can_not_be_taken_back_and_ends_with_10(
    run: Command, history: Path
) -> None:
    run("promote", DUE, "--to", "longterm", "--reason", "good reason")
    result = run("undo", DUE, KNOWN)
    assert (result.exit_code, result.stdout) == (10, f"{DUE}\n")
    assert "cccc3333" in result.stderr
    assert "1 refused" in result.stderr


@pytest.mark.spec("SPEC-09.15")
def test_undo_of_a_run_takes_back_all_but_what_moved_since(run: Command, history: Path) -> None:
    run("sweep", "--apply")
    [swept] = json.loads(run("runs", "--json").stdout)["runs"]
    run("promote", DUE, "--to", "longterm", "--reason", "good reason")
    result = run("undo", "--run", str(swept["id"]), "--json")
    assert result.exit_code == 10
    document = json.loads(result.stdout)
    assert document["undone"] == [STALE]
    assert [each["node_id"] for each in document["refused"]] == [DUE]
    assert (tier(history, STALE), tier(history, DUE)) == ("longterm", "longterm")


@pytest.mark.spec("SPEC-09.14")
def test_a_run_is_undone_once_and_redone_by_the_undos_number(run: Command, history: Path) -> None:
    run("sweep", "--apply")
    assert "undone 2 memories" in run("undo", "--run", "1").stderr
    again = run("undo", "--run", "1")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "run 1 was taken back already, by run 2" in again.stderr
    assert "moved 2 of 2  taken back" in run("runs").stdout
    redone = run("undo", "--run", "2", "--json")
    assert sorted(json.loads(redone.stdout)["redone"]) == [DUE, STALE]
    assert (tier(history, DUE), tier(history, STALE)) == ("session", "archive")
    assert "undone" not in redone.stderr
    assert [each["undone"] for each in json.loads(run("runs", "--json").stdout)["runs"]] == [0, 2, 0]
    assert "run 1 was taken back and done again, by run 3: undo that one" in run("undo", "--run", "1").stderr
    assert "undone 2 memories" in run("undo", "--run", "3").stderr


def test_undo_says_when_the_evidence_begins_anew(run: Command, history: Path) -> None:
    run("approve", DUE)
    assert "its evidence begins anew" in run("undo", DUE).stderr
    assert "begins anew" not in run("undo", DUE, "--redo").stderr
    run("sweep", "--apply")
    assert (
        "its evidence begins anew"
        in run("undo", "--run", str(json.loads(run("runs", "--json").stdout)["runs"][0]["id"])).stderr
    )
    run("promote", NEAR, "--to", "longterm", "--reason", "good reason")
    assert "begins anew" not in run("undo", NEAR).stderr
    assert "its evidence begins anew" in " ".join(run("undo", "--help").stdout.split())


def test_redo_without_an_id_says_what_it_needs(run: Command, history: Path) -> None:
    result = run("undo", "--redo")
    assert result.exit_code == 2
    assert "--redo takes the ids of the memories" in result.stderr


def test_undo_by_the_number_of_the_log_needs_no_id(run: Command, history: Path) -> None:
    run("promote", NEAR, "--to", "longterm", "--reason", "good reason", "--no-hold")
    [row] = json.loads(run("log", "--kind", "override", "--json").stdout)["log"]
    result = run("undo", "--log", str(row["id"]), "--json")
    [undone] = json.loads(result.stdout)["undone"]
    assert undone["log_entry"]["undoes"] == row["id"]
    assert tier(history, NEAR) == "task"
    assert run("undo", "--log", "999").exit_code == 4


def test_undo_takes_ids_or_a_number(run: Command, history: Path) -> None:
    assert run("undo").exit_code == 2
    assert run("undo", NEAR, "--run", "1").exit_code == 2
    assert run("undo", NEAR, "--log", "1", "--redo").exit_code == 2
    assert run("undo", NEAR, DUE, "--revision", "1").exit_code == 2


@pytest.mark.parametrize("verb", ["promote", "approve", "dismiss", "hold", "release", "undo"])
def test_a_store_opened_for_reading_is_refused(run: Command, history: Path, verb: str) -> None:
    more = {"promote": ("--to", "longterm", "--reason", "good reason"), "hold": ("--reason", "good reason")}
    result = run("--read-only", verb, DUE, *more.get(verb, ()))
    assert result.exit_code in (3, 4)
    assert result.stdout == ""
    assert tier(history, DUE) == "task"


def test_as_processes_of_their_own_the_verbs_work_in_a_pipe(history: Path) -> None:
    listed = piped(history, "candidates", "--rule", "task-session", "--ids")
    assert listed.stdout.decode().split() == [DUE]
    approved = piped(history, "approve", "-", stdin=listed.stdout)
    assert (approved.returncode, approved.stdout) == (0, listed.stdout)
    swept = piped(history, "sweep", "--apply", "--json")
    assert json.loads(swept.stdout)["report"]["moved"] == [STALE]


@pytest.mark.spec("SPEC-09.12")
def test_ctrl_c_ends_a_sweep_between_two_chunks_and_another_one_does_the_rest(db: Path) -> None:
    ids = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(1_500)]
    with open_store(db, create=True) as store:
        add_nodes(store, [NodeDraft(f"memory {node_id}", id=node_id) for node_id in ids])
        for _ in range(2):
            record_accesses(store, meet_session(store, "s").id, ids, AccessKind.PULL, settings=MANUAL)
    command = command_line(db, "sweep", "--apply")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    other = sqlite3.connect(db, isolation_level=None)
    end = time.monotonic() + 60
    while not moved_rows(other) and time.monotonic() < end:
        time.sleep(0.002)
    other.execute("BEGIN IMMEDIATE")  # the sweep waits for the store until the signal has come
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    other.execute("ROLLBACK")
    out, err = process.communicate()
    moved = moved_rows(other)
    other.close()
    assert process.returncode == 130
    assert 0 < moved < len(ids)
    assert out.decode() == f"moved {moved:,} of {len(ids):,}\n"
    assert b"the same command again does the rest" in err
    rest = piped(db, "sweep")
    assert rest.stdout.decode() == f"moved {len(ids) - moved:,} of {len(ids) - moved:,}\n"


def moved_rows(conn: sqlite3.Connection) -> int:
    [(found,)] = conn.execute("SELECT count(*) FROM td_promotion_log WHERE kind = 'auto'")
    return int(found)
