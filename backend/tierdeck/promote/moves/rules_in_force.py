"""Which rules a store's moves are made by: the version of the latest run, so that an older plan is not applied."""

from __future__ import annotations

import apsw

from tierdeck.store.settings import keep_setting, setting_in

RULES_KEY = "promotion_rules"


def rules_in_force(conn: apsw.Connection) -> str | None:
    """The version of the rules in force; None before the first run."""
    return setting_in(conn, RULES_KEY)


def put_in_force(conn: apsw.Connection, version: str, *, seen: str | None) -> bool:
    """Make this version the one in force, inside the caller's transaction.

    Args:
        seen: the version that was in force when the run was planned.

    Returns:
        Whether it is in force now; False when somebody put in another one since the plan: nothing was changed.
    """
    stands = rules_in_force(conn)
    if stands not in (seen, version):
        return False
    keep_setting(conn, RULES_KEY, version)
    return True
