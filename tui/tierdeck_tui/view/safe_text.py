"""Somebody's words in one line of ours: nothing that drives a terminal, and no secret. Pure."""

from __future__ import annotations

from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.format import NONE
from tierdeck_tui.view.sanitise import visible


def safe(text: str | None) -> str:
    """One safe line of somebody's text with secrets masked; `–` for none."""
    return visible(mask_secrets(text), one_line=True) if text else NONE
