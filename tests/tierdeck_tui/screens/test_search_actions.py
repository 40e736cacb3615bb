"""Copying and changing memories from the Search screen: what is shown first, what is done, what is taken back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.search_host import Seen, words_only
from tests.tierdeck_tui.settled import until
from tierdeck.model import NodeChanges, NodeDraft, NodeType, Tier
from tierdeck.promote.log.entries import entries
from tierdeck.promote.records import LogFilter
from tierdeck.store import Store, add_nodes, edit_node, get_node, open_store, revisions
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.dialog import STILL_S
from tierdeck_tui.screens.edit_form import EditForm
from tierdeck_tui.screens.filter_form import FilterForm
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.safe_input import SafeInput
from tierdeck_tui.widgets.safe_text_area import SafeTextArea

START_MS = 1_700_000_000_000
KEY = "sk-test-0000aaaabbbbccccdddd1111"
IDS = [f"{n}{n}{n}{n}1111-0000-4000-8000-00000000000{n}" for n in range(4)]
TEXTS = ("plain words", f"export OPENAI_API_KEY={KEY}", "control \x1b[2J words", "two\nlines of words")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Four memories; the newest has two lines, then one with control characters, one with a key, a plain one."""
    path = tmp_path / "memory [x].db"
    with open_store(path, create=True) as store:
        add_nodes(
            store,
            [
                NodeDraft(text, id=node_id, created_at_ms=START_MS + n * 1000)
                for n, (text, node_id) in enumerate(zip(TEXTS, IDS, strict=True))
            ],
        )
    return path


@pytest.fixture
async def seen(db: Path, make_app: MakeApp) -> AsyncIterator[Seen]:
    app = make_app(db, words_only(operator="ann"))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        yield found


def store_of(seen: Seen) -> Store:
    return seen.app.deck.store


async def copied(seen: Seen, choice: str) -> str:
    """Copy by the menu's digit or name."""
    await seen.pilot.press("y")
    await until(seen.pilot, lambda: seen.app.screen is not seen.screen)
    before = seen.app.clipboard
    for button in seen.app.screen.query(DialogButton):
        if button.value == choice:
            button.press()
    await until(seen.pilot, lambda: seen.app.clipboard != before)
    return seen.app.clipboard


@pytest.mark.case("T14", "T25")
async def test_the_menu_copies_id_text_json_and_the_command(
    seen: Seen, db: Path, isolated_environment: Path
) -> None:
    assert await copied(seen, "id") == IDS[3]
    assert await copied(seen, "text") == TEXTS[3]
    assert json.loads(await copied(seen, "json"))["memories"][0]["content"] == TEXTS[3]
    command = await copied(seen, "show")
    assert command == f"tierdeck --db '{db}' show {IDS[3]}"
    [file] = list(isolated_environment.rglob("copied.txt"))
    assert file.read_text() == command


async def test_a_searchs_command_line_can_be_copied(seen: Seen, db: Path) -> None:
    await seen.ask("plain words type:fact")
    assert await copied(seen, "search") == f"tierdeck --db '{db}' search --alpha 0.5 -- 'plain words type:fact'"


async def test_marked_memories_are_copied_together(seen: Seen) -> None:
    await seen.press("space", "j", "j", "space")
    assert await copied(seen, "id") == f"{IDS[3]}\n{IDS[0]}"


@pytest.mark.case("X01")
async def test_a_secret_is_masked_on_the_screen_and_in_what_is_copied_until_it_is_asked_for(seen: Seen) -> None:
    await seen.press("j", "j")
    assert KEY[8:] not in "\n".join(seen.painted())
    assert KEY not in await copied(seen, "text")
    assert KEY not in await copied(seen, "json")
    await seen.press("m")
    assert KEY in "\n".join(seen.painted())
    assert await copied(seen, "text") == TEXTS[1]
    await seen.press("m")
    assert KEY[8:] not in "\n".join(seen.painted())


