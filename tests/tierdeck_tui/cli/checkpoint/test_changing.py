"""label, pin, prune, trash and import: what they change, what they refuse, and how it comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.family.test_family_file import family_json
from tests.tierdeck_tui.cli.checkpoint.conftest import SESSION, Command
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder


def labels(folder: SessionFolder) -> dict[int, str | None]:
    return {each.sequence: each.label for each in folder.listed()}


def pins(folder: SessionFolder) -> list[int]:
    return [each.sequence for each in folder.listed() if each.is_pinned]


def test_a_label_is_given_and_taken_away_and_the_file_stays(run: Command, session: SessionFolder) -> None:
    path = session.listed()[1].path
    before = path.read_bytes()
    result = run("label", f"{SESSION}:2", "before the merge")
    assert (result.exit_code, result.stdout) == (0, f"{path}\n")
    assert labels(session) == {1: None, 2: "before the merge", 3: None}
    assert "“before the merge”" in run("list", SESSION).stdout
    assert json.loads(run("label", f"{SESSION}:2", "--off", "--json").stdout)["label"] is None
    assert labels(session) == {1: None, 2: None, 3: None}
    assert path.read_bytes() == before


@pytest.mark.parametrize("args", [(), ("text", "--off"), (" ",), ("x" * 201,)])
def test_a_label_that_is_none_is_refused(run: Command, session: SessionFolder, args: tuple[str, ...]) -> None:
    assert run("label", f"{SESSION}:2", *args).exit_code == 2
    assert labels(session) == {1: None, 2: None, 3: None}


def test_pins_are_set_and_taken_away(run: Command, session: SessionFolder) -> None:
    result = run("pin", f"{SESSION}:1", f"{SESSION}:3")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 2)
    assert pins(session) == [1, 3]
    run("pin", "--off", f"{SESSION}:1")
    assert pins(session) == [3]


def test_of_a_list_with_a_wrong_name_nothing_is_pinned(run: Command, session: SessionFolder) -> None:
    assert run("pin", f"{SESSION}:1", f"{SESSION}:99").exit_code == 4
    assert pins(session) == []


def test_a_file_outside_of_a_session_can_not_be_marked(
    run: Command, session: SessionFolder, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.rlmckpt"
    copy.write_bytes(session.listed()[0].path.read_bytes())
    assert run("show", str(copy)).exit_code == 0
    assert run("pin", str(copy)).exit_code == 11
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["copy.rlmckpt"]


@pytest.mark.case("K16")
@pytest.mark.case("C15")
def test_prune_says_what_goes_then_moves_it_and_the_trash_gives_it_back(
    run: Command, session: SessionFolder
) -> None:
    run("pin", f"{SESSION}:1")
    text = run("prune", SESSION, "--keep-last", "1", "--dry-run").stdout
    assert text.startswith("1 checkpoint, ")
    assert [row.split()[0] for row in text.splitlines()[1:2]] == ["2"]
    assert "pinned" in text
    assert "HEAD" in text
    assert len(session.listed()) == 3
    asked = run("prune", SESSION, "--keep-last", "1")
    assert (asked.exit_code, len(session.listed())) == (2, 3)
    done = run("prune", SESSION, "--keep-last", "1", "--yes")
    assert done.exit_code == 0
    assert [each.sequence for each in session.listed()] == [1, 3]
    [name] = done.stdout.split()
    assert name in run("trash", SESSION).stdout
    assert run("trash", SESSION, "--restore", "2").stdout.strip().endswith(name)
    assert [each.sequence for each in session.listed()] == [1, 2, 3]


def test_prune_under_json_gives_the_plan_and_what_was_moved(run: Command, session: SessionFolder) -> None:
    planned = json.loads(run("prune", SESSION, "--keep-last", "1", "--dry-run", "--json").stdout)
    assert (planned["is_dry_run"], [each["sequence"] for each in planned["to_trash"]]) == (True, [1, 2])
    done = json.loads(run("prune", SESSION, "--keep-last", "1", "--yes", "--json").stdout)
    assert (done["is_dry_run"], len(done["moved"]), done["passed_over"]) == (False, 2, [])


def test_what_is_kept_comes_from_the_settings_unless_it_is_said(
    run: Command, session: SessionFolder, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("[checkpoints]\nkeep_last = 2\n", "utf-8")
    asked = ("prune", SESSION, "--dry-run", "--json", "--config", str(settings))
    assert [each["sequence"] for each in json.loads(run(*asked).stdout)["to_trash"]] == [1]
    assert [each["sequence"] for each in json.loads(run(*asked, "--keep-last", "1").stdout)["to_trash"]] == [1, 2]


def test_nothing_to_prune_asks_nothing(run: Command, session: SessionFolder) -> None:
    result = run("prune", SESSION)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing to clear away" in result.stderr


def test_the_trash_is_emptied_after_seven_days_or_when_all_is_asked_for(
    run: Command, session: SessionFolder
) -> None:
    run("prune", SESSION, "--keep-last", "1", "--yes")
    assert run("trash", SESSION, "--empty", "--yes").stdout == ""
    assert len(run("trash", SESSION).stdout.splitlines()) == 2
    assert run("trash", SESSION, "--empty", "--all").exit_code == 2  # nobody to ask
    assert len(run("trash", SESSION, "--empty", "--all", "--yes").stdout.splitlines()) == 2
    assert "its trash is empty" in run("trash", SESSION).stderr
    assert run("trash", SESSION, "--restore", "2").exit_code == 4


@pytest.mark.parametrize("args", [("--all",), ("--empty", "--restore", "2")])
def test_the_trash_refuses_options_that_do_not_go_together(
    run: Command, session: SessionFolder, args: tuple[str, ...]
) -> None:
    assert run("trash", SESSION, *args).exit_code == 2


@pytest.mark.parametrize(
    "args",
    [("label", f"{SESSION}:1", "text"), ("pin", f"{SESSION}:1"), ("prune", SESSION, "--yes"),
     ("trash", SESSION, "--empty", "--yes"), ("import", "x.json"), ("restore", f"{SESSION}:1", "--yes"),
     ("restore", f"{SESSION}:1", "--rewind", "--yes"), ("request", SESSION, "--checkpoint"),
     ("request", SESSION, "--take-back", "0" * 16)],
)  # fmt: skip
def test_read_only_refuses_whatever_writes(
    run: Command, session: SessionFolder, root: Path, args: tuple[str, ...]
) -> None:
    before = sorted(root.rglob("*"))
    result = run(*args, "--read-only")
    assert (result.exit_code, result.stdout) == (3, "")
    assert sorted(root.rglob("*")) == before


@pytest.mark.spec("SPEC-09.26")
def test_json_checkpoints_are_taken_over_from_their_usual_place(
    run: Command, root: Path, isolated_environment: Path
) -> None:
    family = isolated_environment / ".rlm" / "checkpoints"
    family.mkdir(parents=True)
    for turn in (5, 10):
        (family / f"old_{turn}.json").write_bytes(family_json(session_id="old", turn=turn, timestamp=float(turn)))
    assert "2 checkpoints would be taken over" in run("import", "--dry-run").stderr
    assert not root.exists()
    result = run("import")
    assert result.exit_code == 0
    assert "degraded" in result.stdout
    assert [each.turn for each in open_session_folder(root, "old").listed()] == [5, 10]
    assert "degraded" in run("list", "old").stdout
    assert "imported from rlm-claude-code, JSON 1.1" in run("show", "old:1").stdout
    assert run("var", "old:1", "x").stdout == "1\n"
    assert "it is poorer than the session was (JSON: " in run("restore", "old:1", "--dry-run").stdout
    assert "2 taken over earlier" in run("import").stderr


@pytest.mark.case("C12")
def test_import_says_of_each_file_that_it_refuses_why(run: Command, tmp_path: Path, root: Path) -> None:
    files = {"good": family_json(), "newer": family_json(version="9.0"), "none": b"{"}
    paths = [tmp_path / f"{name}.json" for name in files]
    for path, data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
    result = run("import", *map(str, paths), "--json")
    assert result.exit_code == 10
    found = json.loads(result.stdout)
    assert [Path(each["source"]).stem for each in found["refused"]] == ["newer", "none"]
    assert "written by a newer version (9.0)" in result.stderr
    assert run("import", str(paths[1])).exit_code == 11


def test_import_without_the_usual_folder_says_so(run: Command, root: Path) -> None:
    result = run("import")
    assert (result.exit_code, result.stdout) == (4, "")
    assert not root.exists()
