"""The list of deliverable keys, pressed for real."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.tmux import WAIT_S, Tmux
from tierdeck_tui.keys import DELIVERABLE_KEYS, key_text

_TMUX_NAMES = {
    "enter": "Enter",
    "escape": "Escape",
    "tab": "Tab",
    "shift+tab": "BTab",
    "space": "Space",
    "backspace": "BSpace",
    "delete": "DC",
    "insert": "IC",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
    "pageup": "PPage",
    "pagedown": "NPage",
}


def _tmux_name(key: str) -> str:
    if key in _TMUX_NAMES:
        return _TMUX_NAMES[key]
    if key.startswith("ctrl+"):
        return f"C-{key.removeprefix('ctrl+')}"
    text = key_text(key)
    return "\\;" if text == ";" else text  # alone, it would part two tmux commands


def _pressed(tmux: Tmux, tmp_path: Path, names: list[str]) -> list[str]:
    """What arrives when these keys are pressed one after the other."""
    got = tmp_path / "keys"
    tmux.start(shlex.join([sys.executable, str(Path(__file__).with_name("echo_keys.py")), str(got)]))
    end = time.monotonic() + WAIT_S
    while not got.exists() and time.monotonic() < end:
        time.sleep(0.05)
    for name in names:
        tmux.send(name)
        if name == "Escape":
            time.sleep(0.3)  # a lone escape is told from a sequence only by the pause after it
    arrived: list[str] = []
    while len(arrived) < len(names) and time.monotonic() < end:
        arrived = got.read_text("utf-8").split()
        time.sleep(0.05)
    return arrived


@pytest.mark.case("T15")
def test_every_key_on_the_list_arrives_under_its_name(tmux: Tmux, tmp_path: Path) -> None:
    keys = sorted(DELIVERABLE_KEYS)
    assert _pressed(tmux, tmp_path, [_tmux_name(key) for key in keys]) == keys


@pytest.mark.case("T15")
def test_keys_off_the_list_arrive_as_others(tmux: Tmux, tmp_path: Path) -> None:
    names = ["C-i", "C-m", "C-h", "C-Enter", "S-Enter", "C-S-p"]
    arrived = _pressed(tmux, tmp_path, names)
    assert not set(arrived) & {"ctrl+i", "ctrl+m", "ctrl+enter", "shift+enter", "ctrl+shift+p"}
    assert arrived[:2] == ["tab", "enter"]
