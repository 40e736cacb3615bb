"""A real tmux for each test; without the program the tests say that they skip."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.tierdeck_tui.e2e.tmux import Tmux

MakeTmux = Callable[..., Tmux]


@pytest.fixture
def make_tmux() -> Iterator[MakeTmux]:
    """Makes a terminal of a given width and height; all of them end with the test."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: the console is not tried in a real terminal here")
    with ExitStack() as stack:
        yield lambda width=80, height=24: stack.enter_context(Tmux(width, height))


@pytest.fixture
def tmux(make_tmux: MakeTmux) -> Tmux:
    """A terminal of 80 by 24."""
    return make_tmux()
