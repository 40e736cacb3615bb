"""The Checkpoints screen: its tree, the sections of its pane, and what it says when nothing is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.sample import file_bytes, sample
from tests.tierdeck_tui.conftest import HOSTILE_TEXTS, MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import (
    SECRET,
    SESSION,
    Deck,
    empty_store,
    filled,
    ruin,
    save,
    settings_for,
)
from tests.tierdeck_tui.test_app import controls
from tierdeck.checkpoint import Operation, open_checkpoint
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck_tui.reading.checkpoint_contents import SECTIONS
from tierdeck_tui.screens.checkpoints import CheckpointsScreen
from tierdeck_tui.widgets.checkpoint_pane import CheckpointPane


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
async def deck(tmp_path: Path, root: Path, make_app: MakeApp) -> AsyncIterator[Deck]:
    ruin(filled(root))
    older = open_session_folder(root, "older", create=True)
    save(older, 1, created_at_ns=1)
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


@pytest.mark.spec("SPEC-09.22", "SPEC-09.26")
async def test_the_newest_session_is_open_and_each_checkpoint_tells_turn_size_cost_and_state(deck: Deck) -> None:
    lines = deck.lines()
    assert "▾ agent-7  not running  6 checkpoints" in lines[0]
    assert "branch aaaaaaaa" in lines[1]
    assert "6  turn 3" in lines[2]
    assert "HEAD" in lines[2]
    assert "3  turn 15" in lines[3]
    assert "$0.75  not verified · 1 lost · 1 " in lines[3]
    assert "can't be read" in lines[6]
    assert "NEWER written by a newer" in lines[7]
    assert "DAMAGED it is no checkp" in lines[8]
    assert "▸ older  not running  1 checkpoint" in lines[9]
    assert "2 sessions · 7 checkpoints" in deck.status


async def test_a_session_is_opened_and_closed_and_the_cursor_stays_on_its_row(deck: Deck) -> None:
    await deck.press("G", "right")
    assert "1  turn 5" in deck.lines()[-1]
    assert "▾ older" in deck.lines()[deck.tree.cursor_number]
    await deck.press("j", "left")
    assert "▾ older" in deck.lines()[deck.tree.cursor_number]
    await deck.press("left")
    assert "▸ older" in deck.lines()[-1]
    await deck.press("enter")
    assert "▾ older" in "\n".join(deck.lines())


@pytest.mark.spec("SPEC-09.26")
async def test_a_branch_that_was_left_is_set_off_from_the_one_that_head_is_on(deck: Deck, root: Path) -> None:
    folder = open_session_folder(root, SESSION)
    save(folder, 9, branch="bbbbbbbb", parent=f"{2:016x}", turn=11)
    made = folder.listed()[-1]
    folder.switch_head(made.file, "bbbbbbbb", expected_generation=0)
    await deck.press("r")
    lines = deck.lines()
    assert "branch bbbbbbbb  from aaaaaaaa" in lines[1]
    assert "│   7  turn 11" in lines[2]
    assert "branch aaaaaaaa  left" in lines[3]
    assert "╎   3  turn 15" in "\n".join(lines)


async def test_the_summary_reads_4_kb_and_says_what_the_head_says(deck: Deck) -> None:
    await deck.press("j")
    for said in ("checkpoint 0000000000000003", "turn       15, depth 1", "$0.75 · 1,234 tokens", "1 lost"):
        assert said in deck.pane


async def test_variables_are_listed_from_the_table_and_one_is_decoded_when_it_is_opened(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[str] = []
    from tierdeck.checkpoint.file.reading import CheckpointFile

    whole = CheckpointFile.value

    def value(self: CheckpointFile, unit: object, *args: object, **kwargs: object) -> object:
        decoded.append(unit.name)  # type: ignore[attr-defined]
        return whole(self, unit, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(CheckpointFile, "value", value)
    await deck.press("j", "n")
    shown = deck.lines(deck.variables)
    assert "x            int" in shown[0]
    assert "late         dict" in shown[3]
    assert "! lock" in shown[4]
    assert "LOST" in shown[4]
    assert set(decoded) == {"lost"}, "the table has the previews"
    await deck.press("tab", "j", "j", "j", "enter")
    assert set(decoded) == {"lost", "late"}
    assert "late  dict" in deck.pane
    assert "['a']" in deck.pane
    await deck.press("escape")
    assert deck.variables.has_focus
    assert deck.variables.cursor_key == "late"
    await deck.press("j", "enter")
    assert "it was not saved: lock (_thread.lock)" in " ".join(deck.pane.split())


async def test_secrets_in_values_are_masked_until_they_are_asked_for(deck: Deck) -> None:
    await deck.press("j", "n", "tab", "j", "enter")
    assert SECRET[:20] not in deck.painted()
    await deck.press("m")
    assert SECRET in deck.pane.replace("\n", "")
    await deck.press("m")
    assert SECRET[:20] not in deck.painted()


async def test_each_section_is_read_when_it_is_shown(deck: Deck) -> None:
    await deck.press("j")
    seen = {}
    pane = deck.screen.query_one(CheckpointPane)
    for _ in range(7):
        seen[pane.section] = deck.pane
        await deck.press("n")
    assert list(seen) == list(SECTIONS)
    assert "_thread.lock" in seen["lost"]
    assert "find it" in seen["memory"]
    assert "Grüße" in seen["messages"]
    assert "assistant" in seen["messages"]
    assert "cell" in seen["trajectory"]
    assert "outcome unknown, turn 15, side effects" in " ".join(seen["operations"].split())
    await deck.press("N")
    assert "outcome unknown" in deck.pane, "round again, from the first to the last"


async def test_a_click_on_a_section_shows_it(deck: Deck) -> None:
    await deck.press("j")
    await deck.pilot.click("#sections", offset=(25, 0))
    await deck.settle()
    assert deck.screen.query_one(CheckpointPane).section == "lost"


@pytest.mark.case("C09", "C12")
async def test_a_damaged_and_a_newer_file_are_told_as_that_in_the_pane(deck: Deck) -> None:
    await deck.press("j", "j", "j", "j", "j")
    assert "written by a newer version (2.0); this one reads up to 1.x" in " ".join(deck.pane.split())
    await deck.press("j")
    assert "DAMAGED it is no checkpoint file" in " ".join(deck.pane.split())


async def test_what_an_agent_saves_meanwhile_comes_up_and_cursor_and_marks_stay(deck: Deck, root: Path) -> None:
    await deck.press("j", "space", "k")
    key = deck.tree.cursor_key
    save(open_session_folder(root, SESSION), 8)
    await deck.until(lambda: "7 checkpoints" in deck.lines()[0])
    await deck.settle()
    assert deck.tree.cursor_key == key
    assert len(deck.screen.chosen()) == 1


async def test_without_a_folder_the_screen_says_so_and_what_to_do(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "nowhere"
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        shown = "\n".join(deck.lines())
        assert "There is no checkpoint folder yet:" in shown
        assert "nowhere" in shown
        assert "RLM_CHECKPOINT_DIR" in shown
        for key in (*"RvVdlpXxcyutnz", "enter", "left", "right", "space", "tab"):
            await deck.press(key)
            assert app.screen is deck.screen
        root.mkdir()
        await deck.press("r")
        assert "No session has a checkpoint in" in "\n".join(deck.lines())
        assert not list(root.iterdir()), "looking makes nothing"


async def test_a_folder_that_can_not_be_read_is_an_error_and_no_empty_list(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "file"
    root.write_text("no folder")
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24)) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        assert "error: list sessions in" in deck.status
        assert "error: list sessions in" in "\n".join(deck.lines())


async def test_in_a_small_terminal_enter_opens_the_pane_and_esc_goes_back(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    filled(root)
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(60, 16)) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        assert "3  turn 15" in deck.lines()[1]
        await deck.press("enter")
        assert "checkpoint 0000000000000003" in deck.painted()
        assert not deck.tree.is_on_screen
        await deck.press("n", "enter")
        assert "x  int" in deck.painted()
        await deck.press("escape", "escape")
        assert deck.tree.has_focus


async def test_a_store_opened_for_reading_shows_everything_and_refuses_what_writes(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    filled(root)
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root), read_only=True)
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        for key in ("R", "l", "p", "X", "u", "t"):
            await deck.press(key)
            assert app.screen is deck.screen
        await deck.until(lambda: "open for reading only" in deck.told)


@pytest.mark.case("T01", "T02", "T03", "T04", "C17")
async def test_no_text_in_a_file_drives_the_terminal_from_any_place_of_the_screen(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    for number, text in enumerate(HOSTILE_TEXTS, 1):
        folder = open_session_folder(root, f"{text} {number}", create=True)
        for turn in (1, 2):
            save(
                folder, turn, label=text, created_at_ns=number, writer={text: text},
                repl_state={text: text, f"{text} list": [text, {text: text}], "f": controls},
                working_memory={text: text}, messages=[{"role": text, "content": text}, text],
                trajectory_events=[text], pending_operations=(Operation(text, text, "running", turn, True, text),),
            )  # fmt: skip
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(120, 32)) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        for _ in HOSTILE_TEXTS:
            await deck.press("right")  # its rows come from a worker
            await deck.press("j")
            for _ in range(7):
                assert controls(deck.painted()) == []
                await deck.press("n")
            for key in ("R", "l", "X"):
                assert controls(await deck.asked(key)) == []
                await deck.press("escape")
            await deck.press("n", "tab", "enter")
            assert controls(deck.painted()) == []
            await deck.press("escape", "escape", "N", "space", "space", "d")
            assert controls(deck.painted()) == []
            await deck.press("escape", "escape", "j")


async def test_ten_thousand_checkpoints_are_read_in_a_worker_and_painted_by_the_screenful(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    folder = open_session_folder(root, SESSION, create=True)
    data = file_bytes(
        sample(session_id=SESSION, label=None, origin=None, parent=None, repl_state={"x": 1}, branch="aaaaaaaa")
    )
    first = folder.path / "00000001-5-00112233.rlmckpt"
    first.write_bytes(data)
    for number in range(2, 10_001):
        (folder.path / f"{number:08d}-5-00112233.rlmckpt").hardlink_to(first)
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24)) as pilot:
        deck = Deck(app, pilot)
        await deck.pilot.press("3")
        await deck.until(lambda: len(deck.tree.keys) == 10_001)
        await deck.press("G")
        assert "1  turn 5" in deck.lines()[-1]
        assert len(deck.lines()) == deck.tree.size.height


async def test_the_screen_keeps_its_state_while_another_mode_is_shown(deck: Deck) -> None:
    await deck.press("j", "j", "space", "n")
    key = deck.tree.cursor_key
    await deck.press("4", "3")
    assert isinstance(deck.app.screen, CheckpointsScreen)
    assert deck.tree.cursor_key == key
    assert len(deck.tree.marked) == 1
    assert deck.screen.query_one(CheckpointPane).section == "variables"


async def test_looking_at_everything_leaves_the_files_as_they_were(deck: Deck, root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for _ in range(10):
        await deck.press("n", "j")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    with open_checkpoint(next(path for path in before if path.name.startswith("00000003"))) as file:
        file.verify()


@pytest.mark.spec("SPEC-09.26")
async def test_where_one_pane_fits_tab_and_enter_show_the_other_and_the_status_says_what_it_is_about(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    filled(root)
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24)) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        await deck.press("g", "tab")
        assert "not running: " in deck.pane, "of a session too"
        await deck.press("tab", "j", "j", "enter")
        assert "checkpoint 0000000000000002" in deck.pane, "moved on while it was hidden"
        assert f"{SESSION} · checkpoint 2 · turn 10 · " in deck.status
        before = deck.tree.cursor_key
        await deck.press("right")
        assert "x " in "\n".join(deck.lines(deck.variables))
        await deck.press("left")
        assert "checkpoint 0000000000000002" in deck.pane
        assert deck.tree.cursor_key == before, "arrows in the pane move nothing in the tree that is out of sight"
        await deck.press("escape")
        assert "1 session" in deck.status
