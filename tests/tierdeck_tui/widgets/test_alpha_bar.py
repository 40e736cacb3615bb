from __future__ import annotations

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.widgets.alpha_bar import AlphaBar


class Watch(Host):
    moved: list[float]

    def on_alpha_bar_changed(self, event: AlphaBar.Changed) -> None:
        self.moved.append(event.alpha)


async def test_the_arrows_move_it_while_it_has_the_focus() -> None:
    bar = AlphaBar()
    host = Watch(bar)
    host.moved = []
    async with host.run_test() as pilot:
        await pilot.press("right", "left", "left", "end", "right", "home")
        await pilot.pause()
        assert host.moved == [0.6, 0.5, 0.4, 1.0, 0.0]
        assert bar.render_line(0).text.startswith("█ words ◄●")


async def test_a_click_on_the_track_puts_it_there() -> None:
    bar = AlphaBar()
    host = Watch(bar)
    host.moved = []
    async with host.run_test() as pilot:
        track = bar.render_line(0).text.index("◄") + 1
        await pilot.click(AlphaBar, offset=(track + 10, 0))
        await pilot.click(AlphaBar, offset=(0, 0))
        assert host.moved == [1.0]
