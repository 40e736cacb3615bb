"""sessions, access, candidates, near, why, what-if, log, runs: what they print, and what they say of nothing."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.promotion_history import BACK, DUE, KNOWN, NEAR, STALE, make_history
from tierdeck.maintenance.backup import backup
from tierdeck.store import get_node, open_store

_TABLES = (
    "nodes",
    "td_access",
    "td_session",
    "td_facts",
    "td_promotion_log",
    "td_promotion_run",
    "td_setting",
)
READING = ("sessions", "candidates", "near", "holds", "log", "runs")


@pytest.fixture
def history(db: Path) -> Path:
    """The store with a past."""
    make_history(db)
    return db


def rows_of(db: Path) -> dict[str, object]:
    """Every row of the tables that a verb could write to."""
    with open_store(db, read_only=True) as store:
        return {table: store.read(partial(_rows, table=table)) for table in _TABLES}


def _rows(conn: apsw.Connection, table: str) -> object:
    return conn.execute(f"SELECT * FROM {table}").fetchall()


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P01", "P02")
def test_sessions_lists_each_with_its_root_and_pulls_and_pushes_apart(run: Command, history: Path) -> None:
    found = json.loads(run("sessions", "--json").stdout)["sessions"]
    by_name = {each["session"]["external_id"]: each for each in found}
    assert (by_name["s-2"]["root"], by_name["s-2"]["pulls"], by_name["s-2"]["pushes"]) == ("root", 3, 2)
    assert (by_name["s-1"]["root"], by_name["s-1"]["pulls"], by_name["s-1"]["pushes"]) == ("s-1", 3, 0)
    text = run("sessions").stdout
    assert "s-2  3 pulls · 2 pushes" in text
    assert "part of root" in text
    assert "coder · shop" in text


def test_sessions_are_filtered_and_limited(run: Command, history: Path) -> None:
    assert len(json.loads(run("sessions", "--json", "--limit", "1").stdout)["sessions"]) == 1
    assert len(json.loads(run("sessions", "--json", "--agent", "coder").stdout)["sessions"]) == 2
    result = run("sessions", "--project", "other")
    assert result.stdout == ""
    assert "no session is recorded of those" in result.stderr


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P02", "P14")
def test_access_shows_pulls_pushes_and_the_count_that_other_programs_raise_too(run: Command, history: Path) -> None:
    with open_store(history) as store, store.writing() as conn:
        conn.execute("UPDATE nodes SET access_count = access_count + 5 WHERE id = ?", (NEAR,))
    text = run("access", NEAR[:6]).stdout
    assert "1 pull recorded, in 1 root session · 1 push · listed 0×" in text
    assert "6 by the memory's own counter" in text
    assert "s-2  1 pull · 1 push" in text
    found = json.loads(run("access", NEAR, "--json").stdout)
    assert (found["summary"]["pulls"], found["summary"]["pushes"], found["access_count"]) == (1, 1, 6)


@pytest.mark.case("P16")
@pytest.mark.parametrize(
    "args",
    [("sessions",), ("access", STALE), ("candidates",), ("near",), ("why", STALE), ("show", STALE), ("log",),
     ("runs",), ("holds",), ("what-if", "--archive-days", "1"), ("sweep", "--dry-run"), ("log", "verify"),
     ("promote", STALE, "--to", "task", "--reason", "only looking", "--dry-run")],
)  # fmt: skip
def test_looking_writes_nothing(run: Command, history: Path, args: tuple[str, ...]) -> None:
    before = rows_of(history)
    assert run(*args).exit_code == 0
    assert rows_of(history) == before


@pytest.mark.spec("SPEC-09.11")
def test_candidates_are_what_passes_every_criterion(run: Command, history: Path) -> None:
    result = run("candidates")
    assert result.exit_code == 0
    assert "aaaa1111 task → session     fact        90%" in result.stdout
    assert "deploys use blue green switching" in result.stdout
    assert set(run("candidates", "--ids").stdout.split()) == {DUE, STALE, BACK}
    only = json.loads(run("candidates", "--rule", "task-session", "--json").stdout)
    assert [each["decision"]["node_id"] for each in only["candidates"]] == [DUE]
    assert only["candidates"][0]["decision"]["is_due"] is True
    assert only["total"] == 1


def test_a_list_that_is_cut_says_how_many_more_there_are(run: Command, history: Path) -> None:
    result = run("candidates", "--limit", "1", "--ids")
    assert len(result.stdout.split()) == 1
    assert "2 more; --limit" in result.stderr


def test_near_lists_what_lacks_one_thing_and_which(run: Command, history: Path) -> None:
    text = run("near").stdout
    assert "needs 1 more pull in one session" in text
    assert "needs 1 more session" in text
    assert set(run("near", "--ids").stdout.split()) == {NEAR, KNOWN}


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_why_says_each_criterion_with_found_and_needed(run: Command, history: Path) -> None:
    text = run("why", KNOWN[:4]).stdout
    assert "session → longterm: needs 1 more session" in text
    assert "✗ fail sessions                       2 ≥ 3" in text
    assert "✓ pass confidence held              0.9 ≥ 0.8" in text
    assert "2 pulls recorded in 2 root sessions" in text
    found = json.loads(run("why", KNOWN, "--json").stdout)
    words = {each["name"]: each["words"] for each in found["decision"]["criteria"]}
    assert words["sessions"] == "needs 1 more session"
    assert found["hold"] is None


def test_why_shows_the_hold_and_what_was_decided(run: Command, history: Path) -> None:
    run("hold", STALE, "--reason", "still asked for")
    text = run("why", STALE).stdout
    assert "held: no rule moves it" in text
    assert "without end" in text
    assert "still asked for" in text
    assert "held in longterm" in text


def test_show_tells_who_moved_it_and_why_once(run: Command, history: Path) -> None:
    run("promote", STALE, "--to", "archive", "--reason", "host is gone")
    text = run("show", STALE).stdout
    assert text.count("longterm → archive") == 1
    assert "host is gone" in text
    [found] = json.loads(run("show", STALE, "--json").stdout)["memories"]
    assert found["promotion_log"][0]["reason"] == "host is gone"
    assert found["hold"]["tier"] == "archive"
    assert found["decision"]["from_tier"] == "archive"


def test_what_if_compares_candidates_and_changes_nothing(run: Command, history: Path) -> None:
    result = run("what-if", "--session-pulls", "1", "--archive-days", "1000")
    assert "task → session" in result.stdout
    assert "would move then, and not now:" in result.stdout
    found = json.loads(run("what-if", "--session-pulls", "1", "--archive-days", "1000", "--json").stdout)
    assert (found["now"]["task-session"], found["then"]["task-session"]) == (1, 2)
    assert (found["now"]["longterm-archive"], found["then"]["longterm-archive"]) == (1, 0)
    assert [each["row"]["id"] for each in found["gained"]] == [NEAR]
    assert [each["row"]["id"] for each in found["lost"]] == [STALE]


def test_what_if_wants_a_number_that_the_settings_would_take(run: Command, history: Path) -> None:
    assert run("what-if").exit_code == 2
    refused = run("what-if", "--longterm-confidence", "1.5")
    assert refused.exit_code == 2
    assert "1.5" in refused.stderr


@pytest.mark.parametrize("verb", READING)
def test_nothing_to_list_is_said_on_stderr_and_prints_nothing(run: Command, filled: list[str], verb: str) -> None:
    result = run(verb)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.strip()
    document = json.loads(run(verb, "--json").stdout)
    assert [] in document.values()


@pytest.mark.parametrize("verb", [*READING, "sweep"])
def test_a_store_that_is_not_adopted_is_refused_with_what_to_do(
    run: Command, db: Path, family_store_path: Path, verb: str
) -> None:
    result = run("--db", str(family_store_path), verb)
    assert result.exit_code == 3
    assert "tierdeck adopt" in result.stderr
    assert result.stdout == ""


@pytest.mark.spec("SPEC-09.14")
def test_log_lists_the_newest_first_and_filters(run: Command, history: Path) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    run("promote", STALE, "--to", "archive", "--reason", "host is gone", "--no-hold")
    text = run("log").stdout
    assert text.index("longterm → archive") < text.index("held in session")
    by_kind = json.loads(run("log", "--kind", "hold", "--json").stdout)
    assert [entry["node_id"] for entry in by_kind["log"]] == [KNOWN]
    assert [e["node_id"] for e in json.loads(run("log", "--tier", "archive", "--json").stdout)["log"]] == [STALE]
    assert [e["node_id"] for e in json.loads(run("log", "--node", "dddd", "--json").stdout)["log"]] == [STALE]
    assert run("log", "--since", "1h").stdout == text
    nothing = run("log", "--until", "1h")
    assert nothing.stdout == ""
    assert "no such row" in nothing.stderr
    assert "1 older ones" in run("log", "--limit", "1").stderr
    assert run("log", "--since", "soon").exit_code == 2


@pytest.mark.spec("SPEC-09.14")
def test_log_verify_names_the_first_row_that_does_not_fit_and_ends_with_3(run: Command, history: Path) -> None:
    for node_id in (KNOWN, STALE, DUE):
        run("hold", node_id, "--reason", "keep it here")
    good = run("log", "verify")
    assert good.exit_code == 0
    assert good.stdout.startswith("good: 3 rows, head 3:")
    with open_store(history) as store, store.writing() as conn:
        conn.execute("DROP TRIGGER td_promotion_log_update")
        conn.execute("UPDATE td_promotion_log SET reason = 'another' WHERE id = 2")
    bad = run("log", "verify", "--json")
    assert bad.exit_code == 3
    check = json.loads(bad.stdout)
    assert (check["is_good"], check["check"]["first_bad"]) == (False, 2)
    assert run("log", "verify").stdout.startswith("NOT GOOD: row 2")


@pytest.mark.spec("SPEC-09.14")
def test_log_verify_compares_with_the_head_that_a_backup_or_the_operator_kept(
    run: Command, history: Path, tmp_path: Path
) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    kept = tmp_path / "kept.db"
    with open_store(history) as store:
        backup(store, kept)
    exported = tmp_path / "kept.jsonl"
    run("export", "--out", str(exported))
    head = json.loads(run("log", "verify", "--json").stdout)["check"]["head"]
    run("hold", STALE, "--reason", "keep it here")
    for against in (str(kept), str(exported), head):
        assert run("log", "verify", "--against", against).exit_code == 0
    other = f"1:{'0' * (len(head) - 2)}"
    assert run("log", "verify", "--against", other).exit_code == 3
    assert run("log", "verify", "--against", str(tmp_path / "none")).exit_code == 3
    (tmp_path / "text").write_text("no export\n")
    assert run("log", "verify", "--against", str(tmp_path / "text")).exit_code == 3


@pytest.mark.spec("SPEC-09.14")
def test_rows_cut_off_the_end_together_with_the_head_show_against_a_backup(
    run: Command, history: Path, tmp_path: Path
) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    run("hold", STALE, "--reason", "keep it here")
    kept = tmp_path / "kept.db"
    with open_store(history) as store:
        backup(store, kept)
        with store.writing() as conn:
            conn.execute("DROP TRIGGER td_promotion_log_delete")
            conn.execute("DELETE FROM td_promotion_log WHERE id = 2")
            conn.execute(
                "UPDATE td_setting SET value = (SELECT id || ':' || digest FROM td_promotion_log) "
                "WHERE key = 'promotion_log_head'"
            )
    assert run("log", "verify").exit_code == 0
    result = run("log", "verify", "--against", str(kept))
    assert result.exit_code == 3
    assert "2" in result.stdout


def test_the_log_of_a_memory_that_is_gone_is_found_by_its_full_id(run: Command, history: Path) -> None:
    run("hold", KNOWN, "--reason", "keep it here")
    with open_store(history) as store, store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (KNOWN,))
    assert "held in session" in run("log", "--node", KNOWN).stdout
    assert run("log", "--node", "cccc").exit_code == 4


def test_the_log_shows_how_each_memory_begins(run: Command, history: Path) -> None:
    run("hold", DUE, "--reason", "good reason")
    assert "   deploys use blue green switching" in run("log").stdout


def test_the_logs_filters_take_the_beginning_of_a_name_as_the_console_does(run: Command, history: Path) -> None:
    run("sweep", "--apply")
    found = json.loads(run("log", "--rule", "task", "--kind", "au", "--tier", "SESSION", "--json").stdout)["log"]
    assert [each["rule"] for each in found] == ["task-session"]
    assert run("log", "--rule", "nosuch").exit_code == 2
    assert json.loads(run("candidates", "--rule", "arch", "--json").stdout)["total"] == 1


def test_why_of_a_dismissed_memory_that_is_held_too_says_both(run: Command, history: Path) -> None:
    run("dismiss", DUE)
    assert run("why", DUE).stdout.count("waits for new evidence") == 1
    run("hold", DUE, "--reason", "good reason")
    text = run("why", DUE).stdout
    assert "held in task since" in text
    assert "dismissed: waits for new evidence" in text


def test_options_of_the_list_and_of_verify_do_not_mix(run: Command, history: Path) -> None:
    assert run("log", "verify", "--actor", "x").exit_code == 2
    assert run("log", "--against", "0:").exit_code == 2


def test_runs_lists_what_ran_over_several(run: Command, history: Path) -> None:
    run("sweep", "--apply")
    text = run("runs").stdout
    assert "sweep  moved 2 of 2" in text
    [found] = json.loads(run("runs", "--json").stdout)["runs"]
    assert (found["kind"], found["moved"]) == ("sweep", 2)
    assert {e["node_id"] for e in json.loads(run("log", "--run", str(found["id"]), "--json").stdout)["log"]} == {
        DUE,
        STALE,
    }


def test_what_an_operator_looks_at_is_no_access(run: Command, history: Path) -> None:
    with open_store(history) as store:
        before = get_node(store, NEAR)
    for args in (("show", NEAR), ("why", NEAR), ("access", NEAR), ("search", "deploy", "--alpha", "0")):
        run(*args)
    with open_store(history) as store:
        assert get_node(store, NEAR) == before
