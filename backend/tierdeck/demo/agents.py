"""What the demo's agents did: their sessions, and their looks at memories, recorded as their own process would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tierdeck.config import PromotionSettings
from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.event import Event, at_ms
from tierdeck.demo.material import DemoAccess, DemoMemory, DemoSession
from tierdeck.model import AccessKind
from tierdeck.promote.agents.access import end_session, record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.store import Store

# Since then the operator wants to see what moves before it does, so that candidates wait.
BY_HAND_SINCE_DAY = -5.0
_BEGIN, _LOOK, _END = 0, 2, 4


def agent_events(
    store: Store, sessions: Sequence[DemoSession], memories: Sequence[DemoMemory], now: int
) -> Iterator[Event]:
    """Sessions begin and end, and look at memories in between; the rules run as they would have."""
    numbers: dict[str, int] = {}
    for session in sessions:
        yield Event(at_ms(session.day, now), _BEGIN, partial(_begin, store, numbers, session))
        if session.hours is not None:
            end_day = session.day + session.hours / 24
            yield Event(at_ms(end_day, now), _END, partial(_end, store, numbers, session, _settings(end_day)))
    for memory in memories:
        for access in memory.accesses:
            yield Event(at_ms(access.day, now), _LOOK, partial(_look, store, numbers, demo_id(memory.key), access))


def _begin(store: Store, numbers: dict[str, int], session: DemoSession) -> None:
    met = meet_session(store, session.key, parent=session.parent, project=session.project, agent=session.agent)
    numbers[session.key] = met.id


def _end(store: Store, numbers: dict[str, int], session: DemoSession, settings: PromotionSettings) -> None:
    end_session(store, numbers[session.key], outcome=session.outcome, settings=settings)


def _look(store: Store, numbers: dict[str, int], node_id: str, access: DemoAccess) -> None:
    record_accesses(
        store, numbers[access.session], [node_id], AccessKind(access.kind),
        outcome=access.outcome, settings=_settings(access.day),
    )  # fmt: skip


def _settings(day: float) -> PromotionSettings:
    return PromotionSettings(automatic=day < BY_HAND_SINCE_DAY)