@pytest.mark.case("T12", "T13", "X04")
async def test_archiving_shows_what_moves_asks_why_and_can_be_taken_back(seen: Seen) -> None:
    await seen.pilot.press("A")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    assert "33331111  task → archive  two⏎lines of words" in "\n".join(seen.painted())
    await seen.pilot.press("A", "A", "A", "enter")
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    assert get_node(store_of(seen), IDS[3]).tier is Tier.TASK, "neither the opening key nor Enter archive"
    await seen.pilot.press("A")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    seen.app.screen.query_one("#reason", Input).value = "not true any more"
    await seen.pilot.pause()
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: get_node(store_of(seen), IDS[3]).tier is Tier.ARCHIVE)
    await seen.settle()
    assert len(seen.rows()) == 3
    [move] = entries(store_of(seen), LogFilter(node_id=IDS[3]))
    assert (move.kind, move.to_tier, move.actor, move.reason) == ("override", "archive", "ann", "not true any more")
    await seen.ask("is:archived lines")
    await seen.pilot.press("u")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ConfirmDialog))
    assert "takes back #1 override task → archive by ann: not true any" in "\n".join(seen.painted())
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: get_node(store_of(seen), IDS[3]).tier is Tier.TASK)


async def archive(seen: Seen, *node_ids: str) -> None:
    """Archive what is marked, or under the cursor, which these are."""
    await seen.pilot.press("A")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    seen.app.screen.query_one("#reason", Input).value = "not true any more"
    await seen.pilot.pause()
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: all(tier_of(seen, node_id) is Tier.ARCHIVE for node_id in node_ids))
    await until(seen.pilot, lambda: "u takes it back" in "\n".join(seen.painted()))
    await seen.settle()


def tier_of(seen: Seen, node_id: str) -> Tier:
    return get_node(store_of(seen), node_id).tier


async def asked_to_undo(seen: Seen) -> str:
    """What the dialog says that `u` opens."""
    await seen.pilot.press("u")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ConfirmDialog))
    return "\n".join(seen.painted())


async def test_undo_takes_back_what_the_toast_says_although_the_cursor_stands_on_another_memory(
    seen: Seen,
) -> None:
    edit_node(store_of(seen), IDS[2], NodeChanges(subtype="old"), actor="bob")
    await archive(seen, IDS[3])
    assert seen.screen.subject_id() == IDS[2]
    shown = await asked_to_undo(seen)
    assert "Undo a change of 33331111" in shown
    assert "archive by ann: not true any more" in shown
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: tier_of(seen, IDS[3]) is Tier.TASK)
    assert get_node(store_of(seen), IDS[2]).subtype == "old"
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    await seen.settle()
    await seen.press("g", "j")
    assert "Undo a change of 22221111" in await asked_to_undo(seen), "it is taken back: the row counts again"


async def test_a_declined_undo_of_the_last_change_is_followed_by_that_of_the_row(seen: Seen) -> None:
    edit_node(store_of(seen), IDS[2], NodeChanges(subtype="old"), actor="bob")
    await archive(seen, IDS[3])
    assert "After Cancel, undo means" in await asked_to_undo(seen)
    await seen.pilot.press("escape")
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    shown = await asked_to_undo(seen)
    assert "Undo a change of 22221111" in shown
    assert "edit by bob" in shown
    assert tier_of(seen, IDS[3]) is Tier.ARCHIVE


async def test_several_that_were_archived_together_are_taken_back_together(seen: Seen) -> None:
    await seen.press("space", "space")
    await archive(seen, IDS[3], IDS[2])
    shown = await asked_to_undo(seen)
    assert "Undo a change of 2 memories" in shown
    assert "33331111  #" in shown
    assert "22221111  #" in shown
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: tier_of(seen, IDS[3]) is tier_of(seen, IDS[2]) is Tier.TASK)


async def test_a_last_change_that_somebody_changed_since_is_not_offered(seen: Seen) -> None:
    await archive(seen, IDS[3])
    edit_node(store_of(seen), IDS[3], NodeChanges(subtype="theirs"), actor="bob")
    await seen.pilot.press("u")
    await until(seen.pilot, lambda: "no change of this memory stands" in "\n".join(seen.painted()))
    assert seen.app.screen is seen.screen


