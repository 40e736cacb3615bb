"""The plan of a restore, over the whole screen; the turn is typed to confirm it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck_tui.reading.restore_plan import RestoreMode, RestorePlan
from tierdeck_tui.screens.reason import ReasonedDialog
from tierdeck_tui.view.checkpoint.plan import plan_lines, typed_answer
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.safe_input import SafeInput
from tierdeck_tui.widgets.text_view import TextView

MODES: tuple[RestoreMode, ...] = ("fork", "rewind")


@dataclass(frozen=True, slots=True)
class Restore:
    """What was confirmed: the plan as it was shown, and the new session's id where one was given."""

    plan: RestorePlan
    new_session_id: str | None


class RestoreDialog(ReasonedDialog[Restore]):
    """Shows the plan of a fork and of a rewind, and asks for the turn.

    Args:
        plans: by mode. A rewind is left out where it can't be done.
        why_not: why it is left out; empty when it is not.
    """

    CSS_PATH = "form.tcss"

    def __init__(self, plans: Mapping[RestoreMode, RestorePlan], *, why_not: str = "") -> None:
        target = plans["fork"].target
        super().__init__(f"Restore checkpoint {target.sequence}, turn {target.turn}", why_not, confirm="Fork")
        self.add_class("-full")
        self._plans = plans
        self._answer = typed_answer(plans["fork"])

    def compose_question(self) -> Iterable[Widget]:
        """Fork or rewind, the plan, the new session's id, then the turn."""
        with Horizontal(classes="form-field"):
            yield Static("how", markup=False, classes="form-label")
            yield OptionRow([mode for mode in MODES if mode in self._plans], {"fork"}, is_single=True, id="mode")
        yield TextView(id="plan")
        with Horizontal(classes="form-field", id="as-field"):
            yield Static("as", markup=False, classes="form-label")
            yield SafeInput(id="as", placeholder="the new session's id; empty makes one", compact=True)
        with Horizontal(classes="form-field"):
            yield Static("turn", markup=False, classes="form-label")
            yield SafeInput(
                id="reason", placeholder=f"type {self._answer} to confirm", compact=True, select_on_focus=False
            )
        yield Static("", id="reason-lacks", markup=False)

    def on_mount(self) -> None:
        """Show the plan once there is a width for it."""
        self.call_after_refresh(self._show_plan)

    def on_resize(self) -> None:
        """Lay the plan out anew."""
        self.call_after_refresh(self._show_plan)

    @property
    def plan(self) -> RestorePlan:
        """The plan that is shown."""
        return self._plans["rewind" if self.query_one("#mode", OptionRow).chosen == ("rewind",) else "fork"]

    def lacking(self) -> str:
        """That the turn is still to be typed."""
        typed = self.query_one("#reason", Input).value.strip()
        return "" if typed == self._answer else f"type the turn, {self._answer}, to {self.plan.mode} there"

    def answer(self, _: DialogButton, /) -> Restore:
        """What was confirmed."""
        plan = self.plan
        named = self.query_one("#as", Input).value.strip()
        return Restore(plan, named if plan.mode == "fork" and named else None)

    def action_text_down(self) -> None:
        """Scroll the plan down."""
        self.query_one("#plan", TextView).action_page_down()

    def action_text_up(self) -> None:
        """Scroll the plan up."""
        self.query_one("#plan", TextView).action_page_up()

    @on(OptionRow.Changed)
    def _mode_chosen(self) -> None:
        self._show_plan()
        self.query_one("#as-field").display = self.plan.mode == "fork"
        button = self.query_one("#confirm", DialogButton)
        button.label = self.plan.mode.capitalize()
        button.refresh(layout=True)
        self.query_one("#reason", Input).value = ""  # what was typed was for the other plan

    def _show_plan(self) -> None:
        for view in self.query("#plan").results(TextView):  # none any more when it was left before it was drawn
            view.show(plan_lines(self.plan, max(10, view.size.width - 1)))
