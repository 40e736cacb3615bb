"""Branches of a session: in their order, where each began, and what of each the session does not go on from."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.view.checkpoint.test_row import NOW_MS, foreign, save
from tierdeck.checkpoint.folder import SessionFolder, list_trash, open_session_folder
from tierdeck.checkpoint.folder.trash import move_to_trash
from tierdeck.checkpoint.journal import journal_path, journalled_branches, read_beginnings
from tierdeck.checkpoint.running import fork, rewind
from tierdeck.session import open_session
from tierdeck_tui.view.checkpoint.branch import Branch, Known, branches, session_lines
from tierdeck_tui.view.line import text_of

SESSION = "run-1"


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    """An empty session's folder."""
    return open_session_folder(tmp_path, "s", create=True)


def run(root: Path, turns: int, session_id: str = SESSION) -> SessionFolder:
    """Have an agent take the session up and do so many turns, each of them saved."""
    with open_session(None, session_id, checkpoints=root, every=1) as session:
        session.resume()
        for _ in range(turns):
            session.turn({"x": 1})
            session.flush()
    return open_session_folder(root, session_id)


def family(root: Path) -> SessionFolder:
    """Six turns, back to the third and two more, back to the fourth of these and one more."""
    folder = run(root, 6)
    rewind(folder, folder.listed()[2].file, by="ann")
    run(root, 2)
    rewind(folder, folder.listed()[6].file, by="ann")
    return run(root, 1)


def found(folder: SessionFolder) -> list[Branch]:
    return branches(folder.listed(), Known(read_beginnings(folder.path), list_trash(folder)))


def shown(folder: SessionFolder, cells: int = 100) -> list[str]:
    """Headings, the branches' names as letters in the order they began; of the rows sign, sequence and turn."""
    known = Known(read_beginnings(folder.path), list_trash(folder))
    lines = [text_of(each) for each in session_lines(folder.listed(), NOW_MS, cells, known)]
    assert {cell_len(each) for each in lines} == {cells}
    names = sorted({each.name for each in found(folder) if each.name}, key=lambda name: first_of(folder, name))
    told = []
    for text in lines:
        for letter, name in zip("ABCDEF", names, strict=False):
            text = text.replace(name, letter)
        told.append(text.rstrip() if text.startswith("branch") else " ".join(text[:14].split()))
    return told


def first_of(folder: SessionFolder, name: str) -> int:
    return min(each.sequence for each in folder.listed() if each.summary and each.summary.branch == name)


@pytest.mark.spec("SPEC-09.22", "SPEC-09.26")
def test_after_two_rewinds_only_what_was_rewound_away_is_called_left(tmp_path: Path) -> None:
    assert shown(family(tmp_path)) == [
        "branch C  from B turn 4",
        "9 turn 5",
        "branch B  left after turn 4  from A turn 3",
        "╎ 8 turn 5",
        "7 turn 4",
        "branch A  left after turn 3",
        "╎ 6 turn 6",
        "╎ 5 turn 5",
        "╎ 4 turn 4",
        "3 turn 3",
        "2 turn 2",
        "1 turn 1",
    ]


@pytest.mark.spec("SPEC-09.22")
def test_a_rewind_that_no_agent_took_up_yet_says_what_was_left(tmp_path: Path) -> None:
    folder = run(tmp_path, 3)
    rewind(folder, folder.listed()[1].file, by="ann")
    assert shown(folder) == ["branch A  left after turn 2", "╎ 3 turn 3", "2 turn 2", "1 turn 1"]


@pytest.mark.spec("SPEC-09.22")
def test_where_a_branch_began_is_known_when_that_checkpoint_is_in_the_trash_or_gone(tmp_path: Path) -> None:
    folder = family(tmp_path)
    third = folder.listed()[2].file
    with folder.locked():
        move_to_trash(folder, [third], is_automatic=False)
    assert "branch B  left after turn 4  from A turn 3 (in the trash)" in shown(folder)
    assert "branch A  left after turn 3" in shown(folder)
    assert "╎ 2 turn 2" not in shown(folder)
    list_trash(folder)[0].path.unlink()
    assert "branch B  left after turn 4  from A turn 3 (gone)" in shown(folder)


@pytest.mark.spec("SPEC-09.22")
def test_all_of_a_branch_may_be_gone_and_its_own_beginning_is_not_called_left(tmp_path: Path) -> None:
    folder = family(tmp_path)
    for listed in folder.listed()[6:8]:
        listed.path.unlink()
    [c, a] = found(folder)
    assert (a.left, a.left_turn, c.left) == (3, 3, 0)
    assert c.begins is not None
    assert (c.begins.turn, c.begins.lack) == (4, "gone")


@pytest.mark.spec("SPEC-09.22")
def test_without_its_journals_a_branch_still_says_that_its_beginning_is_gone(tmp_path: Path) -> None:
    folder = family(tmp_path)
    for branch in journalled_branches(folder.path):
        journal_path(folder.path, branch).unlink()
    assert "branch B  left after turn 4  from A turn 3" in shown(folder)
    folder.listed()[2].path.unlink()
    assert "branch B  left after turn 4  from a checkpoint (gone)" in shown(folder)


@pytest.mark.spec("SPEC-09.22")
def test_a_fork_says_from_which_session_and_turn_also_when_its_first_is_gone(tmp_path: Path) -> None:
    folder = run(tmp_path, 3)
    fork(tmp_path, folder.listed()[1].path, as_="fork")
    made = run(tmp_path, 1, "fork")
    assert shown(made) == ["branch A  forked from run-1 turn 2", "2 turn 3", "1 turn 2"]
    made.listed()[0].path.unlink()
    assert shown(made) == ["branch A  forked from run-1 turn 2", "2 turn 3"]
    assert shown(folder)[0] == "branch A"


def test_branches_come_with_heads_first_then_by_their_newest_and_what_can_not_be_read_last(
    folder: SessionFolder,
) -> None:
    a, b, c = "aaaaaaaa", "bbbbbbbb", "cccccccc"
    save(folder, branch=a, checkpoint_id="1" * 16, parent=None)
    head = save(folder, branch=a, checkpoint_id="2" * 16, parent="1" * 16)
    folder.switch_head(head.file, a, expected_generation=0)
    save(folder, branch=b, checkpoint_id="3" * 16, parent="1" * 16)
    foreign(folder, 4)
    save(folder, branch=c, checkpoint_id="5" * 16, parent="3" * 16)
    rows = folder.listed()
    in_order = branches(rows)
    assert [each.name for each in in_order] == [a, c, b, None]
    begins = [each.begins.branch if each.begins else None for each in in_order]
    assert begins == [None, b, a, None]
    assert [[row.sequence for row in each.rows] for each in in_order] == [[2, 1], [5], [3], [4]]
    headings = [
        text_of(row).rstrip() for row in session_lines(rows, NOW_MS) if not text_of(row).startswith((" ", "╎"))
    ]
    assert headings == [
        "branch aaaaaaaa  forked from older session turn 5",
        "branch cccccccc  left  from bbbbbbbb turn 5",
        "branch bbbbbbbb  left  from aaaaaaaa turn 5",
        "can't be read",
    ]


def test_no_branch_is_called_left_when_none_is_known_to_be_gone_on_from(folder: SessionFolder) -> None:
    save(folder, branch="aaaaaaaa")
    save(folder, branch="bbbbbbbb")
    rows = [each for each in folder.listed() if not each.is_head]
    assert "left" not in "".join(text_of(row) for row in session_lines(rows, NOW_MS))
