from __future__ import annotations

import inspect
from collections import Counter

import pytest
from textual.dom import DOMNode
from textual.widget import Widget

from tierdeck.errors import ConfigError
from tierdeck_tui import screens, widgets
from tierdeck_tui.actions import (
    ACTIONS,
    BY_ID,
    Action,
    bindings_for,
    checked_keymap,
    grouped,
    key_table_markdown,
    keys_of,
)
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.keys import DELIVERABLE_KEYS, key_text
from tierdeck_tui.shell import ShellApp

_ids = [action.id for action in ACTIONS]


def _classes() -> list[type[DOMNode]]:
    """The app and every screen and widget of ours, found through what is imported when the app is."""
    found: list[type[DOMNode]] = [TierdeckApp, ShellApp]
    waiting = list(Widget.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith((screens.__name__, widgets.__name__)):
            found.append(kind)
    return found


def test_no_two_actions_share_an_id() -> None:
    assert [name for name, number in Counter(_ids).items() if number > 1] == []


@pytest.mark.case("T15")
@pytest.mark.parametrize("action", ACTIONS, ids=_ids)
def test_every_key_of_an_action_is_one_that_tmux_delivers(action: Action) -> None:
    assert action.keys
    assert set(keys_of(action, {})) <= DELIVERABLE_KEYS


@pytest.mark.parametrize("action", ACTIONS, ids=_ids)
def test_something_does_every_action(action: Action) -> None:
    method = f"action_{action.id}"
    own = [kind for kind in _classes() if method in kind.__dict__]
    assert own or hasattr(TierdeckApp, method), f"nothing has {method}"
    assert all(inspect.getdoc(getattr(kind, method)) for kind in own)


@pytest.mark.parametrize("action", ACTIONS, ids=_ids)
def test_every_action_says_what_it_does_in_a_sentence_that_fits_the_help_screen(action: Action) -> None:
    assert action.tooltip[0].isupper()
    assert not action.tooltip.endswith(".")
    assert 2 < len(action.tooltip) <= 60
    assert len(action.label) <= 14
    assert "[" not in action.tooltip, "the palette would read it as markup"


def test_the_table_as_it_stands_has_no_two_live_actions_on_one_key() -> None:
    assert checked_keymap({}) == {}


def test_a_binding_carries_the_id_and_the_sentence_of_its_action() -> None:
    for binding in bindings_for("app", "list", "search", "overview", "dialog"):
        assert binding.id is not None
        assert binding.tooltip == BY_ID[binding.id].tooltip
        assert binding.action == binding.id


def test_the_key_table_names_every_action_and_key_once() -> None:
    table = key_table_markdown().splitlines()
    assert len(table) == len(ACTIONS) + 2
    for action in ACTIONS:
        [row] = [row for row in table if f"| {action.tooltip} |" in row and f"| {action.group} |" in row]
        assert row.count(" | ") == 3
        assert row.endswith(f"| `{action.id}` |")
        assert all(f"`{key_text(key)}`" in row for key in keys_of(action, {}))


def test_groups_keep_the_order_of_the_table() -> None:
    names = [name for name, _ in grouped()]
    assert names == list(dict.fromkeys(action.group for action in ACTIONS))
    assert sum(len(actions) for _, actions in grouped()) == len(ACTIONS)


def test_keys_changed_in_the_settings_are_what_the_action_answers_to() -> None:
    keymap = {"quit": "Q, ctrl+x", "help": "f12"}
    assert checked_keymap(keymap) == {"quit": "Q,ctrl+x", "help": "f12"}
    assert keys_of(BY_ID["quit"], keymap) == ("Q", "ctrl+x")
    assert keys_of(BY_ID["reload"], keymap) == ("r",)


def test_two_actions_may_swap_their_keys() -> None:
    assert checked_keymap({"quit": "r", "reload": "q"}) == {"quit": "r", "reload": "q"}


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"fly": "x"}, "no action 'fly'"),
        ({"quit": ""}, "quit has no key"),
        ({"quit": " , "}, "quit has no key"),
        ({"quit": "ctrl+enter"}, "'ctrl+enter'"),
        ({"quit": "alt+1"}, "'alt+1'"),
        ({"quit": "ctrl+b"}, "'ctrl+b'"),
        ({"quit": "r"}, "'r' is asked for by"),
        ({"toggle_mark": "f"}, "'f' is asked for by"),
        ({"reload": "?"}, "'?' is asked for by"),
    ],
)
def test_a_keymap_that_can_not_work_is_refused_with_what_is_wrong(keymap: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_keymap(keymap)
    assert said in caught.value.message
    assert "[console.keymap]" in caught.value.message
    assert caught.value.hint


def test_an_action_of_an_unknown_id_is_refused_with_where_the_ids_are_and_which_are_near() -> None:
    with pytest.raises(ConfigError) as caught:
        checked_keymap({"toggle_marks": "x"})
    assert caught.value.hint is not None
    assert "perhaps toggle_mark" in caught.value.hint
    assert "README" in caught.value.hint
    assert "(?)" in caught.value.hint


def test_one_key_may_serve_two_actions_that_are_never_live_together() -> None:
    assert keys_of(BY_ID["cancel"], {}) == keys_of(BY_ID["back"], {})
    assert checked_keymap({"cancel": "q"}) == {"cancel": "q"}
