"""A console that stands still for tests: no blinking cursor, no animation, and stores to open it on."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual import _wait, constants
from textual.reactive import Reactive
from textual.widgets import Input

from tierdeck.config import ConsoleSettings, EmbeddingSettings, Settings
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console

MakeApp = Callable[..., TierdeckApp]
WORKERS_S = 30.0

# Each drives, breaks or shifts a terminal or a widget when it gets there as it is.
HOSTILE_TEXTS = (
    "\x1b]52;c;aGFja2Vk\x07clipboard",
    "\x1b]0;owned\x07title \x1b]2;owned\x1b\\",
    "\x1b[2J\x1b[H\x1b[?1049l\x1b[?1000h\x1b[?1006l screen",
    "\x9b2J\x9d0;owned\x9c C1",
    "\u202edesrever\u2066 bidi",
    "[/x] [/ [0] [@click=app.quit]quit[/] x[k=v: [bold red]",
    "日本語 👩‍👩‍👧 ⚙️ é\u0301 \t\r\n\x01 end",
    "[OPS-1234] fix [/etc/app] a[0]",
)


@pytest.fixture(autouse=True)
def still_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No blinking cursor and no animations, so that what is on the screen does not depend on when one looks."""
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    blink: Reactive[bool] = Reactive(False, init=False)
    blink.__set_name__(Input, "cursor_blink")
    monkeypatch.setattr(Input, "cursor_blink", blink)


@pytest.fixture(autouse=True)
def quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pilot waits after each key until the process was idle for 20 ms; 5 ms show the same and add up to less."""
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 0.005)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 0.005 / 20)


@pytest.fixture(autouse=True)
def unfrozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app freezes what is there once its model is up; here that would keep the apps before it, too."""
    monkeypatch.setattr(gc, "freeze", lambda: None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """An app goes with its test, all cycles and 5 MB; what stays, mostly Textual's caches, is not walked again.

    Without it a worker grew to 2 GB. With the collector left to itself it stood at 160 MB, and spent a third of the
    time on walking what stays.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture
def make_app() -> Iterator[MakeApp]:
    """Makes an app on a store; without a model unless settings say otherwise, so that nothing moves by itself."""
    opened: list[Console] = []

    def make(path: Path, settings: Settings | None = None, *, read_only: bool = False) -> TierdeckApp:
        settings = settings or Settings(embedding=EmbeddingSettings(provider="off"))
        opened.append(Console(open_store(path, read_only=read_only), settings, read_only))
        return TierdeckApp(opened[-1])

    yield make
    for console in opened:
        console.close()


@pytest.fixture
def small_store(tmp_path: Path) -> Path:
    """A store of our own with a memory of each type in each tier."""
    path = tmp_path / "small.db"
    drafts = [
        NodeDraft(
            f"A {kind.value} that is kept in {tier.value}: postgres pool number {number}", type=kind, tier=tier
        )
        for number, (kind, tier) in enumerate((kind, tier) for kind in NodeType for tier in Tier)
    ]
    with open_store(path, create=True) as store:
        add_nodes(store, drafts)
    return path


@pytest.fixture
def hostile_store(tmp_path: Path) -> Path:
    """A store whose every text tries something."""
    path = tmp_path / "hostile.db"
    drafts = [
        NodeDraft(
            f"{text} number {number}",
            subtype=text,
            provenance=text,
            metadata={"note": text, text: "key"},
        )
        for number, text in enumerate(HOSTILE_TEXTS)
    ]
    with open_store(path, create=True) as store:
        add_nodes(store, drafts)
    return path


async def finished(app: TierdeckApp, *groups: str) -> None:
    """Wait until the workers of these groups are done (Textual's own wait takes none for all, the watcher too)."""
    for _ in range(int(WORKERS_S / 0.01)):
        await asyncio.sleep(0.01)
        if not any(worker.group in groups and not worker.is_finished for worker in app.workers):
            return
    raise TimeoutError(f"workers of {groups} were not done within {WORKERS_S:g} s")


def keyword_settings(**console: object) -> Settings:
    """Settings without an embedding model, and these console settings."""
    return Settings(
        embedding=EmbeddingSettings(provider="off"),
        console=ConsoleSettings(**console),  # type: ignore[arg-type]
    )
