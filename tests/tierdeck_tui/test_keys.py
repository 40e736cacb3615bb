from __future__ import annotations

import pytest

from tierdeck_tui.keys import DELIVERABLE_KEYS, key_name, key_text


@pytest.mark.case("T15")
@pytest.mark.parametrize(
    "key",
    [
        "ctrl+enter", "alt+enter", "shift+enter", "alt+1", "ctrl+1", "ctrl+shift+p", "ctrl+i", "ctrl+m", "ctrl+h",
        "ctrl+j", "ctrl+a", "ctrl+b", "super+c", "shift+space", "f13",
    ],
)  # fmt: skip
def test_a_key_that_terminals_swallow_or_rename_is_not_deliverable(key: str) -> None:
    assert key not in DELIVERABLE_KEYS


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("?", "question_mark"),
        ("/", "slash"),
        ("[", "left_square_bracket"),
        ("G", "G"),
        ("esc", "escape"),
        ("Ctrl+D", "ctrl+d"),
        (" F1 ", "f1"),
        ("pgdn", "pagedown"),
    ],
)
def test_a_key_as_people_write_it_gets_the_name_that_textual_knows(written: str, name: str) -> None:
    assert key_name(written) == name
    assert name in DELIVERABLE_KEYS


@pytest.mark.parametrize("name", sorted(DELIVERABLE_KEYS))
def test_what_is_shown_of_a_key_leads_back_to_it(name: str) -> None:
    shown = key_text(name)
    assert key_name(shown.replace("^", "ctrl+") if len(shown) > 1 else shown) == name
