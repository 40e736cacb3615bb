"""What an operator does with checkpoints: verify, compare, label, pin, copy.

No checkpoint is ever rewritten, and nothing of one is run. What takes longer than a moment works in a thread, says
how far it is, and stops at `esc`.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from textual import work

from tierdeck.checkpoint import CONSOLE_LIMITS, open_checkpoint
from tierdeck.checkpoint.folder import (
    Diff,
    Listed,
    SessionInfo,
    VerifyResult,
    diff,
    verify,
)
from tierdeck.errors import StoppedError, TierdeckError
from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.reading.checkpoint_sessions import folder_of, key_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.checkpoint_diff import CheckpointDiffScreen
from tierdeck_tui.screens.choice import Choice, ChoiceDialog
from tierdeck_tui.screens.job import OnProgress, ShouldStop
from tierdeck_tui.screens.job_screen import JobScreen
from tierdeck_tui.screens.label import LabelDialog
from tierdeck_tui.view.checkpoint.tree import CheckpointRow
from tierdeck_tui.view.checkpoint.verified import why_words
from tierdeck_tui.view.format import counted, size

_MAX_SHOWN = 6
MAX_DIALOG_CELLS = 62


@dataclass(frozen=True, slots=True)
class _Verified:
    listed: Listed
    result: VerifyResult


class CheckpointActionsScreen(JobScreen):
    """A screen with checkpoints. Subclasses say which are meant, and read again what was changed."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.deck = console
        self.is_revealed = False

    def chosen(self) -> tuple[CheckpointRow, ...]:
        """The checkpoints that an action on several takes: the marked ones, else the one under the cursor."""
        raise NotImplementedError

    def subject(self) -> CheckpointRow | None:
        """The checkpoint under the cursor."""
        raise NotImplementedError

    def subject_session(self) -> SessionInfo | None:
        """The session that the row under the cursor belongs to."""
        raise NotImplementedError

    def listed_of(self, info: SessionInfo) -> tuple[Listed, ...]:
        """The checkpoints of an opened session."""
        raise NotImplementedError

    @property
    def shell(self) -> ActionApp:
        """The application."""
        return cast("ActionApp", self.app)

    @property
    def dialog_cells(self) -> int:
        """How wide a line of a dialog's text may be, its scrollbar left out."""
        return min(MAX_DIALOG_CELLS, self.app.size.width * 96 // 100 - 6)

    def key(self) -> bytes | None:
        """The operator's key. For a worker: it reads a file. Raises CheckpointKeyError."""
        return key_of(self.deck.settings)

    def done(self, message: str) -> None:
        """Say what was done, and show what came of it."""
        self.notify(message)
        self.reload()

    # Verify.

    def action_verify_checkpoints(self) -> None:
        """Check the marked checkpoints, or the one under the cursor; on a session all that it has."""
        self._verify_chosen(is_deep=False)

    def action_verify_deep(self) -> None:
        """The same, and decode everything in them too."""
        self._verify_chosen(is_deep=True)

    def _verify_chosen(self, *, is_deep: bool) -> None:
        chosen = tuple(row.listed for row in self.chosen())
        info = self.subject_session()
        if not chosen and info is not None:
            chosen = self.listed_of(info)
        self._verify(chosen, is_deep=is_deep)

    @work(group="change", description="verify checkpoints")
    async def _verify(self, chosen: Sequence[Listed], *, is_deep: bool) -> None:
        if self.is_busy():
            return
        if not chosen:
            self.notify("nothing to verify: enter lists a session's checkpoints")
            return
        what = "checkpoint" if len(chosen) == 1 else f"{len(chosen)} checkpoints"
        try:
            found = await self.at_work(
                f"verify {what}{' deep' if is_deep else ''}",
                lambda tell, stop: _verify_all(chosen, self.key(), tell, stop, is_deep=is_deep),
                lambda done, total: f"{size(done)} of {size(total)}",
            )
        except StoppedError:
            self.notify("verifying was stopped; what was found until then is kept")
            self.reload()
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self._tell_verified(found)

    def _tell_verified(self, found: Sequence[_Verified]) -> None:
        bad = [each for each in found if each.result.state != "ok"]
        self.reload()
        if not bad:
            done = (
                "as written, and all of it decodes" if all(each.result.is_deep for each in found) else "as written"
            )
            self.notify(f"{counted(len(found), 'checkpoint')} verified: {done}")
            return
        lines = [f"{each.listed.sequence}: {_verdict(each)}" for each in bad[:_MAX_SHOWN]]
        head = f"{len(bad)} of {counted(len(found), 'checkpoint')} not good"
        self.notify("\n".join([head, *lines]), severity="error", timeout=20)

    # Compare.

    def action_diff_checkpoints(self) -> None:
        """Compare the two marked checkpoints, or the marked one with the one under the cursor."""
        chosen = [row.listed for row in self.chosen()]
        under = self.subject()
        if len(chosen) == 1 and under is not None and under.listed.path != chosen[0].path:
            chosen.append(under.listed)
        if len(chosen) != 2:
            self.notify("diff takes two checkpoints: space marks them")
            return
        self._diff(sorted(chosen, key=lambda listed: listed.sequence))

    @work(group="change", description="compare checkpoints")
    async def _diff(self, two: Sequence[Listed]) -> None:
        before, after = two
        try:
            found = await asyncio.to_thread(_diff_of, before, after)
        except TierdeckError as e:
            self.shell.show_error(e)
            return
        self.app.push_screen(CheckpointDiffScreen(before, after, found, reveal=self.is_revealed))

    # Marks.

    def action_label_checkpoint(self) -> None:
        """Give the checkpoint a label, or take it away."""
        row = self.subject()
        if row is None:
            self.notify("a label is given to a checkpoint")
        else:
            self._label(row)

    @work(group="change", description="label a checkpoint")
    async def _label(self, row: CheckpointRow) -> None:
        text = "What has a label is not cleared away. The file itself stays as it is."
        title = f"Label checkpoint {row.listed.sequence}, turn {row.listed.turn}"
        label = await self.app.push_screen_wait(LabelDialog(title, text, row.listed.label))
        if label is None:
            return
        try:
            await asyncio.to_thread(folder_of(row.info).set_label, row.listed.file, label or None)
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self.done("labelled" if label else "its label is gone")

    def action_pin_checkpoint(self) -> None:
        """Keep checkpoints from being cleared away; release them when all are pinned."""
        rows = self.chosen()
        if rows:
            self._pin(rows)
        else:
            self.notify("checkpoints are pinned; a session is not")

    @work(group="change", description="pin checkpoints")
    async def _pin(self, rows: Sequence[CheckpointRow]) -> None:
        is_pinned = not all(row.listed.is_pinned for row in rows)
        try:
            for row in rows:
                await asyncio.to_thread(folder_of(row.info).set_pin, row.listed.file, is_pinned)
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            what = counted(len(rows), "checkpoint")
            self.done(f"pinned {what}; p releases" if is_pinned else f"released {what}; p pins again")

    # Copy.

    def action_copy_checkpoint(self) -> None:
        """Copy the checkpoint's path, its id, or a command."""
        row = self.subject()
        if row is None:
            self.notify("copies are of a checkpoint: go to one")
        else:
            self._copy(row)

    @work(group="change", description="copy")
    async def _copy(self, row: CheckpointRow) -> None:
        summary, path = row.listed.summary, str(row.listed.path)
        choices = [Choice("path", "path"), Choice("show", "show command"), Choice("restore", "restore command")]
        if summary is not None:
            choices.insert(1, Choice("id", "id"))
        chosen = await self.app.push_screen_wait(ChoiceDialog("Copy of a checkpoint", "", choices, first="path"))
        if chosen == "path":
            self.shell.copy_out(path, "the path")
        elif chosen == "id" and summary is not None:
            self.shell.copy_out(summary.checkpoint_id, "the id")
        elif chosen in ("show", "restore"):
            self.shell.copy_out(shlex.join(["tierdeck", "checkpoint", chosen, path]), "the command")


def _verify_all(
    chosen: Sequence[Listed], key: bytes | None, tell: OnProgress, should_stop: ShouldStop, *, is_deep: bool
) -> list[_Verified]:
    """What was found of each; raises StoppedError, and what was found until then is kept beside the files."""
    total = sum(each.size_bytes for each in chosen)
    done = 0
    found = []
    for each in chosen:
        if should_stop():
            raise StoppedError("verify checkpoints: stopped")
        start = done
        result = verify(
            each.path,
            CONSOLE_LIMITS,
            use_cache=False,  # a disk that lost bits since looks as it did
            is_deep=is_deep,
            key=key,
            on_progress=lambda now, _, start=start: tell(start + now, total),  # type: ignore[misc]
            should_stop=should_stop,
        )
        found.append(_Verified(each, result))
        done += each.size_bytes
    return found


def _verdict(each: _Verified) -> str:
    word = {"damaged": "DAMAGED", "newer": "NEWER"}.get(each.result.state, "NOT VERIFIED")
    return f"{word} {why_words(each.listed.path, each.result)}"


def _diff_of(before: Listed, after: Listed) -> Diff:
    with open_checkpoint(before.path) as first, open_checkpoint(after.path) as second:
        return diff(first, second)
