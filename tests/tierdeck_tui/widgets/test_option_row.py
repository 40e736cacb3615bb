from __future__ import annotations

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.widgets.option_row import OptionRow


async def test_space_chooses_and_lets_go() -> None:
    row = OptionRow(["task", "session", "longterm"], {"session"})
    host = Host(row)
    async with host.run_test() as pilot:
        assert host.lines()[0].rstrip() == "·task ✓session ·longterm"
        await pilot.press("space", "right", "right", "space")
        assert list(row.chosen) == ["longterm"]
        await pilot.press("left", "left", "space")
        assert list(row.chosen) == ["task", "longterm"]


async def test_of_a_single_choice_exactly_one_is_chosen() -> None:
    row = OptionRow(["fact", "decision"], {"fact"}, is_single=True)
    async with Host(row).run_test() as pilot:
        await pilot.press("space")
        assert row.chosen == ("fact",)
        await pilot.press("right", "right")
        assert row.chosen == ("decision",)


async def test_a_click_chooses() -> None:
    row = OptionRow(["task", "session"], set())
    async with Host(row).run_test() as pilot:
        await pilot.click(OptionRow, offset=(8, 0))
        assert row.chosen == ("session",)
