"""The plan of a restore and the calls to decide about, over the whole screen; the turn is typed to confirm it.

The session's agent goes on while it is open, and other people restore too: the plan follows what is in the folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck.checkpoint.journal import Decision
from tierdeck.checkpoint.running import RestoreMode
from tierdeck_tui.reading.restore_offer import MODES, Offers, RestoreOffer
from tierdeck_tui.screens.reason import ReasonedDialog
from tierdeck_tui.view.checkpoint.decision import Chosen, choice_lines, decided, decided_words, decision_of
from tierdeck_tui.view.checkpoint.moved import still_chosen, what_moved
from tierdeck_tui.view.checkpoint.plan import plan_lines, typed_answer
from tierdeck_tui.view.line import Line
from tierdeck_tui.widgets.call_list import CallList
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.restore_watch import RestoreWatch
from tierdeck_tui.widgets.safe_input import SafeInput
from tierdeck_tui.widgets.text_view import TextView

_CALL_KEYS = "← → choose · ↑ ↓ call · tab next · esc"
_MODE_KEYS = "← → choose · tab next · esc cancel"


@dataclass(frozen=True, slots=True)
class Restore:
    """What was confirmed: the offer as shown, a new session's id where one was given, and what was decided.

    `chosen` is the last as it was chosen, `told` says it in words.
    """

    offer: RestoreOffer
    new_session_id: str | None
    decisions: Mapping[str, Decision]
    chosen: Mapping[str, Chosen]
    told: str


class RestoreDialog(ReasonedDialog[Restore]):
    """Shows the plan of a fork and of a rewind with the calls that can be decided about, and asks for the turn.

    While the focus is on the calls, all about the one under the cursor stands in the plan's place. What an agent
    does meanwhile is shown as it comes; when more than what the plan says of it has moved, the turn is to be typed
    again.

    Args:
        offers: as they were read last.
        by: who decides.
        reveal: show what looks like a secret.
        again: what was confirmed and not done, since its plan did not hold; it is taken up.
        why: why it was not done.
    """

    CSS_PATH = "form.tcss"

    def __init__(
        self, offers: Offers, *, by: str, reveal: bool = False, again: Restore | None = None, why: str = ""
    ) -> None:
        modes, target = offers.by_mode, offers.by_mode["fork"].plan.target
        why_not = "" if "rewind" in modes else "The session stands at no checkpoint, so only a fork can be made."
        mode: RestoreMode = "fork"
        if again is not None and again.offer.plan.mode in modes:
            mode = again.offer.plan.mode
        title = f"Restore checkpoint {target.sequence}, turn {target.turn}"
        super().__init__(title, why_not, confirm=mode.capitalize())
        self.add_class("-full")
        self._offers = offers
        self._by = by
        self._reveal = reveal
        self._answer = typed_answer(modes["fork"].plan)
        self._mode = mode
        self._again = again
        self._why = why
        self._problem = ""
        self._chosen: dict[RestoreMode, Mapping[str, Chosen]] = {}
        if again is not None:
            self._chosen[mode] = still_chosen(again.offer, self.offer, again.chosen)

    def compose_question(self) -> Iterable[Widget]:
        """Fork or rewind, the plan, the calls, the new session's id, then the turn."""
        with Horizontal(classes="form-field"):
            yield Static("how", markup=False, classes="form-label")
            modes = [mode for mode in MODES if mode in self._offers.by_mode]
            yield OptionRow(modes, {self._mode}, is_single=True, id="mode")
        yield RestoreWatch(self._offers, self._why, id="moved")
        yield TextView(id="plan")
        yield Static("", markup=False, id="calls-told")
        yield CallList(id="calls")
        with Horizontal(classes="form-field", id="value-field"):
            yield Static("value", markup=False, classes="form-label")
            yield SafeInput(
                id="value", placeholder="what the call gave: JSON, or a text; empty for none", compact=True
            )
        with Horizontal(classes="form-field", id="as-field"):
            yield Static("as", markup=False, classes="form-label")
            named = "" if self._again is None else self._again.new_session_id or ""
            yield SafeInput(named, id="as", placeholder="the new session's id; empty makes one", compact=True)
        with Horizontal(classes="form-field"):
            yield Static("turn", markup=False, classes="form-label")
            yield SafeInput(
                id="reason", placeholder=f"type {self._answer} to confirm", compact=True, select_on_focus=False
            )
        yield Static("", id="reason-lacks", markup=False)

    def on_mount(self) -> None:
        """Show the plan once there is a width for it."""
        self._show_mode()
        self.call_after_refresh(self._show_text)

    def on_resize(self) -> None:
        """Lay the plan out anew."""
        self.call_after_refresh(self._show_text)

    @property
    def offer(self) -> RestoreOffer:
        """The way that is shown."""
        return self._offers.by_mode[self._mode]

    def lacking(self) -> str:
        """Why nothing can be done any more, or that the turn is still to be typed."""
        if self._problem:
            return self._problem
        typed = self.query_one("#reason", Input).value.strip()
        return "" if typed == self._answer else f"type the turn, {self._answer}, to {self._mode} there"

    def answer(self, _: DialogButton, /) -> Restore:
        """What was confirmed."""
        operations, chosen = self.offer.operations, self._calls.chosen
        decisions = {
            each.entry.op_id: decision
            for each in operations
            if (decision := decision_of(self._calls.chosen_about(each), each, self._by)) is not None
        }
        return Restore(self.offer, self._new_session_id, decisions, chosen, decided_words(operations, chosen))

    def holds_work(self) -> bool:
        """Whether something was typed or chosen."""
        return super().holds_work() or any(each.choice is not None for each in self._calls.chosen.values())

    def action_text_down(self) -> None:
        """Scroll the plan down."""
        self.query_one("#plan", TextView).action_page_down()

    def action_text_up(self) -> None:
        """Scroll the plan up."""
        self.query_one("#plan", TextView).action_page_up()

    @property
    def _new_session_id(self) -> str | None:
        named = self.query_one("#as", Input).value.strip()
        return named if self._mode == "fork" and named else None

    @property
    def _calls(self) -> CallList:
        return self.query_one("#calls", CallList)

    @property
    def _watch(self) -> RestoreWatch:
        return self.query_one("#moved", RestoreWatch)

    @on(OptionRow.Changed)
    def _mode_chosen(self) -> None:
        self._chosen[self._mode] = self._calls.chosen
        self._mode = "rewind" if self.query_one("#mode", OptionRow).chosen == ("rewind",) else "fork"
        self._show_mode()
        button = self.query_one("#confirm", DialogButton)
        button.label = self._mode.capitalize()
        button.refresh(layout=True)
        self._type_again()  # what was typed was for the other plan

    def _show_mode(self) -> None:
        self._calls.show_calls(self.offer.operations, self._chosen.get(self._mode, {}))
        self.query_one("#as-field").display = self._mode == "fork"
        self._watch.say(self._mode, self._offers)
        self._follow()

    def _type_again(self) -> None:
        self.query_one("#reason", Input).value = ""
        self.look()

    # What moves while it is open.

    @on(RestoreWatch.Looked)
    def _looked(self, event: RestoreWatch.Looked) -> None:
        """Show the plan as it is; where it can't be told, nothing can be confirmed."""
        problem = "" if event.error is None else event.error.message
        if event.offers is not None and event.offers.by_mode.keys() < self._offers.by_mode.keys():
            problem = what_moved(self.offer, None).words
        elif event.offers is not None:
            self._show_offers(event.offers)
        if problem != self._problem:
            self._problem = problem
            self.look()

    def _show_offers(self, offers: Offers) -> None:
        """What was typed stands as long as nothing moved but what the plan itself says of an agent."""
        self._chosen[self._mode] = self._calls.chosen
        moved = what_moved(self.offer, offers.by_mode[self._mode], decided(self._calls.chosen))
        self._chosen = {
            mode: still_chosen(self._offers.by_mode[mode], offers.by_mode[mode], chosen)
            for mode, chosen in self._chosen.items()
        }
        self._offers = offers
        self._calls.show_calls(self.offer.operations, self._chosen[self._mode], keep_cursor=True)
        self._watch.say(self._mode, offers, moved)
        self._follow()
        if not moved.is_as_said:
            self._type_again()

    # The calls.

    @on(CallList.Chose)
    @on(CallList.Highlighted, "#calls")
    def _follow(self) -> None:
        """Say of the call under the cursor what was chosen; a value is asked for where it is marked as done."""
        current = self._calls.current
        chosen = None if current is None else self._calls.chosen_about(current)
        field = self.query_one("#value-field")
        field.display = chosen is not None and chosen.choice == "done"
        box = self.query_one("#value", Input)
        if chosen is not None and box.value != chosen.value_text:
            with box.prevent(Input.Changed):
                box.value = chosen.value_text
        told = self.query_one("#calls-told", Static)
        told.update(decided_words(self.offer.operations, self._calls.chosen))
        told.display = bool(self.offer.operations)
        self._show_text()

    @on(Input.Changed, "#value")
    def _value_typed(self, event: Input.Changed) -> None:
        current = self._calls.current
        if current is not None:
            self._calls.choose(replace(self._calls.chosen_about(current), value_text=event.value))

    @on(Input.Changed, "#as")
    def _named(self) -> None:
        self._show_text()

    @on(CallList.Opened, "#calls")
    def _call_opened(self) -> None:
        self.focus_next()
        self.hold_last_key()

    def on_descendant_focus(self) -> None:
        """All about a call while the focus is on the calls, else the plan."""
        self._show_text()
        self.say_more()

    @property
    def keys_line(self) -> str:
        """What the bottom line says about the keys."""
        keys = super().keys_line
        if self._calls.has_focus:
            keys = _CALL_KEYS
        elif self.query_one("#mode").has_focus:
            keys = _MODE_KEYS
        is_cut = self.query_one("#plan", TextView).max_scroll_y > 0
        return f"pgdn more · {keys}" if is_cut else keys

    def _show_text(self) -> None:
        for view in self.query("#plan").results(TextView):  # none any more when it was left before it was drawn
            if view.size.width:
                view.show(self._lines(max(10, view.size.width - 1)), keep_place=True)
                self.call_after_refresh(self.say_more)

    def _lines(self, cells: int) -> list[Line]:
        current = self._calls.current
        if current is not None and (self._calls.has_focus or self.query_one("#value").has_focus):
            return choice_lines(current, self._calls.chosen_about(current), cells, reveal=self._reveal)
        return plan_lines(self.offer.plan, cells, new_session_id=self._new_session_id)
