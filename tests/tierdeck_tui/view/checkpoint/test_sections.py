"""The sections of the inspect pane: what each says, how wide it is, and that all is masked and made safe."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.screens.checkpoints_host import SECRET, SESSION, filled, save
from tests.tierdeck_tui.test_app import controls
from tierdeck.checkpoint import Operation
from tierdeck.checkpoint.folder import Listed, SessionFolder, open_session_folder
from tierdeck.errors import DamagedCheckpointError, NotFoundError
from tierdeck_tui.reading.checkpoint_contents import SECTIONS, SectionName, read_section, read_value
from tierdeck_tui.reading.checkpoint_sessions import read_sessions, signature_of
from tierdeck_tui.view.checkpoint.sections import MAX_MESSAGES, decoded_lines, section_lines
from tierdeck_tui.view.checkpoint.tree import CheckpointRow, TreeRows, nothing_there, row_line
from tierdeck_tui.view.line import text_of


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    return open_session_folder(tmp_path, SESSION, create=True)


def newest(folder: SessionFolder) -> Listed:
    return folder.listed()[-1]


def said(listed: Listed, section: SectionName, cells: int = 60, *, reveal: bool = False) -> str:
    return "\n".join(text_of(line) for line in section_lines(read_section(listed, section), cells, reveal=reveal))


@pytest.mark.parametrize("cells", [20, 45, 78])
def test_no_line_of_any_section_is_wider_than_asked_for(folder: SessionFolder, cells: int) -> None:
    save(folder, 1, messages=[{"role": "user", "content": "日本語 " * 50}, *HOSTILE_TEXTS],
         pending_operations=(Operation("1", "tool", "done", 1, True, "x" * 500, ["y" * 500]),))  # fmt: skip
    for section in SECTIONS:
        for line in section_lines(read_section(newest(folder), section), cells):
            assert cell_len(text_of(line)) <= cells, section


@pytest.mark.case("T01", "T02", "C17")
def test_nothing_of_a_file_reaches_a_line_as_a_control_character(folder: SessionFolder) -> None:
    for text in HOSTILE_TEXTS:
        save(folder, 1, messages=[{"role": text, "content": text}, text], working_memory={text: [text]},
             trajectory_events=[text], pending_operations=(Operation(text, text, "done", 1, True, text, text),),
             repl_state={text: text})  # fmt: skip
        for section in SECTIONS:
            assert controls(said(newest(folder), section)) == [], section
        assert controls("\n".join(map(text_of, decoded_lines(read_value(newest(folder), text), 60)))) == []


def test_secrets_are_masked_wherever_they_stand_also_where_a_long_text_is_cut(folder: SessionFolder) -> None:
    for before in (0, 3_980, 63_980):
        text = "word " * (before // 5) + SECRET
        save(folder, 1, messages=[{"role": "user", "content": text}], working_memory={"k": SECRET},
             trajectory_events=[SECRET], repl_state={"v": text})  # fmt: skip
        listed = newest(folder)
        for section in SECTIONS:
            assert SECRET[:12] not in said(listed, section, 200)
        value = read_value(listed, "v")
        assert SECRET[:12] not in "\n".join(map(text_of, decoded_lines(value, 200)))
        assert SECRET[:12] in "\n".join(map(text_of, decoded_lines(value, 200, reveal=True)))


def test_many_and_long_messages_are_counted_where_they_are_cut(folder: SessionFolder) -> None:
    messages = [{"role": "user", "content": "x" * 5_000}, *["plain"] * (MAX_MESSAGES + 6)]
    save(folder, 1, messages=messages)
    text = said(newest(folder), "messages")
    assert "1,000 more characters" in text
    assert "and 7 more" in text


def test_a_checkpoint_without_anything_says_so_in_every_section(folder: SessionFolder) -> None:
    save(folder, 1, messages=[], working_memory={}, trajectory_events=[], repl_state={})
    listed = newest(folder)
    assert "no message" in said(listed, "messages")
    assert "no operation was planned or under way" in said(listed, "operations")
    assert "nothing is missing" in said(listed, "lost")


def test_a_done_operation_shows_its_result_and_one_of_unknown_outcome_says_that(folder: SessionFolder) -> None:
    save(folder, 1, pending_operations=(
        Operation("1", "model", "done", 1, False, "question", "answer"),
        Operation("2", "tool", "running", 1, True, "send"),
    ))  # fmt: skip
    text = said(newest(folder), "operations", 78)
    assert [row.rstrip() for row in text.splitlines()[:4]] == [
        "model  done, turn 1, no side effects  1",
        "  'question'",
        "  it gave:",
        "  'answer'",
    ]
    assert "tool  outcome unknown, turn 1, side effects" in text


def test_a_variable_that_was_not_saved_says_why_and_another_name_says_that_there_is_none(
    folder: SessionFolder,
) -> None:
    save(folder, 1)
    with pytest.raises(NotFoundError, match=r"'lock': it was not saved: lock \(_thread\.lock\)"):
        read_value(newest(folder), "lock")
    with pytest.raises(NotFoundError, match="it has no variable 'nobody'"):
        read_value(newest(folder), "nobody")


@pytest.mark.case("C09")
def test_a_section_of_a_damaged_file_is_an_error_and_the_summary_is_still_read(folder: SessionFolder) -> None:
    path = save(folder, 1)
    data = bytearray(path.read_bytes())
    data[-200:-40] = bytes(160)
    path.write_bytes(bytes(data))
    assert "turn       5" in said(newest(folder), "summary")
    with pytest.raises(DamagedCheckpointError):
        read_section(newest(folder), "lost")


def test_the_tree_has_every_checkpoint_once_in_rows_of_the_width_asked_for(tmp_path: Path) -> None:
    filled(tmp_path, 4)
    other = open_session_folder(tmp_path, "other", create=True)
    save(other, 1, created_at_ns=1)
    sessions = read_sessions(tmp_path, {path.name for path in tmp_path.iterdir()})
    rows = TreeRows(sessions)
    assert len({row.key for row in rows}) == len(rows)
    assert [row.listed.sequence for row in rows if isinstance(row, CheckpointRow)] == [4, 3, 2, 1, 1]
    for row in rows:
        for cells in (30, 58, 69, 118):
            assert cell_len(text_of(row_line(row, 0, cells))) == cells


def test_a_session_whose_folder_can_not_be_listed_says_so_and_the_others_are_read(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    (folder.path / "marks.json").write_text("no json")
    (folder.path / "request").write_text("no json")
    sessions = read_sessions(tmp_path, None)
    [contents] = sessions.contents.values()
    assert len(contents.listed) == 1
    assert len(contents.problems) == 2


def test_the_signature_changes_with_a_save_a_mark_and_a_new_session(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    seen = [signature_of(tmp_path)]
    save(folder, 2)
    seen.append(signature_of(tmp_path))
    folder.set_pin(folder.listed()[0].file, True)
    seen.append(signature_of(tmp_path))
    open_session_folder(tmp_path, "another", create=True)
    seen.append(signature_of(tmp_path))
    assert len(set(seen)) == len(seen)
    assert signature_of(tmp_path) == seen[-1]


def test_an_empty_root_and_a_missing_one_read_differently(tmp_path: Path) -> None:
    there = "\n".join(map(text_of, nothing_there(read_sessions(tmp_path, None), 40)))
    missing = "\n".join(map(text_of, nothing_there(read_sessions(tmp_path / "no", None), 40)))
    assert "No session has a checkpoint in" in there
    assert "There is no checkpoint folder yet" in missing
    assert str(tmp_path)[-20:] in there
    assert "tierdeck --checkpoints DIR" in there
    assert "tierdeck --checkpoints DIR" in missing
    assert not (tmp_path / "no").exists()
