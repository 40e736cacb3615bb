"""What the demo's operator did by hand: edits, moves with a reason, holds, a first sweep, and what she undid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.event import Event, at_ms
from tierdeck.demo.material import DemoMemory
from tierdeck.model import NodeChanges, Tier
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import dismiss, hold, release
from tierdeck.promote.moves.override import archive_nodes, override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import plan_sweep
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, edit_node, undo
from tierdeck.store.revision_log import record_move

OPERATOR = "mira"
_HAND = 3


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit by hand: till `day` the memory said `wrong` where it now says `right`."""

    key: str
    day: float
    wrong: str
    right: str
    reason: str


EDITS = (
    Edit("m-002", -52.60, "Okonkwo, lead of harbor", "Okonkwo, tech lead of harbor", "the team has two leads"),
    Edit("m-024", -61.20, "on Friday afternoons", "on Fridays", "asked again: the whole day"),
    Edit("m-041", -58.40, "sorted keys, no spaces.", "sorted keys, no spaces, NFC strings.", "NFC was missing"),
)
# A confidence lowered by hand and taken back: (key, day, confidence, reason).
_UNDONE = ("m-003", -30.20, 0.55, "is she still in charge?")
# The first sweep, once the old shop was off the net for weeks.
_SWEEP_DAY = -29.0
# Another program tidied up, held or not: (key, day, tier, reason).
_FOREIGN = ("m-145", -6.0, Tier.SESSION, "Consolidated 2 nodes from task t17")


@dataclass(frozen=True, slots=True)
class _Deed:
    """A decision about memories at the Promotions screen; `until_days` are days from then on."""

    day: float
    kind: Literal["approve", "dismiss", "hold", "release", "undo", "redo"]
    keys: tuple[str, ...]
    reason: str
    until_days: float | None = None


_DEEDS = (
    _Deed(-20.90, "undo", ("m-178",), "the protocol changes with HAR-488"),
    _Deed(-8.41, "undo", ("m-342",), "the contexts get other names"),
    _Deed(-8.40, "redo", ("m-342",), "they keep them: see HAR-533"),
    _Deed(-8.39, "undo", ("m-166",), "app-02 is gone since the move to k3s"),
    _Deed(-1.20, "hold", ("m-018",), "wait until the money migration is through", until_days=21.0),
    _Deed(-1.19, "approve", ("m-080", "m-217", "m-268"), "came up in the review of s-13"),
    _Deed(-1.18, "dismiss", ("m-084", "m-339"), "stands in the runbook already"),
    _Deed(-1.17, "release", ("m-137",), "the overview moved to the wiki"),
)


def hand_events(store: Store, memories: Sequence[DemoMemory], now: int) -> Iterator[Event]:
    """Each thing at its own time."""
    yield from _moves(store, memories, now)
    by_key = {memory.key: memory for memory in memories}
    for edit in EDITS:
        yield _change(store, edit.key, at_ms(edit.day, now), NodeChanges(by_key[edit.key].content), edit.reason)
    key, day, confidence, reason = _UNDONE
    yield _change(store, key, at_ms(day, now), NodeChanges(confidence=confidence), reason)
    yield Event(at_ms(day + 0.1, now), _HAND, partial(undo, store, demo_id(key), actor=OPERATOR))
    yield Event(at_ms(_SWEEP_DAY, now), _HAND, partial(_sweep, store), reads_back=True)
    for deed in _DEEDS:
        yield Event(at_ms(deed.day, now), _HAND, partial(_do, store, deed), reads_back=True)
    key, day, tier, reason = _FOREIGN
    yield Event(at_ms(day, now), _HAND, partial(_move_unasked, store, demo_id(key), tier, reason))


def _moves(store: Store, memories: Sequence[DemoMemory], now: int) -> Iterator[Event]:
    """Moves of the same quarter of an hour for the same reason were one bulk move."""
    together: dict[tuple[float, str, str, bool], list[tuple[float, str]]] = {}
    for memory in memories:
        for move in memory.moves:
            key = (round(move.day, 2), move.tier, move.reason, move.holds)
            together.setdefault(key, []).append((move.day, demo_id(memory.key)))
    for (_, tier, reason, holds), moved in together.items():
        ids = [node_id for _, node_id in moved]
        yield Event(at_ms(max(moved)[0], now), _HAND, partial(_move, store, ids, Tier(tier), reason, holds=holds))


def _move(store: Store, ids: Sequence[str], tier: Tier, reason: str, *, holds: bool) -> None:
    if tier is Tier.ARCHIVE:
        archive_nodes(store, ids, actor=OPERATOR, reason=reason)
    else:
        override_tier(store, ids, tier, actor=OPERATOR, reason=reason, hold=holds)


def _change(store: Store, key: str, when: int, changes: NodeChanges, reason: str) -> Event:
    edit = partial(edit_node, store, demo_id(key), changes, actor=OPERATOR, reason=reason)
    return Event(when, _HAND, edit)


def _sweep(store: Store) -> None:
    rules = Rules()
    plan = plan_sweep(store, rules, store.now_ms())
    apply_sweep(store, plan, rules=rules, actor=OPERATOR, confirmed=True, pace=Pace(pause_ms=0))


def _do(store: Store, deed: _Deed) -> None:
    ids = [demo_id(key) for key in deed.keys]
    until = None if deed.until_days is None else store.now_ms() + round(deed.until_days * DAY_MS)
    acts: dict[str, Callable[[], object]] = {
        "approve": partial(approve, store, ids, rules=Rules(), actor=OPERATOR, reason=deed.reason),
        "dismiss": partial(dismiss, store, ids, rules=Rules(), actor=OPERATOR, reason=deed.reason),
        "hold": partial(hold, store, ids, actor=OPERATOR, reason=deed.reason, until_ms=until),
        "release": partial(release, store, ids, actor=OPERATOR, reason=deed.reason),
        "undo": partial(undo_move, store, ids[0], actor=OPERATOR, reason=deed.reason),
        "redo": partial(_redo, store, ids[0], deed.reason),
    }
    acts[deed.kind]()


def _redo(store: Store, node_id: str, reason: str) -> None:
    [undone] = entries(store, LogFilter(node_id=node_id), limit_rows=1)
    undo_move(store, node_id, actor=OPERATOR, reason=reason, log_id=undone.id)


def _move_unasked(store: Store, node_id: str, tier: Tier, reason: str) -> None:
    """As the family does it: one move, two rows of its log."""
    with store.writing() as conn:
        [(old,)] = conn.execute("SELECT tier FROM nodes WHERE id = ?", (node_id,)).fetchall()
        conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (tier.value, node_id))
        record_move(conn, node_id, str(old), tier.value, at_ms=store.now_ms(), reasoning=reason)
        conn.execute(
            "INSERT INTO evolution_log (timestamp, operation, node_ids, from_tier, to_tier, reasoning) "
            "SELECT timestamp, 'consolidate', node_ids, from_tier, to_tier, reasoning FROM evolution_log "
            "WHERE id = (SELECT max(id) FROM evolution_log)"
        )
