"""Asks where to move memories by hand, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tierdeck.model import Tier
from tierdeck_tui.screens.reason import ReasonedDialog
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow

_HOLD = "hold there"
_HELD_TOO = "held ones too"


@dataclass(frozen=True, slots=True)
class Override:
    """What was asked for: move there, hold there, and whether those on hold are moved too."""

    to_tier: Tier
    reason: str
    is_held_there: bool
    with_held: bool


class OverrideDialog(ReasonedDialog[Override]):
    """Shows what the rules say and what would move where; the preview follows what is chosen.

    Args:
        preview: what would happen, by the target and by whether held ones are moved too; may quote anybody's words.
        to_tier: the target to begin with.
        asks_held: there are several and some are held.
    """

    CSS_PATH = "form.tcss"

    def __init__(self, title: str, preview: Callable[[Tier, bool], str], *, to_tier: Tier, asks_held: bool) -> None:
        keys = "tab · ← → move to · enter · esc cancel"
        super().__init__(title, preview(to_tier, False), confirm="Override", keys=keys)
        self._preview = preview
        self._to_tier = to_tier
        self._asks_held = asks_held

    def compose_question(self) -> Iterable[Widget]:
        """The target, what else is done, then the reason."""
        with Horizontal(classes="form-field"):
            yield Static("move to", markup=False, classes="form-label")
            yield OptionRow(list(Tier), {self._to_tier}, is_single=True, id="override-tier")
        with Horizontal(classes="form-field"):
            yield Static("and", markup=False, classes="form-label")
            also = [_HOLD, _HELD_TOO] if self._asks_held else [_HOLD]
            yield OptionRow(also, {_HOLD}, id="override-also")
        yield from super().compose_question()

    def answer(self, _: DialogButton, /) -> Override:
        """What was chosen."""
        also = self.query_one("#override-also", OptionRow).chosen
        return Override(self._chosen_tier, self.reason, _HOLD in also, _HELD_TOO in also)

    @property
    def _chosen_tier(self) -> Tier:
        return Tier(self.query_one("#override-tier", OptionRow).chosen[0])

    @on(OptionRow.Changed)
    def _chosen_otherwise(self) -> None:
        also = self.query_one("#override-also", OptionRow).chosen
        text = self._preview(self._chosen_tier, _HELD_TOO in also)
        self.query_one(".dialog-text Static", Static).update(Content(visible(text)))
        self.call_after_refresh(self.say_more)
