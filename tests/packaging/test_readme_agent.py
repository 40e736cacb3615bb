"""The README's agent: it prints what stands below it after a real `kill -9`, and the commands do what is said."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck_tui.e2e.letters import README, SESSION, TURNS, Letters, agent_text, sent
from tierdeck.checkpoint.folder import list_sessions, open_session_folder
from tierdeck.checkpoint.running import questions_of
from tierdeck_tui.cli import cli

_PAGE = README.split("### A session that saves itself")[1].split("## Commands")[0]
ALL = list(range(1, TURNS + 1))


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of an agent that was killed while its fifth letter was on its way."""
    with Letters(tmp_path) as agent:
        agent.go_to(5)
    return tmp_path


def test_the_page_is_short_and_its_agent_is_laid_out_as_code() -> None:
    assert len(agent_text().splitlines()) <= 40
    check = [sys.executable, "-m", "ruff", "format", "--check", "--line-length", "116", "-"]
    assert subprocess.run(check, input=agent_text(), capture_output=True, text=True, check=False).returncode == 0


@pytest.mark.spec("SPEC-09.23", "SPEC-09.24")
@pytest.mark.case("C14", "K27")
def test_killed_in_its_fifth_letter_it_says_what_stands_there_and_sends_no_letter_twice(killed: Path) -> None:
    [printed] = re.findall(r"so it asks:\n\n```\n(.+?)```", _PAGE, re.DOTALL)
    answer = "done"
    assert f"abort? {answer}\n" in printed
    with Letters(killed) as agent:
        said = agent.finish(answer)
    assert said == printed.replace(f"abort? {answer}\n", "abort? ")
    assert sent(killed) == ALL


def test_it_runs_as_it_stands_there(tmp_path: Path) -> None:
    text = agent_text().replace("time.sleep(1)", "time.sleep(0)")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("run-41: 0 turns are done\n9 receipts, $ 0.18\n", "")


@pytest.mark.spec("SPEC-09.23")
def test_its_commands_compare_fork_and_rewind_and_both_sessions_go_on_without_a_letter_twice(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(killed)
    commands = re.findall(r"^tierdeck (checkpoint .+)$", _PAGE, re.MULTILINE)
    assert [command.split()[3] for command in commands] == ["list", "operations", "diff", "restore", "restore"]
    for command in commands:
        done = CliRunner().invoke(cli, shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
    assert sent(killed) == ALL[:5]
    assert {info.session_id for info in list_sessions(killed / "saved")} == {SESSION, "run-42"}
    [head] = [each for each in open_session_folder(killed / "saved", SESSION).listed() if each.is_head]
    assert head.turn == 2
    with Letters(killed, "run-42") as forked:
        said = forked.finish("done", "done", "skip")
    assert said.startswith("run-42: 2 turns are done\n")
    assert sent(killed) == ALL
    with Letters(killed) as agent:
        agent.finish("done", "done", "skip")
    assert sent(killed) == [*ALL, 6, 7, 8, 9]  # the fork's letters are not this session's


@pytest.mark.spec("SPEC-09.23")
def test_a_letter_that_was_decided_before_is_not_asked_about(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(killed)
    [question] = questions_of(open_session_folder(killed / "saved", SESSION))
    [decide] = re.findall(rf"`(decide {SESSION} ID done)`", _PAGE)
    words = decide.replace("ID", question.about.op_id).split()
    assert CliRunner().invoke(cli, ["checkpoint", "--checkpoints", "saved", *words]).exit_code == 0
    with Letters(killed) as agent:
        assert agent.finish() == "run-41: 4 turns are done\n9 receipts, $ 0.18\n"
    assert sent(killed) == ALL


def test_what_the_tour_says_of_the_demo_s_live_agent_is_so(tmp_path: Path) -> None:
    [demo] = re.findall(r"`tierdeck (demo --keep DIR --agent)`", README)
    [module, store] = re.findall(r"`\.venv/bin/python -m (\S+) (DIR/demo\.db)`", README)[0]
    assert CliRunner().invoke(cli, shlex.split(demo.replace("DIR", str(tmp_path)))).exit_code == 0
    command = [sys.executable, "-m", module, store.replace("DIR", str(tmp_path)), "--turns", "5", "--pace", "0.02"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert len((tmp_path / "demo-outbox.txt").read_text("utf-8").splitlines()) == 5
    asked = ["checkpoint", "--checkpoints", str(tmp_path / "demo-checkpoints"), "var", "s-15:2", "pid"]
    assert f"process {CliRunner().invoke(cli, asked).output.strip()}\n" in done.stdout
