from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets._toast import Toast

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.held_key import hold_as_opener, repeat_key
from tests.tierdeck_tui.settled import until
from tierdeck.config import ConsoleSettings
from tierdeck.model import Tier
from tierdeck.promote.reason import reason_chars
from tierdeck_tui.screens.choice import Choice, ChoiceDialog
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.dialog import CANCEL_ID, STILL_S, Dialog
from tierdeck_tui.screens.hold import HoldDialog
from tierdeck_tui.screens.override import OverrideDialog
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.shell import ShellApp
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.dialog_button import DialogButton

_NOTHING = object()
MakeDialog = Callable[[], Dialog[bool] | Dialog[str]]

_DIALOGS: dict[str, MakeDialog] = {
    "confirm": lambda: ConfirmDialog("Take back", "the last change of 1234abcd", confirm="Take back"),
    "reason": lambda: ReasonDialog("Archive", "3 memories", confirm="Archive"),
    "choice": lambda: ChoiceDialog("Restore", "how?", [Choice("fork", "fork"), Choice("rewind", "rewind")]),
}


_LONG = "\n".join(f"{n:02} a line of a text that is far longer than any terminal is high" for n in range(60))
_LONG_DIALOGS: dict[str, Callable[[], Dialog[Any]]] = {
    "confirm": lambda: ConfirmDialog("Sweep", _LONG, confirm="Apply"),
    "reason": lambda: ReasonDialog("Approve", _LONG, confirm="Approve", is_mandatory=False),
    "hold": lambda: HoldDialog("Hold", _LONG, now_ms=0),
    "override": lambda: OverrideDialog(
        "Override", lambda _tier, _held: _LONG, to_tier=Tier.LONGTERM, asks_held=True
    ),
    "choice": lambda: ChoiceDialog("Copy", _LONG, [Choice(name, name) for name in ("id", "text", "JSON", "show")]),
    "notice": lambda: ChoiceDialog("Sweep: nothing is due", _LONG, []),
}


class _Answer:
    """What a dialog was closed with."""

    def __init__(self) -> None:
        self.value: object = _NOTHING

    def __call__(self, value: object) -> None:
        self.value = value


async def _open(app: ShellApp, pilot: Pilot[None], dialog: Dialog[Any], *, by: str = "u") -> _Answer:
    """Open a dialog as an action would that was started by that key."""
    answer = _Answer()
    app.last_key, app.last_key_at_s = by, time.monotonic()
    app.push_screen(dialog, answer)
    await pilot.pause()
    hold_as_opener(app, dialog)
    return answer


async def _hold(app: ShellApp, pilot: Pilot[None], key: str) -> None:
    """Hold a key down, and give the app the time to do what it must not."""
    repeat_key(app, key)
    await pilot.pause(0.2)


