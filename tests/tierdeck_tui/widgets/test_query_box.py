from __future__ import annotations

import pytest
from textual import events

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.widgets.query_box import MAX_HISTORY, QueryBox


async def test_up_and_down_walk_through_what_was_asked_and_back_to_the_draft() -> None:
    box = QueryBox()
    async with Host(box).run_test() as pilot:
        for query in ("first", "second", "first", "third", "  "):
            box.remember(query)
        await pilot.press("d", "r")
        seen = []
        for key in ("up", "up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            seen.append(box.value)
        assert seen == ["third", "first", "second", "second", "first", "third", "dr"]


async def test_down_from_the_draft_goes_on_into_the_list() -> None:
    left: list[QueryBox.Left] = []

    class Watch(Host):
        def on_query_box_left(self, event: QueryBox.Left) -> None:
            left.append(event)

    box = QueryBox()
    async with Watch(box).run_test() as pilot:
        await pilot.press("down")
        assert len(left) == 1


async def test_enter_remembers() -> None:
    box = QueryBox()
    async with Host(box).run_test() as pilot:
        await pilot.press("a", "enter")
        box.set_query("")
        await pilot.press("up")
        assert box.value == "a"


async def test_the_history_is_bounded() -> None:
    box = QueryBox()
    async with Host(box).run_test():
        for number in range(MAX_HISTORY + 50):
            box.remember(str(number))
        for _ in range(MAX_HISTORY + 50):
            box.key_up(events.Key("up", None))
        assert box.value == "50"


@pytest.mark.case("U05", "T02")
@pytest.mark.parametrize(
    ("pasted", "held"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("two\nlines\there", "two lines here"),
        ("\x9b2J \u202e", "‹009B›2J ‹202E›"),
        ("[/", "[/"),
    ],
)
async def test_what_is_pasted_is_shown_as_signs(pasted: str, held: str) -> None:
    box = QueryBox()
    async with Host(box).run_test() as pilot:
        box.post_message(events.Paste(pasted))
        await pilot.pause()
        assert box.value == held
        box.set_query("")
        box.insert_text_at_cursor(pasted)
        assert box.value == held


@pytest.mark.case("T02", "T01")
async def test_half_a_tag_can_be_typed() -> None:
    box = QueryBox()
    async with Host(box).run_test() as pilot:
        for key in ("left_square_bracket", "slash", "x", "right_square_bracket"):
            await pilot.press(key)
        await pilot.pause()
        assert box.value == "[/x]"
