"""list, show, vars, var, diff and verify: what they say, and that looking changes and runs nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck.checkpoint.sample import sample
from tests.tierdeck_tui.cli.checkpoint.conftest import HOSTILE, SECRET, SESSION, Command
from tierdeck.checkpoint import open_checkpoint, pack_checkpoint
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.folder.trash import move_to_trash
from tierdeck_tui.cli import cli
from tierdeck_tui.view.format import size


def everything(root: Path) -> dict[Path, tuple[bytes, int]]:
    return {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in root.rglob("*") if each.is_file()}


def test_sessions_are_listed_with_what_they_have(run: Command, session: SessionFolder) -> None:
    result = run("list")
    assert result.exit_code == 0
    [row] = result.stdout.splitlines()
    assert row.startswith(f"{SESSION}  not running  3 checkpoints · ")
    [info] = json.loads(run("list", "--json").stdout)["sessions"]
    assert (info["session_id"], info["checkpoints"], info["is_live"]) == (SESSION, 3, False)


def test_no_session_at_all_is_said_and_no_error(run: Command, root: Path) -> None:
    root.mkdir()
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"no session has a checkpoint in {root}" in result.stderr


def test_a_folder_that_no_option_names_need_not_be_there_yet(
    tmp_path: Path, isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = CliRunner().invoke(cli, ["checkpoint", "list"], prog_name="tierdeck")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"there is no folder {isolated_environment / 'state' / 'tierdeck' / 'checkpoints'} yet" in result.stderr
    assert "--checkpoints" in result.stderr
    monkeypatch.setenv("RLM_CHECKPOINT_DIR", str(tmp_path / "later"))
    result = CliRunner().invoke(cli, ["checkpoint", "list"], prog_name="tierdeck")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"there is no folder {tmp_path / 'later'} yet" in result.stderr


@pytest.mark.parametrize(
    "verb",
    ["list", "list s", "show s:1", "vars s:1", "verify s:1", "operations s", "pin s:1", "prune s", "trash s"],
)
@pytest.mark.parametrize("before_any_verb", [False, True])
def test_a_folder_that_was_mistyped_is_an_error_and_no_empty_list(
    tmp_path: Path, verb: str, before_any_verb: bool
) -> None:
    given = ["--checkpoints", str(tmp_path / "tpyo")]
    words = ["checkpoint", *verb.split()]
    args = [*given, *words] if before_any_verb else [*words, *given]
    result = CliRunner().invoke(cli, args, prog_name="tierdeck")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"there is no folder {tmp_path / 'tpyo'}" in result.stderr
    assert not (tmp_path / "tpyo").exists()


def test_a_file_or_one_sessions_folder_in_the_place_of_the_folder_is_refused_with_what_to_do(
    session: SessionFolder, tmp_path: Path
) -> None:
    def said(place: Path) -> str:
        result = CliRunner().invoke(cli, ["checkpoint", "list", "--checkpoints", str(place)], prog_name="tierdeck")
        assert (result.exit_code, result.stdout) == (2, "")
        return result.stderr

    file = next(session.path.glob("*.rlmckpt"))
    assert f"`tierdeck checkpoint show {file}`" in said(file)
    assert f"--checkpoints {session.path.parent}" in said(session.path)
    other = tmp_path / "notes.txt"
    other.write_text("x")
    assert "is a file" in said(other)


def test_a_session_in_the_place_of_a_checkpoint_and_the_other_way_round_get_a_hint(
    run: Command, session: SessionFolder, root: Path
) -> None:
    lists = f"`tierdeck checkpoint list {SESSION} --checkpoints {root}`"
    for text, said in (
        (SESSION, f"{SESSION} is a session; the newest of its checkpoints is {SESSION}:3: {lists}"),
        (session.path.name, f"the newest of its checkpoints is {SESSION}:3"),
        (f"{SESSION}:99", f"none of that number: {lists}"),
        ("agnet-7", f"did you mean the session {SESSION}? {lists}"),
        ("agnet-7:2", f"did you mean the session {SESSION}?"),
        ("quite-another", "4 or more digits of its id"),
    ):
        for verb in ("show", "vars", "restore --fork --dry-run", "pin", "operations"):
            result = run(*verb.split(), text)
            if verb == "operations" and text in (SESSION, session.path.name):
                assert result.exit_code == 0
                continue
            assert result.exit_code == 4
            assert said in result.stderr
    for text in (f"{SESSION}:2", "0000000000000002", str(next(session.path.glob("*.rlmckpt")))):
        result = run("list", text)
        assert result.exit_code == 4
        assert f"is a checkpoint, of session {SESSION}" in result.stderr
    assert f"did you mean {SESSION}?" in run("list", "agent7").stderr


def test_a_file_of_another_kind_is_said_to_be_no_checkpoint(
    run: Command, session: SessionFolder, tmp_path: Path
) -> None:
    (tmp_path / "saved.json").write_text("{}")
    assert "tierdeck checkpoint import" in run("show", str(tmp_path / "saved.json")).stderr


def test_the_place_comes_from_the_flag_the_environment_or_the_settings_in_that_order(
    root: Path, session: SessionFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(*args: str) -> str:
        return CliRunner().invoke(cli, args, prog_name="tierdeck").stdout

    settings = tmp_path / "settings.toml"
    settings.write_text(f"[checkpoints]\nfolder = {json.dumps(str(root))}\n", "utf-8")
    assert listed("checkpoint", "list") == ""
    assert SESSION in listed("--config", str(settings), "checkpoint", "list")
    monkeypatch.setenv("RLM_CHECKPOINT_DIR", str(tmp_path / "nothing"))
    assert listed("--config", str(settings), "checkpoint", "list") == ""
    assert SESSION in listed("checkpoint", "list", "--checkpoints", str(root))
    assert SESSION in listed("checkpoint", "--checkpoints", str(root), "list")
    assert listed("checkpoint", "--checkpoints", str(root), "list", "--checkpoints", str(tmp_path)) == ""


def test_how_a_sessions_run_stands_is_said_in_words(run: Command, session: SessionFolder) -> None:
    def said() -> tuple[str, object, object]:
        [found] = json.loads(run("list", "--json").stdout)["sessions"]
        return run("list").stdout, found["run"], json.loads(run("list", SESSION, "--json").stdout)["run"]

    lease = session.try_lease()
    assert lease is not None
    with lease:
        lease.begin_run()
        shown, *states = said()
        assert f"{SESSION}  running  3 checkpoints" in shown
        assert states == ["running", "running"]
    shown, *states = said()
    assert f"{SESSION}  stopped without an end  3 checkpoints" in shown
    assert states == ["stopped", "stopped"]
    lease = session.try_lease()
    assert lease is not None
    with lease:
        lease.end_run()
    shown, *states = said()
    assert f"{SESSION}  ended  3 checkpoints" in shown
    assert states == ["ended", "ended"]


def test_a_sessions_size_says_how_much_of_it_lies_in_the_trash(run: Command, session: SessionFolder) -> None:
    assert "trash" not in run("list").stdout
    first = session.listed()[0]
    with session.locked():
        move_to_trash(session, [first.file], is_automatic=False)
    [found] = json.loads(run("list", "--json").stdout)["sessions"]
    assert found["trash_bytes"] == first.size_bytes
    assert found["size_bytes"] == first.size_bytes + sum(each.size_bytes for each in session.listed())
    assert f" kB, {size(first.size_bytes)} of it in the trash · " in run("list").stdout


@pytest.mark.spec("SPEC-09.22")
def test_a_sessions_checkpoints_are_listed_by_branch_the_newest_first(run: Command, session: SessionFolder) -> None:
    rows = run("list", SESSION).stdout.splitlines()
    assert rows[0] == "branch aaaaaaaa"
    assert [row.split()[:3] for row in rows[1:]] == [["3", "turn", "15"], ["2", "turn", "10"], ["1", "turn", "5"]]
    assert "HEAD" in rows[1]
    assert all("not verified · 1 lost" in row for row in rows[1:])
    found = json.loads(run("list", SESSION, "--json").stdout)["checkpoints"]
    assert [(each["sequence"], each["summary"]["lost"], each["is_head"]) for each in found] == [
        (1, 1, False),
        (2, 1, False),
        (3, 1, True),
    ]


@pytest.mark.case("C12")
@pytest.mark.case("C09")
def test_damaged_newer_and_foreign_files_are_listed_as_what_they_are(run: Command, ruins: SessionFolder) -> None:
    rows = run("list", SESSION).stdout.splitlines()
    assert any(row.split()[0] == "4" and "DAMAGED it is no checkpoint file" in row for row in rows)
    assert any(row.split()[0] == "5" and "NEWER written by a newer version (2.0)" in row for row in rows)
    states = {
        each["sequence"]: each["state"] for each in json.loads(run("list", SESSION, "--json").stdout)["checkpoints"]
    }
    assert states == {1: "not verified", 2: "not verified", 3: "not verified", 4: "damaged", 5: "newer",
                      6: "not verified", 7: "not verified"}  # fmt: skip


@pytest.mark.case("C19")
def test_a_session_is_named_by_its_whole_id_only(run: Command, root: Path) -> None:
    open_session_folder(root, "proj_b", create=True).save(pack_checkpoint(sample(session_id="proj_b")))
    result = run("list", "proj")
    assert (result.exit_code, result.stdout) == (4, "")
    assert run("list", "proj_b").stdout.count("turn 5") == 1


def test_an_id_that_can_not_be_typed_is_named_by_its_folder(run: Command, root: Path) -> None:
    folder = open_session_folder(root, "a/../b\x00\x1b", create=True)
    folder.save(pack_checkpoint(sample(session_id="a/../b\x00\x1b")))
    assert "turn 5" in run("list", folder.path.name).stdout
    assert "\x1b" not in run("list").stdout


@pytest.mark.parametrize("name", [f"{SESSION}:3", "0000000000000003"])
def test_a_checkpoint_is_named_by_number_or_id(run: Command, session: SessionFolder, name: str) -> None:
    text = run("show", name).stdout
    assert "turn       15, depth 1" in text
    assert "cost       $0.75 · 1,234 tokens" in text
    assert "lock  LOST  _thread.lock" in text
    found = json.loads(run("show", name, "--json").stdout)
    assert found["checkpoint"]["summary"]["checkpoint_id"] == f"{3:016x}"
    assert [each["path"] for each in found["losses"]] == ["lock"]


def test_a_short_id_that_fits_several_is_refused_with_them(run: Command, session: SessionFolder) -> None:
    result = run("show", "0000")
    assert result.exit_code == 4
    assert f"{1:016x}" in result.stderr


@pytest.mark.parametrize(("number", "said"), [(4, "DAMAGED it is no checkpoint"), (5, "NEWER written by a newer")])
def test_what_can_not_be_read_is_shown_as_that_and_ends_with_11(
    run: Command, ruins: SessionFolder, number: int, said: str
) -> None:
    result = run("show", f"{SESSION}:{number}")
    assert result.exit_code == 11
    assert said in result.stdout
    assert json.loads(run("show", f"{SESSION}:{number}", "--json").stdout)["losses"] is None


@pytest.mark.parametrize("verb", [("vars",), ("var", "x"), ("show", "--part", "messages")])
def test_what_is_in_a_newer_or_foreign_file_is_an_error_and_no_empty_list(
    run: Command, ruins: SessionFolder, verb: tuple[str, ...]
) -> None:
    for number in (4, 5):
        result = run(verb[0], f"{SESSION}:{number}", *verb[1:])
        assert (result.exit_code, result.stdout) == (11, "")


def test_a_file_of_a_newer_minor_version_is_read_and_says_so(run: Command, ruins: SessionFolder) -> None:
    assert "format     1.3, newer than this program" in run("show", f"{SESSION}:6").stdout
    assert "context" in run("vars", f"{SESSION}:6").stdout


@pytest.mark.case("C07")
def test_variables_are_listed_without_being_decoded_and_lost_ones_after_them(
    run: Command, session: SessionFolder
) -> None:
    rows = run("vars", f"{SESSION}:3").stdout.splitlines()
    assert [row.split()[0] for row in rows[:5]] == ["x", "text", "key", "same", "late"]
    assert rows[5].startswith("! lock")
    assert "LOST" in rows[5]
    found = json.loads(run("vars", f"{SESSION}:3", "--json").stdout)
    assert [each["name"] for each in found["variables"]] == ["x", "text", "key", "same", "late"]


def test_one_variable_is_decoded_though_another_ones_section_is_damaged(run: Command, root: Path) -> None:
    folder = open_session_folder(root, "big", create=True)
    state = {"good": "g" * 20_000, "bad": "b" * 20_000}
    path = folder.save(pack_checkpoint(sample(session_id="big", repl_state=state))).path
    with open_checkpoint(path) as file:
        section = file.table().sections[file.unit("variable", "bad").section]
        at = file.head.sections_start + section.offset
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    assert run("var", "big:1", "good").stdout == "g" * 20_000 + "\n"
    damaged = run("var", "big:1", "bad")
    assert (damaged.exit_code, damaged.stdout) == (11, "")


def test_a_text_is_written_whole_and_safe(run: Command, session: SessionFolder) -> None:
    assert run("var", f"{SESSION}:1", "text").stdout == "␛]52;c;aGFja2Vk␇ text\n"
    assert json.loads(run("var", f"{SESSION}:1", "text", "--json").stdout)["value"] == f"{HOSTILE} text"


def test_a_secret_is_hidden_until_it_is_asked_for(run: Command, session: SessionFolder) -> None:
    hidden = run("var", f"{SESSION}:1", "key")
    assert SECRET not in hidden.stdout
    assert "--reveal" in hidden.stderr
    assert run("var", f"{SESSION}:1", "key", "--reveal").stdout == f"{SECRET}\n"
    assert SECRET not in run("vars", f"{SESSION}:1").stdout
    assert SECRET not in run("vars", f"{SESSION}:1", "--json").stdout


def test_a_lost_variable_says_why_and_an_unknown_one_that_there_is_none(
    run: Command, session: SessionFolder
) -> None:
    lost, unknown = run("var", f"{SESSION}:1", "lock"), run("var", f"{SESSION}:1", "nothing")
    assert (lost.exit_code, unknown.exit_code) == (4, 4)
    assert "not saved: lock (_thread.lock)" in lost.stderr
    assert "has no variable 'nothing'" in unknown.stderr


@pytest.mark.parametrize("part", ["working_memory", "messages", "trajectory", "pending", "cells"])
def test_each_part_can_be_shown(run: Command, session: SessionFolder, part: str) -> None:
    assert run("show", f"{SESSION}:3", "--part", part).exit_code == 0
    found = json.loads(run("show", f"{SESSION}:3", "--part", part, "--json").stdout)
    assert (found["part"], found["is_whole"]) == (part, True)


@pytest.mark.parametrize("args", ["show {}", "vars {}", "var {} long", "show {} --part messages"])
def test_a_reader_of_the_output_who_left_is_no_trouble_of_the_file(root: Path, args: str) -> None:
    folder = open_session_folder(root, "s", create=True)
    path = str(folder.save(pack_checkpoint(sample(session_id="s", repl_state={"long": "line\n" * 1_000}))).path)
    words = [sys.executable, "-m", "tierdeck_tui", "checkpoint", *args.format(path).split()]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_diff_names_what_is_new_gone_and_changed(run: Command, session: SessionFolder) -> None:
    rows = run("diff", f"{SESSION}:1", f"{SESSION}:3").stdout.splitlines()
    assert [row.split()[:2] for row in rows[:2]] == [["+", "late"], ["~", "x"]]
    assert rows[-1].strip() == "3 variables the same"
    found = json.loads(run("diff", f"{SESSION}:3", f"{SESSION}:1", "--json").stdout)
    assert [each["name"] for each in found["removed"]] == ["late"]
    assert [each["name"] for each in found["changed"]] == ["x"]
    assert found["same"] == ["text", "key", "same"]


def test_the_diff_of_one_variable_shows_both_values(run: Command, session: SessionFolder) -> None:
    assert run("diff", f"{SESSION}:1", f"{SESSION}:2", "--var", "x").stdout.splitlines()[-2:] == ["-1", "+2"]
    same = run("diff", f"{SESSION}:1", f"{SESSION}:2", "--var", "same")
    assert (same.stdout, same.exit_code) == ("", 0)
    found = json.loads(run("diff", f"{SESSION}:1", f"{SESSION}:2", "--var", "x", "--json").stdout)
    assert (found["before"], found["after"]) == (1, 2)


def test_verify_tells_good_ones_from_others_and_the_list_remembers(run: Command, ruins: SessionFolder) -> None:
    assert run("verify", f"{SESSION}:1", f"{SESSION}:2").exit_code == 0
    result = run("verify", "--session", SESSION)
    assert result.exit_code == 11
    states = [row.split()[0] for row in result.stdout.splitlines()]
    assert states == ["ok", "ok", "ok", "DAMAGED", "NEWER", "ok", "DAMAGED"]
    assert "3 checkpoints of 7 not good" in result.stderr
    rows = run("list", SESSION).stdout
    assert rows.count("ok · 1 lost") >= 3
    assert "DAMAGED its trailer does not fit" in rows


def test_a_deep_verification_decodes_all_of_it(run: Command, session: SessionFolder) -> None:
    [found] = json.loads(run("verify", "--deep", f"{SESSION}:3", "--json").stdout)["verified"]
    assert (found["state"], found["is_deep"]) == ("ok", True)


def test_verify_wants_to_know_what(run: Command, session: SessionFolder) -> None:
    assert run("verify").exit_code == 2


@pytest.mark.case("C14")
@pytest.mark.case("C17")
@pytest.mark.parametrize(
    "args",
    [
        "list",
        f"list {SESSION}",
        f"show {SESSION}:3",
        f"show {SESSION}:3 --part pending",
        f"vars {SESSION}:3",
        f"var {SESSION}:3 late",
        f"diff {SESSION}:1 {SESSION}:3",
        f"trash {SESSION}",
        f"prune {SESSION} --keep-last 1 --dry-run",
        f"request {SESSION}",
        f"restore {SESSION}:1 --dry-run",
        f"restore {SESSION}:1 --rewind --dry-run",
    ],
)
def test_looking_changes_no_checkpoint(run: Command, ruins: SessionFolder, args: str) -> None:
    before = {path: kept for path, kept in everything(ruins.path).items() if path.suffix == ".rlmckpt"}
    assert run(*args.split()).exit_code == 0
    after = {path: kept for path, kept in everything(ruins.path).items() if path.suffix == ".rlmckpt"}
    assert after == before
    assert not (ruins.path / "HEAD").exists()
    assert not list(ruins.path.glob("request*"))


@pytest.mark.case("C17")
@pytest.mark.parametrize("seed", range(24))
def test_no_mutated_file_makes_a_verb_end_otherwise_than_foreseen(
    run: Command, session: SessionFolder, seed: int
) -> None:
    data, path = mutated(session.listed()[2].path.read_bytes(), random.Random(seed)), session.path / "x.rlmckpt"
    path.write_bytes(data)
    for args in (f"show {path}", f"vars {path}", f"var {path} late", f"show {path} --part messages",
                 f"diff {SESSION}:1 {path}", f"restore {path} --dry-run", f"list {SESSION}"):  # fmt: skip
        assert run(*args.split()).exit_code in (0, 11), args
    assert run("verify", str(path)).exit_code == 11
    assert run("restore", str(path), "--yes").exit_code == 11


def mutated(data: bytes, choice: random.Random) -> bytes:
    at = choice.randrange(len(data))
    changed = bytearray(data)
    changed[at] ^= 1 << choice.randrange(8)
    return choice.choice((bytes(changed), data[:at], data[:at] + b"\0" + data[at:], choice.randbytes(at % 5_000)))


@pytest.mark.case("T22")
def test_the_help_of_checkpoint_imports_none_of_its_verbs() -> None:
    probe = (
        "import sys\nfrom click.testing import CliRunner\nfrom tierdeck_tui.cli import cli\n"
        "assert CliRunner().invoke(cli, ['checkpoint', '--help']).exit_code == 0\n"
        "print([name for name in sys.modules if name.startswith(('msgpack', 'zstandard', 'numpy', 'textual'))])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
