"""A key that is held down while the dialog that it opened appears."""

from __future__ import annotations

import time
from typing import Any

from textual.events import Key

from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.screens.dialog import Dialog


def hold_as_opener(app: ActionApp, dialog: Dialog[Any]) -> None:
    """Have the key that was pressed last count as held down until now.

    It repeats as long as the dialog is being built: on a busy machine longer than a moment.
    """
    app.last_key_at_s = time.monotonic()
    dialog.hold_last_key()


def repeat_key(app: ActionApp, key: str, times: int = 8) -> None:
    """Send a key's repeats as close to one another as a keyboard does; the app gets to them later."""
    driver = app._driver
    assert driver is not None
    for _ in range(times):
        driver.send_message(Key(key, " " if key == "space" else key if len(key) == 1 else None))
