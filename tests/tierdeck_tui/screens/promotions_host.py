"""A store in which something waits in every tab, the Promotions screen on it, and what a test looks at there."""

from __future__ import annotations

from pathlib import Path

from tests.tierdeck_tui.conftest import keyword_settings
from tests.tierdeck_tui.screens.mode_host import ModeHost
from tierdeck.config import PromotionSettings
from tierdeck.model import AccessKind, NodeDraft, NodeType, Tier
from tierdeck.promote import end_session, meet_session, record_accesses
from tierdeck.promote.log.entries import entries
from tierdeck.promote.records import LogEntry, LogFilter
from tierdeck.store import Store, add_nodes, get_node, open_store
from tierdeck_tui.screens.promotions import PromotionsScreen
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.promotion_pane import PromotionPane
from tierdeck_tui.widgets.row_list import RowList
from tierdeck_tui.widgets.tab_bar import TabBar

START_MS = 1_700_000_000_000
BY_HAND = PromotionSettings(automatic=False)
SETTINGS = keyword_settings(operator="ann")
# Each stands in the tier that its first word names, and has the evidence that the rest tells.
IDS = [f"{n}{n}{n}{n}aaaa-0000-4000-8000-00000000000{n}" for n in range(5)]
USED_TWICE, USED_ONCE, PROVEN, ONE_SHORT, UNUSED = IDS
TEXTS = {
    USED_TWICE: "task memory that one session used twice",
    USED_ONCE: "task memory that was used once",
    PROVEN: "session memory that three sessions used with success",
    ONE_SHORT: "session memory that two sessions used with success",
    UNUSED: "task memory that nobody used",
}
USES = ((USED_TWICE, USED_TWICE, PROVEN, ONE_SHORT), (PROVEN, ONE_SHORT), (PROVEN, USED_ONCE))


def fill(store: Store, texts: dict[str, str] | None = None) -> None:
    """Memories with their accesses; nothing is moved by it."""
    texts = texts or TEXTS
    tiers = {PROVEN: Tier.SESSION, ONE_SHORT: Tier.SESSION}
    drafts = [
        NodeDraft(
            text, id=node_id, type=NodeType.FACT, tier=tiers.get(node_id, Tier.TASK), confidence=0.9,
            created_at_ms=START_MS + number * 1000,
        )
        for number, (node_id, text) in enumerate(texts.items())
    ]  # fmt: skip
    add_nodes(store, drafts)
    for number, used in enumerate(USES):
        session = meet_session(store, f"agent-{number}")
        for node_id in used:
            record_accesses(store, session.id, [node_id], AccessKind.PULL, settings=BY_HAND)
        end_session(store, session.id, outcome="success", settings=BY_HAND)


def waiting_store(path: Path) -> Path:
    """A store of ours in which two memories wait and two lack one thing."""
    with open_store(path, create=True) as store:
        fill(store)
    return path


class Board(ModeHost[PromotionsScreen]):
    """What is on the Promotions screen of a running app."""

    kind = PromotionsScreen
    key = "2"

    @property
    def store(self) -> Store:
        return self.app.deck.store

    @property
    def rows(self) -> RowList:
        """The list that is shown."""
        return next(rows for rows in self.screen.query(RowList) if rows.has_class("-here"))

    @property
    def pane(self) -> str:
        return "\n".join(text_of(line) for line in self.screen.query_one(PromotionPane).lines)

    @property
    def status(self) -> str:
        return self.screen.query_one("#promotion-status", LineBar).text

    @property
    def tabs(self) -> str:
        return self.screen.query_one(TabBar).render_line(0).text

    def lines(self) -> list[str]:
        """What the list shows, without empty lines."""
        rows = self.rows
        shown = [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]
        return [line for line in shown if line]

    def tier(self, node_id: str) -> Tier:
        return get_node(self.store, node_id).tier

    def log(self, **filters: object) -> list[LogEntry]:
        """The promotion log, newest first."""
        return entries(self.store, LogFilter(**filters))  # type: ignore[arg-type]
