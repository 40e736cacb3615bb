"""The console on one store: how it opens, its modes, and what goes on in the background."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on, work
from textual.screen import Screen
from textual.timer import Timer

from tierdeck.config import Settings
from tierdeck.errors import TierdeckError
from tierdeck.store import StoreKind
from tierdeck_tui.actions import checked_keymap
from tierdeck_tui.background import bring_up_meaning, fill_index, watch_store
from tierdeck_tui.log_file import logging_to_file
from tierdeck_tui.messages import (
    BackgroundFailed,
    IndexFilled,
    IndexMoved,
    LogWanted,
    MeaningChanged,
    MemoryWanted,
    StoreChanged,
    WaitingCounted,
)
from tierdeck_tui.modes import CHECKPOINTS, FIRST_MODE, MODES, OVERVIEW, PROMOTIONS, SEARCH, Mode
from tierdeck_tui.quick_turns import QuickTurns
from tierdeck_tui.quiet_collector import QUIET_S, QuietCollector
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.opening import StoreOpening
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.screens.opening import OpeningScreen
from tierdeck_tui.shell import ShellApp
from tierdeck_tui.status import FrameStatus
from tierdeck_tui.terminal import ending_on_signals, follow_real_size, require_terminal
from tierdeck_tui.widgets.card import Card

# A store that is free opens in some 10 ms; whoever waits longer than this sees a screen.
OPEN_BEFORE_SCREEN_S = 0.25
OPENING_POLL_S = 0.05
# Groups of workers whose answer is waited for.
READING = frozenset({"search", "page", "detail", "archive"})


def run_console(store_path: Path, settings: Settings, read_only: bool) -> int:
    """Show the console on a store until the operator leaves.

    Returns:
        The exit code: 0, or 128 and the signal's number when a signal ended it.

    Raises:
        InvalidValueError: there is no terminal.
        ConfigError: the settings' keymap can't be used.
        StoreError: the store can't be opened; mostly before anything was drawn.
        Exception: what nobody foresaw; the terminal is as it was before.
    """
    require_terminal()
    checked_keymap(settings.console.keymap)
    follow_real_size()
    opening = StoreOpening(store_path, settings, read_only)
    opening.start()
    try:
        opening.wait(OPEN_BEFORE_SCREEN_S)
        with logging_to_file():
            app = TierdeckApp(opening)
            with ending_on_signals(app.end_soon):
                app.run()
    finally:
        opening.close()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


class TierdeckApp(ShellApp):
    """The console. `status` is what the header shows on every screen.

    Args:
        source: an open console, or a store that is still being opened; its maker closes it.
    """

    def __init__(self, source: Console | StoreOpening) -> None:
        super().__init__(source.settings.console)
        self._source = source
        self._deck: Console | None = None
        self._poll: Timer | None = None
        self._screens: dict[str, FrameScreen] = {}
        self._stopped = threading.Event()
        self._is_fill_due = False
        self._collector, self._turns = QuietCollector(), QuickTurns()

    @property
    def deck(self) -> Console:
        """The open store and what belongs to it; only there once the store is open."""
        if self._deck is None:
            raise RuntimeError("the store is not open yet")
        return self._deck

    @property
    def is_read_only(self) -> bool:
        """Whether actions that write are refused."""
        return self._deck is None or self._deck.read_only

    @property
    def read_only_reason(self) -> str:
        """Why they are, and what to do about it."""
        if self._deck is not None and self._deck.store.kind is StoreKind.FOREIGN:
            return "the store is another program's; `tierdeck adopt` makes it writable, after a backup"
        return "the store is open for reading only; start without --read-only"

    def go_to_mode(self, name: str) -> FrameScreen | None:
        """Show a mode's screen as it was left; None while there is no such mode to go to."""
        if self._deck is None or name not in {mode.name for mode in MODES}:
            return None
        self.switch_mode(name)
        self.fit_size(self.size)
        return self._screens[name]

    def open_search(self, query_text: str) -> None:
        """Show the Search screen with this query in its box."""
        if (screen := self.go_to_mode(SEARCH)) is not None:
            screen.open_query(query_text)

    @on(Card.BoardOpened)
    def _open_board(self, event: Card.BoardOpened) -> None:
        if (screen := self.go_to_mode(PROMOTIONS)) is not None:
            screen.open_tab(event.tab, event.rule)

    @on(Card.CheckpointsOpened)
    def _open_checkpoints(self) -> None:
        self.go_to_mode(CHECKPOINTS)

    @on(LogWanted)
    def _open_log(self, event: LogWanted) -> None:
        if (screen := self.go_to_mode(PROMOTIONS)) is not None:
            screen.open_log(event.node_id)

    @on(MemoryWanted)
    def _open_memory(self, event: MemoryWanted) -> None:
        if (screen := self.go_to_mode(SEARCH)) is not None:
            screen.open_memory(event.node_id)

    @on(Card.Opened)
    def _open_card(self, event: Card.Opened) -> None:
        self.open_search(event.query)

    def action_mode_search(self) -> None:
        """Show the Search screen."""
        self.go_to_mode(SEARCH)

    def action_mode_promotions(self) -> None:
        """Show the Promotions screen."""
        self.go_to_mode(PROMOTIONS)

    def action_mode_checkpoints(self) -> None:
        """Show the Checkpoints screen."""
        self.go_to_mode(CHECKPOINTS)

    def action_mode_overview(self) -> None:
        """Show the Overview."""
        self.go_to_mode(OVERVIEW)

    def action_reload(self) -> None:
        """Read the store again."""
        if isinstance(self.screen, FrameScreen):
            self.screen.reload()

    # How it begins and ends

    def get_default_screen(self) -> Screen[None]:
        """What lies below the modes: seen only while the store is being opened."""
        source = self._source
        return OpeningScreen(source.store.path if isinstance(source, Console) else source.path)

    def on_mount(self) -> None:
        """Show the first mode when the store is open, else say that it is being opened."""
        self._collector.start()
        self._turns.start()
        self.set_interval(QUIET_S, self._collect)
        if isinstance(self._source, Console):
            self._use(self._source)
        else:
            self.status = FrameStatus(self._source.path.name, "opening", modes=MODES)
            self._poll = self.set_interval(OPENING_POLL_S, partial(self._look_at, self._source))
            self._look_at(self._source)

    def end_soon(self, code: int) -> None:
        """End with this exit code; may be called from a signal handler, whatever the event loop is doing."""
        self._return_code = code
        if self._loop is not None:
            self._loop.call_soon_threadsafe(partial(self.exit, return_code=code))

    def on_unmount(self) -> None:
        """Let the background end."""
        self._stopped.set()
        self._collector.stop()
        self._turns.stop()

    def _collect(self) -> None:
        is_reading = any(worker.group in READING and not worker.is_finished for worker in self.workers)
        self._collector.look(time.monotonic() - self.last_key_at_s, is_reading=is_reading)

    def _look_at(self, opening: StoreOpening) -> None:
        try:
            deck = opening.wait(0)
        except TierdeckError as e:
            self.failure = e
            self.exit(return_code=e.exit_code)
            return
        if deck is not None:
            if self._poll is not None:
                self._poll.stop()
            self._use(deck)
        elif opening.busy is not None and isinstance(self.screen, OpeningScreen):
            self.screen.show_busy(opening.busy)

    def _use(self, deck: Console) -> None:
        self._deck = deck
        self.status = FrameStatus(deck.store.path.name, deck.access, progress="meaning: loading…", modes=MODES)
        for mode in MODES:
            self.add_mode(mode.name, partial(self._make_screen, mode, deck))
        self.go_to_mode(FIRST_MODE)
        self.call_after_refresh(self._start_background, deck)

    def _make_screen(self, mode: Mode, deck: Console) -> FrameScreen:
        screen = mode.make(deck)
        screen.fit_width(self.size.width)
        # A new screen counts as one with old styles, and Textual reads the whole style sheet again for it, here and
        # at the next two changes of mode: 40 to 80 ms each, in which no key is answered.
        screen._css_update_count = self._css_update_count
        self._screens[mode.name] = screen
        return screen

    # What goes on in the background

    def _start_background(self, deck: Console) -> None:
        self._watch(deck)
        self._bring_up(deck)

    @work(thread=True, group="watch")
    def _watch(self, deck: Console) -> None:
        watch_store(deck, self.post_message, self._stopped)

    @work(thread=True, group="meaning")
    def _bring_up(self, deck: Console) -> None:
        bring_up_meaning(deck, self.post_message)

    @work(thread=True, group="index")
    def _fill(self, deck: Console) -> None:
        fill_index(deck, self.post_message, self._stopped)

    @on(StoreChanged)
    def _store_changed(self, event: StoreChanged) -> None:
        self.status = replace(self.status, memories=event.memories)
        if not event.is_first:
            self._fill_again()
            for screen in self._live_screens():
                screen.store_changed()

    @on(WaitingCounted)
    def _waiting_counted(self, event: WaitingCounted) -> None:
        self.status = replace(self.status, badges={**self.status.badges, PROMOTIONS: event.memories})

    @on(MeaningChanged)
    def _meaning_changed(self, event: MeaningChanged) -> None:
        self.status = replace(self.status, degraded=event.state.degraded, progress="")
        self._fill_again()
        for screen in self._live_screens():
            screen.meaning_changed()

    @on(IndexMoved)
    def _index_moved(self, event: IndexMoved) -> None:
        self.status = replace(self.status, progress=f"embedding {event.done:,} of {event.total:,}")

    @on(IndexFilled)
    def _index_filled(self, event: IndexFilled) -> None:
        self.status = replace(self.status, progress="")
        if self._is_fill_due:
            self._fill_again()
        if event.embedded:
            for screen in self._live_screens():
                screen.meaning_changed()

    def _live_screens(self) -> list[FrameScreen]:
        """The screens that have their widgets; one that has not yet reads everything when it gets them."""
        return [screen for screen in self._screens.values() if screen.is_mounted]

    def _fill_again(self) -> None:
        is_filling = any(worker.group == "index" and not worker.is_finished for worker in self.workers)
        self._is_fill_due = is_filling
        if not is_filling:
            self._fill(self.deck)

    @on(BackgroundFailed)
    def _background_failed(self, event: BackgroundFailed) -> None:
        self.status = replace(self.status, degraded=self.deck.meaning_state().degraded, progress="")
        self.show_error(event.error)
