"""The keys that really reach the console, by Textual's names, and how they are written for people.

tmux 3.3 does not deliver ctrl+enter, alt+enter, alt+digit, shift+enter or ctrl+shift+letter; ctrl+i, ctrl+m and
ctrl+h arrive as tab, enter and backspace; ctrl+a and ctrl+b are the prefix keys of screen and tmux. What is listed
here was sent with `tmux send-keys` and arrived (tests/tierdeck_tui/e2e).
"""

from __future__ import annotations

import string

from textual.keys import _character_to_key  # the one place where Textual names a printable key

_NAMED = (
    "enter", "escape", "tab", "shift+tab", "space", "backspace", "delete", "insert",
    "up", "down", "left", "right", "home", "end", "pageup", "pagedown",
)  # fmt: skip
_CTRL_LETTERS = "cdefgklnopqrstuvwxyz"
_SHOWN = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "backspace": "bksp",
    "delete": "del",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
_SHORT_NAMES = {shown: name for name, shown in _SHOWN.items()}
_PRINTABLE = {_character_to_key(c): c for c in string.digits + string.ascii_letters + string.punctuation}

DELIVERABLE_KEYS = frozenset(
    {
        *_NAMED,
        *_PRINTABLE,
        *(f"ctrl+{letter}" for letter in _CTRL_LETTERS),
        *(f"f{number}" for number in range(1, 13)),
    }
)


def key_name(written: str) -> str:
    """Textual's name of a key as a person writes it: `?` is question_mark, `esc` is escape."""
    written = written.strip()
    if written.lower() in _SHORT_NAMES:
        return _SHORT_NAMES[written.lower()]
    return _character_to_key(written) if len(written) == 1 else written.lower()


def key_text(name: str) -> str:
    """How a key is shown in the footer, the help screen and the README: question_mark is `?`, ctrl+p is `^p`."""
    if name in _PRINTABLE:
        return _PRINTABLE[name]
    if name.startswith("ctrl+"):
        return f"^{name.removeprefix('ctrl+')}"
    if name.startswith("f") and name[1:].isdigit():
        return name.upper()
    return _SHOWN.get(name, name)
