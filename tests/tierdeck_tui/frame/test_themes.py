from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from tests.tierdeck_tui.conftest import MakeApp, keyword_settings
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.themes import ANSI, DARK, LIGHT, THEMES, textual_name

_LEAST = 4.5
_GROUNDS = ("background", "surface", "panel")
_TEXTS = (
    "foreground", "text", "text-muted", "text-disabled", "text-primary", "text-secondary", "text-accent",
    "text-warning", "text-error", "text-success", "primary", "secondary", "accent", "warning", "error", "success",
    "keyword", "semantic",
)  # fmt: skip
_PAIRS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("input-cursor-foreground", "input-cursor-background"),
    ("header-mode-foreground", "header-mode-background"),
    ("foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
    ("foreground", "block-hover-background"),
)


def _luminance(color: Color) -> float:
    parts = [part / 255 for part in color.rgb]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: Color, second: Color) -> float:
    """The contrast of WCAG 2: 1 for the same colour, 21 for black on white."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _colors(theme: Theme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables}


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast(Color.parse("#000"), Color.parse("#fff")) == pytest.approx(21)


@pytest.mark.case("T19")
@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", _GROUNDS)
@pytest.mark.parametrize("text", _TEXTS)
def test_every_text_colour_can_be_read_on_every_ground(theme: Theme, ground: str, text: str) -> None:
    colors = _colors(theme)
    assert contrast(Color.parse(colors[text]), Color.parse(colors[ground])) >= _LEAST


@pytest.mark.case("T19")
@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize(("text", "ground"), _PAIRS)
def test_cursor_and_selection_can_be_read(theme: Theme, text: str, ground: str) -> None:
    colors = _colors(theme)
    assert contrast(Color.parse(colors[text]), Color.parse(colors[ground])) >= _LEAST


def test_words_and_meaning_have_different_colours_in_every_theme() -> None:
    for theme in THEMES:
        assert theme.variables["keyword"] != theme.variables["semantic"]
        assert theme.accent != theme.warning


@pytest.mark.case("T19")
def test_the_ansi_theme_paints_no_background_of_its_own() -> None:
    for name, value in _colors(ANSI).items():
        if name in {"background", "surface", "panel", "boost"} or name.endswith("cursor-background"):
            color = Color.parse(value)
            assert color.ansi == -1 or color.a == 0, name


async def _painted(app: TierdeckApp) -> set[str]:
    """The background colours that reach the terminal."""
    async with app.run_test() as pilot:
        await pilot.press("4", "1")
        await pilot.pause(0.1)
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        filtered = app.get_line_filters()
        for line_filter in filtered:
            segments = list(line_filter.apply(segments, app.screen.background_colors[1]))
        return {str(segment.style.bgcolor.name) for segment in segments if segment.style and segment.style.bgcolor}


@pytest.mark.case("T19")
async def test_with_no_color_no_background_is_painted_whatever_the_theme(
    make_app: MakeApp, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert await _painted(make_app(small_store, keyword_settings(theme="dark"))) <= {"default"}


async def test_the_theme_of_the_settings_is_used_and_a_key_changes_it(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store, keyword_settings(theme="light"))
    async with app.run_test() as pilot:
        assert app.theme == textual_name("light")
        await pilot.press("4", "T")
        assert app.theme == textual_name("ansi")
        await pilot.press("T")
        assert app.theme == textual_name("dark")


async def test_with_no_color_the_key_says_why_it_does_nothing(
    make_app: MakeApp, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "T")
        assert app.theme == textual_name("ansi")
