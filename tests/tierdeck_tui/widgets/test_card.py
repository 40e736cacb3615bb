from __future__ import annotations

import pytest
from rich.style import Style

from tests.tierdeck_tui.widgets.host import Host
from tierdeck.config import Theme
from tierdeck_tui.themes import THEME_NAMES, textual_name
from tierdeck_tui.view.card_line import BAR, CardLine
from tierdeck_tui.widgets.card import Card

_TASK, _SESSION, _ARCHIVE, _NEWEST = range(4)
_LINES = [
    CardLine("task", "5  50%", share=0.5, query="tier:task"),
    CardLine("session", "5  50%", share=0.5, query="tier:session"),
    CardLine("archive", "0   0%", share=0.0, query="tier:archive"),
    CardLine("newest", "3h ago", query=""),
]


def _cells(card: Card, y: int) -> list[tuple[str, Style]]:
    """Each character of a row with its look."""
    return [(char, segment.style or Style()) for segment in card.render_line(y) for char in segment.text]


def _looks(card: Card, y: int, start: int, end: int | None = None) -> list[str]:
    """How a stretch of a row looks; `str` drops the place that Textual keeps in a style."""
    return [str(style) for _, style in _cells(card, y)[start:end]]


@pytest.mark.parametrize("theme", THEME_NAMES)
async def test_the_cursor_marks_the_words_of_a_line_and_leaves_its_bar_as_it_is(theme: Theme) -> None:
    card = Card("By tier", id="tiers")
    app = Host(card)
    async with app.run_test(size=(50, 12)) as pilot:
        app.theme = textual_name(theme)
        card.show(_LINES)
        await pilot.pause()
        text = "".join(char for char, _ in _cells(card, _TASK))
        words = text.index(BAR) - 1  # the gap belongs to the bar
        marked, other = _looks(card, _TASK, 0, words), _looks(card, _SESSION, 0, words)
        assert len(set(marked)) == 1
        assert not set(marked) & set(other)
        assert _looks(card, _TASK, words) == _looks(card, _SESSION, words)


async def test_the_cursor_fills_a_line_without_a_bar_and_not_where_a_bar_is_empty() -> None:
    card = Card("By tier", id="tiers")
    async with Host(card).run_test(size=(50, 12)) as pilot:
        card.show(_LINES)
        await pilot.press("j", "j")
        cursor = _looks(card, _ARCHIVE, 0, 1)[0]
        assert _looks(card, _ARCHIVE, 0).count(cursor) == len("archive 0   0%")
        await pilot.press("j")
        assert _looks(card, _NEWEST, 0).count(cursor) == card.content_size.width
