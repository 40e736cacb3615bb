"""What a running agent is asked for from the console; nothing is called done before it has answered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from textual import work

from tierdeck.checkpoint.folder import Answer, Request, SessionFolder, SessionInfo
from tierdeck.checkpoint.folder.requests import is_expired, read_request
from tierdeck.errors import ConflictError, TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import folder_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.clearing_actions import ClearingActionsScreen
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.label import LabelDialog
from tierdeck_tui.view.checkpoint.request import answer_line, request_line
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.safe_text import safe

ANSWER_S = 20.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """What an agent was asked for and has not answered; `what` says it: "back to turn 10"."""

    folder: SessionFolder
    request_id: str
    what: str


class RequestActionsScreen(ClearingActionsScreen):
    """A screen from which agents are asked. `waiting` is what was asked for here and is not answered."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.waiting: tuple[Waiting, ...] = ()

    def say(self) -> None:
        """Say again what there is to say."""
        raise NotImplementedError

    def asked_for(self, waiting: Waiting, more: str = "") -> None:
        """Wait for its answer; `more` is said besides, once."""
        self.waiting = (*self.waiting, waiting)
        self.notify(f"requested: {waiting.what}{more}; the agent answers at the end of its turn")
        self.reload()

    def answered(self, waiting: Waiting, answer: Answer) -> None:
        """Say what became of a request, once."""
        self.waiting = tuple(each for each in self.waiting if each != waiting)
        told = f"{safe(waiting.folder.session_id)}, {waiting.what}: {text_of(answer_line(answer))}"
        self.notify(told, severity="information" if answer.state == "applied" else "error", timeout=ANSWER_S)
        self.reload()

    # A checkpoint now.

    def action_checkpoint_now(self) -> None:
        """Ask the agent of this session to save a checkpoint at the end of its turn."""
        info = self.subject_session()
        if info is not None:
            self._checkpoint_now(info)

    @work(group="change", description="ask for a checkpoint")
    async def _checkpoint_now(self, info: SessionInfo) -> None:
        folder = folder_of(info)
        try:
            if not await asyncio.to_thread(folder.is_live):
                self.notify(f"no agent runs {safe(info.session_id)}: what it saved last is its newest checkpoint")
                return
            text = f"{safe(info.session_id)} is asked for one at the end of its turn. The label may be left out."
            label = await self.app.push_screen_wait(
                LabelDialog("Checkpoint now", text, None, confirm="Ask for it", empty="empty gives it none")
            )
            if label is None:
                return
            wanted = Request("checkpoint", None, "", 0, self.deck.operator(), time.time_ns(), label or None)
            request_id = await asyncio.to_thread(_ask, folder, wanted)
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self.asked_for(Waiting(folder, request_id, "a checkpoint now"))

    # The way back.

    def action_take_back(self) -> None:
        """Take back what the agent of this session was asked for, unless it is at it."""
        info = self.subject_session()
        if info is not None:
            self._take_back(info)

    @work(group="change", description="take a request back")
    async def _take_back(self, info: SessionInfo) -> None:
        folder = folder_of(info)
        try:
            request = await asyncio.to_thread(read_request, folder.path)
            if request is None:
                self.notify(f"nothing waits for the agent of {safe(info.session_id)}")
                return
            now_ns = time.time_ns()
            shown = request_line(request, now_ns // 1_000_000, is_expired=is_expired(request, now_ns))
            dialog = ConfirmDialog("Take back", text_of(shown), confirm="Take back")
            if await self.app.push_screen_wait(dialog) is not True:
                return
            is_back = await asyncio.to_thread(folder.take_back, request.request_id)
        except TierdeckError as e:
            self.shell.show_error(e)
            return
        if is_back:
            self.waiting = tuple(each for each in self.waiting if each.request_id != request.request_id)
            self.done("taken back: nothing was changed")
        else:
            self.notify("too late: the agent is at it, or it is over", severity="warning")
        self.say()


def _ask(folder: SessionFolder, wanted: Request) -> str:
    """Ask, when an agent is still there to be asked."""
    if not folder.is_live():
        raise ConflictError(f"ask session {folder.session_id[:80]} for a checkpoint: its agent has ended")
    return folder.ask(wanted)
