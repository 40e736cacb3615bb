"""Asks why, and until when, no rule shall move memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck_tui.screens.reason import ReasonedDialog
from tierdeck_tui.view.typed_time import future_time_ms
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.safe_input import SafeInput


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """Why, and until when; None is without end."""

    reason: str
    until_ms: int | None


class HoldDialog(ReasonedDialog[HoldAnswer]):
    """Shows which memories would be held and asks for the reason; an end may be given.

    Args:
        now_ms: the clock that `14d` counts from.
    """

    CSS_PATH = "form.tcss"

    def __init__(self, title: str, text: str, *, now_ms: int) -> None:
        super().__init__(title, text, confirm="Hold")
        self._now_ms = now_ms

    def compose_question(self) -> Iterable[Widget]:
        """The end, then the reason."""
        with Horizontal(classes="form-field"):
            yield Static("until", markup=False, classes="form-label")
            yield SafeInput(placeholder="14d, 12h or 2026-12-31; empty: without end", compact=True, id="hold-until")
        yield from super().compose_question()

    def answer(self, _: DialogButton, /) -> HoldAnswer:
        """What was typed."""
        return HoldAnswer(self.reason, self._until_ms())

    def lacking(self) -> str:
        """What stands in the way."""
        try:
            self._until_ms()
        except ValueError as e:
            return f"until {e}"
        return super().lacking()

    def _until_ms(self) -> int | None:
        return future_time_ms(self.query_one("#hold-until", Input).value, self._now_ms)