@pytest.mark.case("T12", "T13")
@pytest.mark.parametrize("name", list(_DIALOGS))
async def test_a_dialog_prints_its_keys_and_begins_on_cancel(name: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        await _open(app, pilot, _DIALOGS[name]())
        box = app.screen.query_one(".dialog")
        assert all(word in (box.border_subtitle or "") for word in ("enter", "esc"))
        assert app.focused is not None
        assert app.focused.id == CANCEL_ID


@pytest.mark.case("T12")
@pytest.mark.parametrize("name", list(_DIALOGS))
@pytest.mark.parametrize("opener", ["u", "enter", "space", "y", "1", "A"])
async def test_the_key_that_opened_it_and_its_repeats_neither_confirm_nor_close_it(name: str, opener: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS[name](), by=opener)
        await _hold(app, pilot, opener)
        assert isinstance(app.screen, Dialog)
        assert answer.value is _NOTHING
        for box in app.screen.query(Input):
            assert box.value == ""


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
async def test_what_was_said_before_hides_nothing_of_a_dialog_and_what_is_said_meanwhile_no_button(
    size: tuple[int, int],
) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test(size=size, notifications=True) as pilot:
        app.notify("before it was opened " * 8, timeout=60)
        await _open(app, pilot, _LONG_DIALOGS["choice"]())
        app.notify("while it is open " * 8, timeout=60)
        await until(pilot, lambda: len(app.screen.query(Toast)) == 1)
        await until(pilot, lambda: all(toast.region.height for toast in app.screen.query(Toast)))
        for button in app.screen.query(DialogButton):
            assert button.region.height == 1
            assert not any(toast.region.overlaps(button.region) for toast in app.screen.query(Toast))


@pytest.mark.case("T12")
async def test_enter_on_the_focus_where_it_begins_cancels() -> None:
    for make in _DIALOGS.values():
        app = ShellApp(ConsoleSettings())
        async with app.run_test() as pilot:
            answer = await _open(app, pilot, make())
            await pilot.press("enter")
            await pilot.pause()
            assert answer.value is None


@pytest.mark.case("T13")
async def test_tab_and_enter_confirm_and_escape_cancels() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS["confirm"]())
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert answer.value is True
        answer = await _open(app, pilot, _DIALOGS["confirm"]())
        await pilot.press("tab", "escape")
        await pilot.pause()
        assert answer.value is None


async def test_the_opening_key_works_again_once_it_was_still() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        dialog = _DIALOGS["confirm"]()
        answer = await _open(app, pilot, dialog, by="enter")
        await pilot.pause(STILL_S + 0.1)
        await pilot.press("enter")
        await pilot.pause()
        assert answer.value is None


async def test_a_mouse_click_presses_a_button() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS["confirm"]())
        await pilot.click("#confirm")
        await pilot.pause()
        assert answer.value is True


async def test_a_choice_is_reached_by_its_digit_and_made_by_enter() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS["choice"]())
        await pilot.press("2")
        assert answer.value is _NOTHING
        await pilot.press("9", "enter")
        await pilot.pause()
        assert answer.value == "rewind"


async def test_a_harmless_choice_may_begin_on_its_first_answer() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        dialog = ChoiceDialog("Copy", "", [Choice("id", "the id"), Choice("text", "the text")], first="text")
        answer = await _open(app, pilot, dialog, by="y")
        await pilot.press("enter")
        await pilot.pause()
        assert answer.value == "text"


async def test_a_reason_is_typed_without_looking_for_its_box_and_enter_in_it_does_not_confirm() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS["reason"](), by="A")
        await pilot.press(*"too old")
        await _hold(app, pilot, "enter")
        assert answer.value is _NOTHING
        assert isinstance(app.focused, DialogButton)
        assert app.focused.id == "confirm"
        await pilot.press("tab", "shift+tab", "enter")
        await pilot.pause()
        assert answer.value == "too old"


@pytest.mark.parametrize(
    ("reason", "chars"),
    [
        ("", 0),
        ("  ", 0),
        ("ab", 2),
        ("a b", 2),
        ("a\u200b\u200bb", 2),
        ("\u202e\u2066x", 1),
        ("日本語", 3),
        ("old", 3),
    ],
)
async def test_a_reason_counts_by_what_can_be_seen_of_it(reason: str, chars: int) -> None:
    assert reason_chars(reason) == chars
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, _DIALOGS["reason"]())
        app.screen.query_one(Input).value = reason
        await pilot.pause()
        await pilot.click("#confirm")
        await pilot.pause()
        shown = visible(reason, one_line=True)  # as the box holds it: a hidden character has become a sign
        assert answer.value == (shown if reason_chars(shown) >= 3 else _NOTHING)


async def test_a_reason_that_is_not_mandatory_may_be_empty() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        dialog = ReasonDialog("Edit", "1 memory", confirm="Save", is_mandatory=False)
        answer = await _open(app, pilot, dialog)
        await pilot.click("#confirm")
        await pilot.pause()
        assert answer.value == ""


