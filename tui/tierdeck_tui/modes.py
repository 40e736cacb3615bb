"""The console's modes: each is one screen that keeps its state while another is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.checkpoints import CheckpointsScreen
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.screens.overview import OverviewScreen
from tierdeck_tui.screens.promotions import PromotionsScreen
from tierdeck_tui.screens.search import SearchScreen
from tierdeck_tui.status import ModeTitle


@dataclass(frozen=True, slots=True)
class Mode(ModeTitle):
    """One mode and what makes its screen."""

    make: Callable[[Console], FrameScreen]


SEARCH = "search"
PROMOTIONS = "promotions"
CHECKPOINTS = "checkpoints"
OVERVIEW = "overview"

MODES: tuple[Mode, ...] = (
    Mode(SEARCH, "1", "Search", SearchScreen),
    Mode(PROMOTIONS, "2", "Promotions", PromotionsScreen, brief="Promo"),
    Mode(CHECKPOINTS, "3", "Checkpoints", CheckpointsScreen, brief="Check"),
    Mode(OVERVIEW, "4", "Overview", OverviewScreen),
)
FIRST_MODE = MODES[0].name
