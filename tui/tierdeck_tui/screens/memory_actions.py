"""What an operator does with memories from a screen that shows them: copy, edit, archive, restore.

Each change shows what it would do and waits for a word in a dialog; the work runs in a thread and can be undone.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence

from textual import work

from tierdeck.errors import TierdeckError
from tierdeck.model import Node, Tier
from tierdeck.promote.moves.override import archive_nodes, restore_nodes
from tierdeck.secret_scan import has_secret, mask_secrets
from tierdeck.store import edit_node, get_node
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.choice import Choice, ChoiceDialog
from tierdeck_tui.screens.edit_form import EditForm
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.screens.undo_actions import UndoActionsScreen
from tierdeck_tui.view.change_preview import move_preview
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.json_form import json_text
from tierdeck_tui.view.masked import masked_form


class MemoryActionsScreen(UndoActionsScreen):
    """A screen that shows memories. Subclasses say which ones are meant, and read again what was changed."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.is_revealed = False

    def chosen_ids(self) -> tuple[str, ...]:
        """The memories that an action on several takes: the marked ones, else the one that is looked at."""
        raise NotImplementedError

    def search_command(self) -> str | None:
        """The command line that searches the same; None while nothing is searched."""
        return None

    def command(self, *words: str) -> str:
        """A command line for this store, quoted for the shell."""
        return shlex.join(["tierdeck", "--db", str(self.deck.store.path), *words])

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it."""
        raise NotImplementedError

    def action_reveal(self) -> None:
        """Show what is masked as a secret, and mask it again."""
        self.is_revealed = not self.is_revealed
        self.set_reveal(self.is_revealed)
        self.notify("secrets are shown" if self.is_revealed else "secrets are masked")

    def action_copy(self) -> None:
        """Copy the id, the text, JSON or the command."""
        self._copy(self.chosen_ids())

    def action_edit(self) -> None:
        """Edit the memory that is looked at."""
        self._edit(self.subject_id())

    def action_archive(self) -> None:
        """Move memories to the archive."""
        self._move(self.chosen_ids(), Tier.ARCHIVE)

    def action_restore(self) -> None:
        """Move archived memories to longterm."""
        self._move(self.chosen_ids(), Tier.LONGTERM)

    async def _read_nodes(self, ids: Sequence[str]) -> list[Node]:
        return await asyncio.to_thread(lambda: [get_node(self.deck.store, node_id) for node_id in ids])

    @work(group="change", description="change memories")
    async def _copy(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        what = counted(len(ids), "memory", "memories")
        choices = [
            Choice("id", "id"),
            Choice("text", "text"),
            Choice("json", "JSON"),
            Choice("show", "show command"),
        ]
        search = self.search_command()
        if search:
            choices.append(Choice("search", "search command"))
        chosen = await self.app.push_screen_wait(ChoiceDialog(f"Copy of {what}", "", choices, first="id"))
        try:
            if chosen == "id":
                self.shell.copy_out("\n".join(ids), "the id" if len(ids) == 1 else "the ids")
            elif chosen == "show":
                self.shell.copy_out(self.command("show", *ids), "the command")
            elif chosen == "search" and search:
                self.shell.copy_out(search, "the command")
            elif chosen in ("text", "json"):
                await self._copy_content(ids, is_json=chosen == "json")
        except TierdeckError as e:
            self.shell.show_error(e)

    async def _copy_content(self, ids: Sequence[str], *, is_json: bool) -> None:
        nodes = await self._read_nodes(ids)
        if is_json:
            text = json_text(masked_form({"memories": nodes}, reveal=self.is_revealed))
        else:
            text = "\n\n".join(node.content if self.is_revealed else mask_secrets(node.content) for node in nodes)
        self.shell.copy_out(text, "JSON" if is_json else "the text")
        if not self.is_revealed and any(has_secret(node.content) for node in nodes):
            self.notify("secrets were copied masked; m shows them first", severity="warning")

    @work(group="change", description="change memories")
    async def _edit(self, node_id: str | None) -> None:
        if node_id is None:
            return
        try:
            [node] = await self._read_nodes([node_id])
            edit = await self.app.push_screen_wait(EditForm(node, is_revealed=self.is_revealed))
            if edit is None:
                return
            actor, reason = self.deck.operator(), edit.reason or None
            await asyncio.to_thread(
                lambda: edit_node(self.deck.store, node_id, edit.changes, actor=actor, reason=reason)
            )
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            await self.changed_here([node_id], "changed 1 memory")

    @work(group="change", description="change memories")
    async def _move(self, ids: Sequence[str], to_tier: Tier) -> None:
        if not ids:
            return
        verb = "Archive" if to_tier is Tier.ARCHIVE else "Restore"
        move = archive_nodes if to_tier is Tier.ARCHIVE else restore_nodes
        try:
            nodes = await self._read_nodes(ids)
            if all((node.tier is Tier.ARCHIVE) is (to_tier is Tier.ARCHIVE) for node in nodes):
                self.notify("archived already" if to_tier is Tier.ARCHIVE else "not in the archive")
                return
            what = counted(len(ids), "memory", "memories")
            reason = await self.app.push_screen_wait(
                ReasonDialog(f"{verb} {what}", move_preview(nodes, to_tier), confirm=verb)
            )
            if reason is None:
                return
            actor = self.deck.operator()
            moved = await asyncio.to_thread(lambda: move(self.deck.store, ids, actor=actor, reason=reason))
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            await self.changed_here(moved, f"{verb.lower()}d {counted(len(moved), 'memory', 'memories')}")