async def test_restore_moves_only_what_is_archived(seen: Seen) -> None:
    await seen.pilot.press("R")
    await seen.pilot.pause(0.2)
    assert seen.app.screen is seen.screen


async def test_several_are_archived_with_one_preview(seen: Seen) -> None:
    await seen.press("space", "space", "A")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    assert "Archive 2 memories" in "\n".join(seen.painted())
    seen.app.screen.query_one("#reason", Input).value = "both are old"
    await seen.pilot.pause()
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: get_node(store_of(seen), IDS[2]).tier is Tier.ARCHIVE)
    await seen.settle()
    assert len(seen.rows()) == 2
    assert list(seen.results.marked_ids) == []


async def test_an_edit_is_previewed_saved_and_can_be_undone(seen: Seen) -> None:
    await seen.pilot.press("e", "e", "e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    form = seen.app.screen
    assert form.query_one(SafeTextArea).text == TEXTS[3], "held down, the opening key writes nothing"
    form.query_one(SafeTextArea).text = "two\nother lines"
    form.query_one("#edit-confidence", SafeInput).value = "0.9"
    form.query_one("#edit-type", OptionRow).focus()
    await seen.pilot.press("right", "ctrl+s")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    shown = "\n".join(seen.painted())
    assert "-lines of words" in shown
    assert "+other lines" in shown
    assert "confidence: 0.5 → 0.9" in shown
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: get_node(store_of(seen), IDS[3]).content == "two\nother lines")
    node = get_node(store_of(seen), IDS[3])
    assert (node.confidence, node.type) == (0.9, NodeType.EXPERIENCE)
    await seen.settle()
    assert "two⏎other lines" in seen.rows()


async def test_an_edit_that_was_left_or_changes_nothing_writes_nothing(seen: Seen) -> None:
    await seen.pilot.press("e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    await seen.pilot.press("ctrl+s")
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    await seen.pilot.press("e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    await seen.pilot.press("escape")
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    assert revisions(store_of(seen), IDS[3]) == []


async def edit_form(seen: Seen) -> EditForm:
    """The form of the memory under the cursor."""
    await seen.pilot.press("e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    await seen.pilot.pause(STILL_S)
    assert isinstance(seen.app.screen, EditForm)
    return seen.app.screen


@pytest.mark.parametrize("leave", ["escape", "enter"])
async def test_who_cancels_the_question_for_the_reason_is_back_in_the_form_as_it_was_typed(
    seen: Seen, leave: str
) -> None:
    form = await edit_form(seen)
    form.query_one(SafeTextArea).text = "a long text\nthat took a while"
    form.query_one("#edit-subtype", SafeInput).value = "kept"
    await seen.pilot.press("ctrl+s")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    await seen.pilot.press(leave)  # the focus begins on Cancel
    await until(seen.pilot, lambda: seen.app.screen is form)
    assert form.query_one(SafeTextArea).text == "a long text\nthat took a while"
    assert form.query_one("#edit-subtype", SafeInput).value == "kept"
    await seen.pilot.press("ctrl+s")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: get_node(store_of(seen), IDS[3]).subtype == "kept")
    assert get_node(store_of(seen), IDS[3]).content == "a long text\nthat took a while"


@pytest.mark.parametrize(
    ("field", "keys"),
    [
        ("text", ("x",)),
        ("type", ("right",)),
        ("subtype", ("x",)),
        ("confidence", ("x",)),
        ("provenance", ("x",)),
    ],
)
async def test_escape_in_a_form_with_something_changed_asks_and_stays_by_default(
    seen: Seen, field: str, keys: tuple[str, ...]
) -> None:
    form = await edit_form(seen)
    form.query_one(f"#edit-{field}").focus()
    await seen.pilot.press(*keys, "escape")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ConfirmDialog))
    await seen.pilot.press("escape", "escape", "enter")  # held down, then the button that has the focus
    await until(seen.pilot, lambda: seen.app.screen is form)
    await seen.pilot.press("escape")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ConfirmDialog))
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    assert revisions(store_of(seen), IDS[3]) == []


