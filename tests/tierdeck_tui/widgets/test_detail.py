from __future__ import annotations

from itertools import pairwise

import pytest

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.settled import settled
from tests.tierdeck_tui.widgets.host import Host
from tierdeck.model import AccessKind, EdgeType, Member, NodeDraft
from tierdeck.promote import record_accesses
from tierdeck.store import Store, add_node, add_nodes, add_session, relate
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.detail import REST_S, Detail, Subject
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.text_view import TextView


def text(detail: Detail) -> str:
    return "\n".join(text_of(line) for line in detail.query_one(TextView).lines)


def related(detail: Detail) -> MemoryList:
    return detail.query_one("#related", MemoryList)


@pytest.fixture
def chain(store: Store) -> list[str]:
    """Three memories, each the cause of the next."""
    ids = add_nodes(store, [NodeDraft(f"link {n}") for n in range(3)])
    for cause, effect in pairwise(ids):
        relate(store, EdgeType.CAUSATION, [Member(cause, "cause"), Member(effect, "effect")], label="[/x] leads")
    return ids


async def test_relations_are_followed_and_come_back_from(store: Store, chain: list[str]) -> None:
    detail = Detail(store)
    async with Host(detail).run_test(size=(80, 40)) as pilot:
        detail.show(Subject(chain[0]))
        await settled(pilot, pause_s=REST_S)
        assert "link 0" in text(detail)
        related(detail).focus()
        assert related(detail).cursor_number == 0
        await pilot.press("enter")
        await settled(pilot)
        assert detail.subject_id == chain[1]
        assert "link 1" in text(detail)
        assert detail.back()
        await settled(pilot)
        assert detail.subject_id == chain[0]
        assert not detail.back()


async def test_news_about_the_first_memory_do_not_take_the_reader_away_from_a_followed_one(
    store: Store, chain: list[str]
) -> None:
    detail = Detail(store)
    async with Host(detail).run_test(size=(80, 40)) as pilot:
        detail.show(Subject(chain[0]))
        await settled(pilot, pause_s=REST_S)
        related(detail).focus()
        await pilot.press("enter")
        await settled(pilot)
        detail.show(Subject(chain[0]))
        await settled(pilot, pause_s=REST_S)
        assert detail.subject_id == chain[1]
        detail.show(Subject(chain[2]))
        await settled(pilot, pause_s=REST_S)
        assert detail.subject_id == chain[2]
        assert not detail.back()


async def test_only_the_memory_on_which_the_cursor_rests_is_read(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(20)])
    shown: list[str] = []

    class Watched(Detail):
        def on_detail__ready(self, message: Detail._Ready) -> None:
            super().on_detail__ready(message)
            shown.append(message.facts.node.id)

    detail = Watched(store)
    async with Host(detail).run_test(size=(80, 40)) as pilot:
        for node_id in ids:
            detail.show(Subject(node_id))
        await settled(pilot, pause_s=REST_S)
        assert shown == [ids[-1]]


async def test_a_memory_that_is_gone_is_an_error_in_words(store: Store) -> None:
    detail = Detail(store)
    async with Host(detail).run_test(size=(80, 40)) as pilot:
        detail.show(Subject("[/no] such"))
        await settled(pilot, pause_s=REST_S)
        assert text(detail).startswith("error: find memory [/no] such")


async def test_another_width_lays_it_out_anew(store: Store) -> None:
    node = add_node(store, NodeDraft("word " * 40))
    detail = Detail(store)
    async with Host(detail).run_test(size=(80, 40)) as pilot:
        detail.show(Subject(node.id))
        await settled(pilot, pause_s=REST_S)
        wide = len(detail.query_one(TextView).lines)
        await pilot.resize_terminal(40, 40)
        await settled(pilot, pause_s=REST_S)
        assert len(detail.query_one(TextView).lines) > wide


@pytest.mark.case("U01", "U05", "T01", "T05")
async def test_hostile_text_in_every_field_is_shown_as_signs(store: Store) -> None:
    hostile = "".join(HOSTILE_TEXTS)
    ids = add_nodes(
        store,
        [NodeDraft(hostile, subtype=hostile, provenance=hostile, metadata={hostile: [hostile]}) for _ in range(2)],
    )
    session = add_session(store, hostile, project=hostile, agent=hostile)
    record_accesses(store, session.id, [ids[0]], AccessKind.PULL)
    relate(store, EdgeType.RELATION, [Member(n, "subject") for n in ids], label=hostile[:900].replace("\x00", ""))
    detail = Detail(store)
    host = Host(detail)
    async with host.run_test(size=(100, 60)) as pilot:
        detail.show(Subject(ids[0]))
        await settled(pilot, pause_s=REST_S)
        strips = host.screen._compositor.render_strips()
        painted = "".join(strip.text for strip in strips)
        assert all(c >= " " and not "\x7f" <= c <= "\x9f" for c in painted)
        assert "␛]52;c;" in painted
        assert "[@click=app.quit]" in painted
