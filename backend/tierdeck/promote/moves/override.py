"""Memories moved by a person's hand, from any tier to any other, with a reason; never deleted.

A move by hand begins the evidence anew: the pulls before it would else undo it. It can be taken back exactly
(`undo`). Text, metadata, confidence, relations, counts and times of the memory stay byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.errors import InvalidValueError
from tierdeck.model import Tier
from tierdeck.promote.evidence.facts import check_tracked, facts_in
from tierdeck.promote.evidence.facts_sql import facts_sql
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.hold_rows import checked_until
from tierdeck.promote.moves.known import known_tiers
from tierdeck.promote.moves.override_run import Order, held_among, run_order
from tierdeck.promote.reason import checked_reason
from tierdeck.promote.records import Hold, RunReport
from tierdeck.promote.rules import DEFAULT_RULES, Decision, Rules, decide
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor, checked_choice, checked_text


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """One memory that would move, and what the rules say of it as it stands."""

    node_id: str
    from_tier: str | None
    decision: Decision


@dataclass(frozen=True, slots=True)
class OverridePreview:
    """What an override would do: the moves, the held memories it passes over, those already there."""

    to_tier: Tier
    moves: tuple[PlannedMove, ...]
    held: tuple[Hold, ...]
    unchanged: tuple[str, ...]

    @property
    def seen(self) -> dict[str, str | None]:
        """The tier of each memory that would move, for `override_tier` to compare."""
        return {move.node_id: move.from_tier for move in self.moves}


def preview_override(
    store: Store, ids: Sequence[str], to_tier: Tier, *, rules: Rules = DEFAULT_RULES, with_held: bool = False
) -> OverridePreview:
    """What `override_tier` would do now with these memories. Reads only.

    Returns:
        Moves in the order of the ids, each id once.

    Raises:
        NotFoundError: an id does not exist; it is named.
        InvalidValueError: there is no such tier.
        ReadOnlyStoreError: another program's store that was not adopted.
    Spec: SPEC-09.15
    """
    check_tracked(store)
    tier = checked_choice(to_tier, Tier, "tier")
    unique = list(dict.fromkeys(ids))
    form, now = facts_sql(store), store.now_ms()

    def look(conn: apsw.Connection) -> OverridePreview:
        tiers = known_tiers(conn, unique, "move memory")
        passed_over = held_among(conn, unique, now, passes_holds=with_held or len(unique) == 1)
        facts = facts_in(conn, form, unique, now)
        moves = tuple(
            PlannedMove(node_id, seen, decide(facts[node_id], rules, now))
            for node_id, seen in tiers.items()
            if seen != tier and node_id not in passed_over
        )
        held = tuple(hold for node_id, hold in passed_over.items() if tiers[node_id] != tier)
        return OverridePreview(tier, moves, held, tuple(i for i, seen in tiers.items() if seen == tier))

    return store.read(look)


def override_tier(
    store: Store,
    ids: Sequence[str],
    to_tier: Tier,
    *,
    actor: str,
    reason: str,
    hold: bool = True,
    until_ms: int | None = None,
    with_held: bool = False,
    seen: Mapping[str, str | None] | None = None,
    rules: Rules | None = None,
    pace: Pace | None = None,
) -> RunReport:
    """Move memories to a tier by hand, and hold them there.

    Above `MAX_CHUNK_ROWS` memories the moves come in several transactions. A run that was killed between two of
    them shows as one that never ended; the same call again moves the rest.

    Args:
        ids: full ids; each counts once.
        reason: why, at least 3 visible characters; it stands in the log for good.
        hold: whether no rule moves them afterwards, until the hold is released. False leaves a hold that stands.
        until_ms: when the hold ends by itself; None is never.
        with_held: also move held memories. A memory that is named alone is moved in any case.
        seen: the tiers that the preview showed; a memory that is elsewhere by now is refused.
        rules: what they say of each memory goes into the log; None leaves that out.

    Returns:
        The ids moved, in their order; those refused with why: they are there already, held, or moved meanwhile.

    Raises:
        NotFoundError: an id does not exist; it is named.
        InvalidValueError: the reason is too short, there is no such tier, `until_ms` has passed.
        ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was moved in each case.
        StoreError: the log's end is missing; at most earlier transactions of a big set stand.
    Spec: SPEC-09.13, SPEC-09.14, SPEC-09.15
    """
    check_tracked(store)
    unique = list(dict.fromkeys(ids))
    order = Order(
        to_tier=checked_choice(to_tier, Tier, "tier"),
        actor=checked_actor(actor),
        reason=checked_reason(reason, "move memories"),
        at_ms=store.now_ms(),
        holds=hold,
        until_ms=_checked_until(until_ms, store.now_ms(), hold=hold),
        passes_holds=with_held or len(unique) == 1,
        seen=seen or {},
        rules=rules,
    )
    return run_order(store, unique, order, pace or Pace())


def archive_nodes(
    store: Store, ids: Sequence[str], *, actor: str, reason: str | None = None, pace: Pace | None = None
) -> list[str]:
    """Move memories to the archive by hand, held ones too; they leave normal queries and are never deleted.

    Text, metadata, relations, times and counts stay byte for byte, and no hold is set.

    Args:
        pace: how a set above `MAX_CHUNK_ROWS` goes on; when it is stopped, what was moved until then stays so.

    Returns:
        The ids really moved, in their order, each once; those archived already are left out.

    Raises:
        NotFoundError: an id does not exist; it is named and nothing was moved.
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: nothing was moved, but that earlier transactions of a
            set above `MAX_CHUNK_ROWS` stand.
    Spec: SPEC-02.23, SPEC-03.18, SPEC-02.19
    """
    return _move_plainly(store, dict.fromkeys(ids), Tier.ARCHIVE, actor, reason, pace)


def restore_nodes(
    store: Store, ids: Sequence[str], *, actor: str, reason: str | None = None, pace: Pace | None = None
) -> list[str]:
    """Move archived memories to longterm by hand; `undo_move` gives the old tier instead.

    Returns:
        The ids really moved, in their order, each once; those not in the archive are left out.

    Raises:
        NotFoundError: an id does not exist; it is named and nothing was moved.
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: as `archive_nodes`.
    Spec: SPEC-03.21 to SPEC-03.24
    """
    check_tracked(store)
    unique = list(dict.fromkeys(ids))
    tiers = store.read(lambda conn: known_tiers(conn, unique, "restore memory"))
    archived = {node_id: Tier.ARCHIVE for node_id in unique if tiers[node_id] == Tier.ARCHIVE}
    return _move_plainly(store, archived, Tier.LONGTERM, actor, reason, pace)


def _move_plainly(
    store: Store,
    seen: Mapping[str, Tier | None],
    to_tier: Tier,
    actor: str,
    reason: str | None,
    pace: Pace | None,
) -> list[str]:
    """The ids of `seen`, moved; one whose tier is given must still be in it."""
    check_tracked(store)
    order = Order(
        to_tier=to_tier,
        actor=checked_actor(actor),
        reason=checked_text(reason, "reason"),
        at_ms=store.now_ms(),
        holds=False,
        until_ms=None,
        passes_holds=True,
        seen={node_id: tier for node_id, tier in seen.items() if tier is not None},
        rules=None,
    )
    return list(run_order(store, list(seen), order, pace or Pace()).moved)


def _checked_until(until_ms: int | None, now_ms: int, *, hold: bool) -> int | None:
    if until_ms is not None and not hold:
        raise InvalidValueError("move memories: an end was given for a hold, and no hold is set")
    return checked_until(until_ms, now_ms)