@pytest.mark.parametrize(
    ("is_mandatory", "says"), [(True, "why? (at least 3 characters)"), (False, "why? (may be left empty)")]
)
async def test_the_empty_box_says_whether_a_reason_has_to_be_given(is_mandatory: bool, says: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        await _open(app, pilot, ReasonDialog("Edit", "1 memory", confirm="Save", is_mandatory=is_mandatory))
        assert says in "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.case("T01", "U01", "U05")
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
async def test_title_text_and_labels_are_shown_literally(text: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test(size=(120, 40)) as pilot:
        for dialog in (
            ConfirmDialog(text, text, confirm=text),
            ReasonDialog(text, text, confirm=text),
            ChoiceDialog(text, text, [Choice("a", text)]),
        ):
            await _open(app, pilot, dialog)
            shown = "".join(strip.text for strip in app.screen._compositor.render_strips())
            assert not any(ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F for char in shown)
            assert "\u202e" not in shown
            await pilot.press("escape")
            await pilot.pause()


def _painted(app: ShellApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.case("X05", "T12")
@pytest.mark.parametrize("size", [(60, 16), (80, 24)])
@pytest.mark.parametrize("name", list(_LONG_DIALOGS))
async def test_a_long_text_hides_no_button_no_key_and_says_that_it_goes_on(
    name: str, size: tuple[int, int]
) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test(size=size) as pilot:
        await _open(app, pilot, _LONG_DIALOGS[name]())
        await pilot.pause()
        shown = _painted(app)
        for button in app.screen.query(DialogButton):
            y = button.region.y
            assert button.label in shown[y], "a button is out of sight:\n" + "\n".join(shown)
        assert "00 a line" in "\n".join(shown)
        assert "pgdn more · " in shown[app.screen.query_one(".dialog").region.bottom - 1]
        assert "esc cancel" in shown[app.screen.query_one(".dialog").region.bottom - 1]


async def test_in_a_high_terminal_a_text_has_the_room_there_is() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test(size=(120, 40)) as pilot:
        await _open(app, pilot, _LONG_DIALOGS["confirm"]())
        await until(pilot, lambda: any("15 a line" in line for line in _painted(app)))
        await pilot.resize_terminal(60, 16)
        await until(pilot, lambda: len(_painted(app)) == 16 and any("Apply" in line for line in _painted(app)))


async def test_tab_and_enter_lead_from_the_reason_to_the_button_that_takes_it() -> None:
    for key in ("tab", "enter"):
        app = ShellApp(ConsoleSettings())
        async with app.run_test() as pilot:
            await _open(app, pilot, ReasonDialog("Archive", "3 memories", confirm="Archive"))
            await pilot.press(*"whynot", key)
            assert app.focused is app.screen.query_one("#confirm")


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_what_was_typed_is_not_dropped_without_a_question(key: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        answer = await _open(app, pilot, ReasonDialog("Archive", "3 memories", confirm="Archive"))
        dialog = app.screen
        await pilot.press(*"why")
        dialog.query_one(f"#{CANCEL_ID}").focus()
        await pilot.press(key)
        await pilot.pause()
        assert app.screen is not dialog
        await pilot.press("escape")
        await pilot.pause(0.1)
        if app.screen is not dialog:  # the same key again, as if held down
            await pilot.press("enter")
            await pilot.pause()
        assert app.screen is dialog
        assert dialog.query_one("#reason", Input).value == "why"
        dialog.query_one(f"#{CANCEL_ID}").focus()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert answer.value is None


@pytest.mark.parametrize("name", list(_DIALOGS))
async def test_a_dialog_that_is_answered_before_it_was_laid_out_leaves_nothing_behind(name: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        dialog = _DIALOGS[name]()
        await _open(app, pilot, dialog)
        await dialog.dismiss(None)
        await pilot.pause()
        assert not dialog.query(".dialog")
        dialog.on_resize()
        dialog.say_more()
        await pilot.pause()
    assert app.failure is None
