"""The frame that every mode's screen stands in: header above, footer below, its own body between."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from tierdeck_tui.actions import Scope, bindings_for
from tierdeck_tui.widgets.footer import ActionFooter
from tierdeck_tui.widgets.header import StatusHeader


class FrameScreen(Screen[None]):
    """A mode's screen. Subclasses give `compose_body` and, where there is something to read again, `reload`.

    `scopes` names the parts of the action table that are live here beside the app's own; the bindings are made
    from them.
    """

    scopes: tuple[Scope, ...] = ()
    # As Textual has it, the whole screen is painted again whenever the focus moves: 15 ms of work at 120×32. The
    # widgets that look different with the focus are painted for themselves.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init_subclass__(cls) -> None:
        bindings: list[BindingType] = list(bindings_for(*cls.scopes))
        cls.BINDINGS = bindings
        super().__init_subclass__()

    def fit_width(self, cells: int) -> None:
        """Be laid out for a terminal of this width from the first paint on.

        Textual names the width in a class only once the screen is there, and restyles the whole of it for that.
        """
        names = [name for at_cells, name in sorted(self.HORIZONTAL_BREAKPOINTS or ()) if at_cells <= cells]
        if names:
            self.add_class(names[-1], update=False)

    def compose(self) -> ComposeResult:
        yield StatusHeader()
        yield from self.compose_body()
        yield ActionFooter()

    def compose_body(self) -> Iterable[Widget]:
        """The widgets between header and footer."""
        return ()

    def reload(self) -> None:
        """Read the store again, because the operator asked."""

    def store_changed(self) -> None:
        """Another program wrote to the store; by default the same as `reload`."""
        self.reload()

    def meaning_changed(self) -> None:
        """The embedding model came up or turned out to be missing, or the index has been filled."""

    def open_query(self, query_text: str) -> None:
        """Look for this; only the Search screen does."""

    def open_memory(self, node_id: str) -> None:
        """Show this memory; only the Search screen does."""

    def open_tab(self, name: str, rule: str | None) -> None:
        """Show this tab, of this rule only or of all; only the Promotions screen does."""

    def open_log(self, node_id: str) -> None:
        """Show what happened to this memory; only the Promotions screen does."""
