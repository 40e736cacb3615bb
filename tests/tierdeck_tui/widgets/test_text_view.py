from __future__ import annotations

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.view.line import Piece, line
from tierdeck_tui.widgets.text_view import TextView


def hundred() -> list[tuple[Piece, ...]]:
    return [line(f"line {n} ", Piece("[/x]", "match")) for n in range(100)]


async def test_the_keys_scroll_it_and_jump_by_sections() -> None:
    view = TextView()
    host = Host(view)
    async with host.run_test(size=(60, 14)) as pilot:
        view.show(hundred(), [20, 60])
        await pilot.pause()
        for key, top in (("j", 1), ("k", 0), ("ctrl+d", 7), ("ctrl+u", 0), ("G", 86), ("g", 0)):
            await pilot.press(key)
            await pilot.pause()
            assert host.lines()[0].startswith(f"line {top} [/x]")
        for step, top in ((1, 20), (1, 60), (1, 60), (-1, 20), (-1, 0)):
            view.go_to_section(step)
            await pilot.pause()
            assert view.scroll_offset.y == top


async def test_matches_out_of_sight_come_into_the_middle_and_what_is_seen_is_passed_over() -> None:
    view = TextView()
    host = Host(view)
    async with host.run_test(size=(60, 14)) as pilot:
        view.show(hundred(), (), [3, 40, 42, 70])
        await pilot.pause()
        for step, top in ((1, 33), (1, 63), (-1, 35), (-1, 0)):
            assert view.go_to_match(step)
            await pilot.pause()
            assert view.scroll_offset.y == top
        assert not view.go_to_match(-1)
        view.show(hundred())
        assert not view.go_to_match(1)


@pytest.mark.case("T25")
async def test_what_is_selected_is_set_off_and_can_be_copied() -> None:
    view = TextView()
    host = Host(view)
    async with host.run_test(size=(60, 14)) as pilot:
        view.show(hundred())
        await pilot.pause()
        host.screen.selections = {view: Selection(Offset(5, 1), Offset(6, 3))}
        await pilot.pause()
        assert host.screen.get_selected_text() == "1 [/x]\nline 2 [/x]\nline 3"
        plain, chosen = view.render_line(0), view.render_line(2)
        assert {segment.style for segment in chosen} != {segment.style for segment in plain}
        assert chosen.text.startswith("line 2 [/x]")


@pytest.mark.case("T25")
async def test_the_mouse_selects() -> None:
    view = TextView()
    host = Host(view)
    async with host.run_test(size=(60, 14)) as pilot:
        view.show(hundred())
        await pilot.pause()
        await pilot.mouse_down(TextView, offset=(0, 1))
        await pilot.hover(TextView, offset=(6, 1))
        await pilot.mouse_up(TextView, offset=(6, 1))
        assert (host.screen.get_selected_text() or "").strip() == "line 1"


@pytest.mark.case("T08")
async def test_painting_costs_what_is_seen_and_not_what_there_is() -> None:
    view = TextView()
    host = Host(view)
    painted: list[int] = []

    async with host.run_test(size=(60, 14)) as pilot:
        paint = view.strip_of

        def counted(*args: object, **how: object) -> object:
            painted.append(1)
            return paint(*args, **how)  # type: ignore[arg-type]

        view.strip_of = counted  # type: ignore[method-assign, assignment]
        view.show([line("a line")] * 100_000)
        await pilot.pause()
        painted.clear()
        await pilot.press("tab", "shift+tab")
        assert len(painted) <= 2 * 14
