"""Who signs what a person changes, in the console and on the command line alike."""

from __future__ import annotations

import getpass

from tierdeck.config import ConsoleSettings


def operator_name(settings: ConsoleSettings) -> str:
    """The setting `console.operator`, else the name of the account."""
    if settings.operator:
        return settings.operator
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user id without a name
        return "operator"