@pytest.mark.parametrize(("downs", "why"), [(1, "control or hidden characters"), (2, "looks like a secret")])
async def test_a_text_that_can_not_be_shown_as_it_is_stays_as_it_is(seen: Seen, downs: int, why: str) -> None:
    await seen.press(*["j"] * downs)
    await seen.pilot.press("e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    shown = "\n".join(seen.painted())
    assert why in shown
    assert KEY[8:] not in shown
    form = seen.app.screen
    assert form.query_one(SafeTextArea).read_only
    form.query_one("#edit-subtype", SafeInput).value = "kept"
    await seen.pilot.press("ctrl+s")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ReasonDialog))
    seen.app.screen.query_one("#confirm", DialogButton).press()
    node_id = IDS[3 - downs]
    await until(seen.pilot, lambda: get_node(store_of(seen), node_id).subtype == "kept")
    assert get_node(store_of(seen), node_id).content == TEXTS[3 - downs]


@pytest.mark.parametrize("value", ["2", "-0.1", "nan", "[/x]", ""])
async def test_a_confidence_that_is_none_is_refused_in_the_form(seen: Seen, value: str) -> None:
    await seen.pilot.press("e")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, EditForm))
    seen.app.screen.query_one("#edit-confidence", SafeInput).value = value
    await seen.pilot.press("ctrl+s")
    await seen.pilot.pause()
    assert isinstance(seen.app.screen, EditForm)
    assert "confidence: " in "\n".join(seen.painted())


async def test_the_form_reads_the_filters_from_the_query_and_writes_them_back(seen: Seen) -> None:
    await seen.ask('words tier:task conf>0.1 conf<0.9 meta.k="a b" since:7d')
    await seen.pilot.press("f")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, FilterForm))
    form = seen.app.screen
    assert form.query_one("#filter-conf", SafeInput).value == ">0.1 <0.9"
    assert form.query_one("#filter-meta", SafeInput).value == 'k="a b"'
    assert form.query_one("#filter-since", SafeInput).value == "7d"
    form.query_one("#filter-since", SafeInput).value = ""
    form.query_one("#filter-session", SafeInput).value = "my run"
    form.query_one("#filter-type", OptionRow).focus()
    await seen.pilot.press("right", "space", "enter")
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    assert seen.box.value == 'words tier:task type:fact conf>0.1 conf<0.9 session:"my run" meta.k="a b"'


@pytest.mark.case("T02", "T01")
@pytest.mark.parametrize(
    ("field", "value"), [("conf", "[/"), ("conf", ">2"), ("since", "[b"), ("meta", "[/x]"), ("until", "soon")]
)
async def test_a_filter_that_can_not_be_read_is_said_in_the_form(seen: Seen, field: str, value: str) -> None:
    await seen.pilot.press("f")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, FilterForm))
    seen.app.screen.query_one(f"#filter-{field}", SafeInput).value = value
    await seen.pilot.press("ctrl+s")
    await seen.pilot.pause()
    assert isinstance(seen.app.screen, FilterForm)
    assert value in "\n".join(seen.painted())


async def test_a_read_only_store_refuses_every_change_and_says_why(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only(), read_only=True)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        for key in ("e", "A", "R", "u"):
            await pilot.press(key)
            await pilot.pause(0.1)
            assert app.screen is found.screen
        assert "reading only" in "\n".join(found.painted())


async def test_what_another_program_changed_meanwhile_is_not_overwritten_by_an_undo(seen: Seen) -> None:
    edit_node(store_of(seen), IDS[3], NodeChanges(content="mine"), actor="ann")
    await seen.pilot.press("u")
    await until(seen.pilot, lambda: isinstance(seen.app.screen, ConfirmDialog))
    with open_store(store_of(seen).path) as other, other.writing() as conn:
        conn.execute("UPDATE nodes SET content = 'theirs' WHERE id = ?", (IDS[3],))
    await seen.pilot.pause(STILL_S)
    seen.app.screen.query_one("#confirm", DialogButton).press()
    await until(seen.pilot, lambda: seen.app.screen is seen.screen)
    await until(seen.pilot, lambda: "nothing was changed" in "\n".join(seen.painted()))
    assert get_node(store_of(seen), IDS[3]).content == "theirs"
