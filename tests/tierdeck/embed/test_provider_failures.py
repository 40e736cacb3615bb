"""What a provider can do to a run, over real HTTP: nothing is lost, and nothing is marked done that isn't."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.tierdeck.conftest import TEST_KEY, Remote
from tests.tierdeck.embed_server import EmbedServer, Fault, Item, dead_url
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.errors import ProviderError
from tierdeck.index.file import open_for_writing
from tierdeck.store import Store
from tierdeck.vectors.vector_index import open_vector_index

Fill = Callable[..., list[str]]


def statuses(store: Store) -> dict[str, str]:
    with closing(open_for_writing(store)) as conn:
        return {str(i): str(s) for i, s in conn.execute("SELECT node_id, status FROM embedding_state")}


def said(remote: Remote) -> str:
    """How a run that embeds nothing says why: by its report, or by an error of ours."""
    try:
        report = remote.run()
    except ProviderError as e:
        return e.message
    assert report.embedded == 0
    return report.errors[0].error


def failing(word: str, status: int, message: str = "no") -> Callable[[str], Fault | None]:
    return lambda text: Fault(status, message=message) if text == word else None


@pytest.mark.case("E12")
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 0])
def test_a_text_that_fails_for_now_stays_pending_alone_with_its_error(
    remote: Remote, fill: Fill, status: int
) -> None:
    ids = fill("a", "b", "c", "d", "e")
    remote.server.fault_for = failing("c", status, "come back later")
    report = remote.run()
    assert (report.asked, report.embedded, report.pending, report.failed) == (5, 4, 1, 0)
    assert [(fault.node_id, fault.is_permanent) for fault in report.errors] == [(ids[2], False)]
    assert status == 0 or "come back later" in report.errors[0].error
    assert statuses(remote.store)[ids[2]] == "pending"
    remote.server.fault_for = lambda text: None
    assert remote.run().embedded == 1
    assert remote.run().asked == 0


@pytest.mark.case("E12")
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_refused_for_good_fails_alone_and_is_not_sent_again(
    remote: Remote, fill: Fill, status: int
) -> None:
    ids = fill("a", "b", "c", "d", "e")
    remote.server.fault_for = failing("c", status, "not this text")
    report = remote.run()
    assert (report.embedded, report.pending, report.failed) == (4, 0, 1)
    assert [(fault.node_id, fault.is_permanent) for fault in report.errors] == [(ids[2], True)]
    assert "not this text" in report.errors[0].error
    calls = len(remote.server.calls)
    assert remote.run().asked == 0
    assert len(remote.server.calls) == calls
    remote.server.fault_for = lambda text: None
    assert remote.run(retry_failed=True).embedded == 1


@pytest.mark.parametrize("places", [{0}, {63}, {0, 1}, {0, 31, 32, 63}, {5, 6, 40}])
def test_every_bad_text_of_a_full_batch_is_found_wherever_it_stands(
    remote: Remote, fill: Fill, places: set[int]
) -> None:
    fill(*(f"{i:02d}" for i in range(64)))
    remote.server.fault_for = lambda text: Fault(422) if text.isdigit() and int(text) in places else None
    report = remote.run()
    assert (report.embedded, report.failed) == (64 - len(places), len(places))


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_stops_the_run_at_once_with_nothing_marked(
    remote: Remote, fill: Fill, status: int
) -> None:
    ids = fill("a", "b")
    remote.server.script.extend([Fault(status, message=f"bad key {TEST_KEY}")] * 9)
    with pytest.raises(ProviderError) as caught:
        remote.run()
    assert caught.value.stops_run
    assert caught.value.hint
    assert str(status) in caught.value.message
    assert TEST_KEY not in caught.value.message
    assert len(remote.server.calls) == 1
    assert statuses(remote.store) == dict.fromkeys(ids, "pending")
    remote.server.script.clear()
    assert remote.run().embedded == 2  # no claim was left behind


def test_an_account_without_credit_stops_the_run_although_it_answers_429(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.server.script.append(Fault(429, code="insufficient_quota"))
    with pytest.raises(ProviderError, match="429"):
        remote.run()
    assert len(remote.server.calls) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry-After": "7"}, 7.0), ({"Retry-After-Ms": "1500"}, 1.5), ({}, 0.25)]
)
def test_a_429_is_waited_out_as_long_as_the_provider_asks(
    remote: Remote, fill: Fill, headers: dict[str, str], seconds: float
) -> None:
    fill("a")
    remote.server.script.append(Fault(429, headers))
    assert remote.run().embedded == 1
    assert seconds <= remote.waited_s <= 2 * seconds + 0.1
    assert len([call for call in remote.server.calls if "a" not in call.inputs]) == 2  # the refused one, again


def test_a_provider_that_asks_for_an_hour_ends_the_run_and_says_so(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.server.script.append(Fault(429, {"Retry-After": "3600"}))
    with pytest.raises(ProviderError, match=r"asks to wait 3,600 s, the limit is 120 s"):
        remote.run()
    assert remote.waited_s == 0


def test_waits_between_attempts_grow_and_are_bounded_by_the_attempts(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.configure(max_attempts=4)
    remote.server.fault_for = lambda text: Fault(503)
    report = remote.run()
    assert report.stopped is not None
    assert "503" in report.stopped
    assert report.pending == 1
    assert 0.25 + 0.5 + 1 <= remote.waited_s <= 0.5 + 1 + 2


def test_a_provider_that_always_fails_is_given_up_after_few_requests(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    ids = fill(*(f"memory {i}" for i in range(200)))
    remote.server.fault_for = lambda text: Fault(500)
    report = remote.run()
    assert report.stopped is not None
    assert report.embedded == 0
    assert len(remote.server.calls) < 20
    assert set(statuses(remote.store).values()) <= {"pending", "done"}
    remote.server.fault_for = lambda text: None
    remote.run()
    assert set(statuses(remote.store)) > set(ids)
    assert set(statuses(remote.store).values()) == {"done"}


def test_texts_that_fail_again_and_again_do_not_keep_the_others_waiting(remote: Remote, fill: Fill) -> None:
    fill(*(f"bad {i}" for i in range(40)), *(f"good {i}" for i in range(10)))
    remote.configure(batch_rows=8)
    remote.server.fault_for = lambda text: Fault(500) if text.startswith("bad") else None
    runs = 0
    while remote.run().pending > 40:
        runs += 1
        assert runs < 40
    assert {text for text in remote.sent() if text.startswith("good")} == {f"good {i}" for i in range(10)}


def test_a_server_that_takes_fewer_texts_gets_smaller_requests(remote: Remote, fill: Fill) -> None:
    fill(*(f"memory {i:02d}" for i in range(40)))
    remote.server.max_inputs = 10
    report = remote.run()
    assert (report.embedded, report.failed) == (40, 0)
    refused = [call for call in remote.server.calls if len(call.inputs) > 10]
    assert len(refused) == 7  # the 64 probe sentences: 64, 2 x 32, 4 x 16; no later batch is too large


def test_a_dead_server_ends_the_run_with_everything_still_to_do(remote: Remote, fill: Fill) -> None:
    ids = fill("a", "b")
    remote.configure(base_url=dead_url())
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1 can't be reached") as caught:
        remote.run()
    assert caught.value.is_retryable
    assert remote.waited_s > 0  # it was tried again before it was given up
    assert statuses(remote.store) == dict.fromkeys(ids, "pending")


def test_a_slow_answer_is_given_up_after_the_timeout(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.configure(timeout_s=0.1, max_attempts=2)
    remote.server.delay_s = 0.5
    report = remote.run()
    assert report.stopped is not None
    assert report.pending == 1


def test_a_run_stops_while_the_provider_is_silent(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.server.delay_s = 20.0
    begun = time.monotonic()
    report = remote.run(should_stop=lambda: bool(remote.server.calls))
    assert report.stopped is not None
    assert time.monotonic() - begun < remote.server.delay_s / 2
    assert report.pending == 1


def test_a_run_stops_while_it_waits_for_the_provider(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.server.script.append(Fault(429, {"Retry-After": "60"}))
    report = remote.run(should_stop=lambda: remote.waited_s > 1)
    assert report.stopped is not None
    assert remote.waited_s < 2


@pytest.mark.case("E10")
def test_vectors_of_another_length_stop_the_run_with_both_lengths_named(remote: Remote, fill: Fill) -> None:
    ids = fill("a", "b")
    remote.configure(dimensions=12)
    with pytest.raises(ProviderError, match="its vectors have 8 numbers, 12 are configured") as caught:
        remote.run()
    assert caught.value.hint is not None
    assert "dimensions = 8" in caught.value.hint
    assert statuses(remote.store) == dict.fromkeys(ids, "pending")


def test_answers_out_of_order_are_put_in_order_by_their_index(remote: Remote, fill: Fill) -> None:
    ids = fill("a", "b", "c")
    remote.run()
    index = open_vector_index(remote.store)
    assert index is not None
    with index:
        in_order = {key: vector.tolist() for key, vector in index.vectors(ids).items()}
    remote.configure(model="model-b")
    remote.server.reshape = lambda items: items[::-1]
    remote.run()
    index = open_vector_index(remote.store)
    assert index is not None
    with index:
        assert {key: vector.tolist() for key, vector in index.vectors(ids).items()} == in_order


@pytest.mark.parametrize(
    "reshape",
    [
        lambda items: [{**item, "index": 0} for item in items],
        lambda items: items[:-1],
        lambda items: [*items, {**items[0], "index": len(items)}],
        lambda items: [{key: item[key] for key in item if key != "index"} for item in items],
        lambda items: [{**item, "index": 1 + at} for at, item in enumerate(items)],
        lambda items: [{**item, "index": "0"} for item in items],
        lambda items: [],
    ],
    ids=["all the same", "one missing", "one too many", "none", "from one", "as text", "no data"],
)
def test_an_answer_whose_places_do_not_fit_the_texts_marks_nothing(
    remote: Remote, fill: Fill, reshape: Callable[[list[Item]], list[Item]]
) -> None:
    remote.warm_up()
    ids = fill("a", "b", "c")
    remote.configure(max_attempts=2)
    remote.server.reshape = lambda items: reshape(items) if len(items) > 1 else [{**items[0], "index": 7}]
    report = remote.run()
    assert (report.embedded, report.failed, report.pending) == (0, 0, 3)
    assert {statuses(remote.store)[node_id] for node_id in ids} == {"pending"}
    remote.server.reshape = lambda items: items
    assert remote.run().embedded == 3


@pytest.mark.parametrize(
    "fault",
    [
        Fault(200, raw_body=b"<html>log in first</html>", headers={"Content-Type": "text/html"}),
        Fault(200, raw_body=b"{not json"),
        Fault(200, raw_body=b"[]"),
        Fault(200, raw_body=b"null"),
        Fault(200, raw_body=b'{"data": [{"index": 0, "embedding": "%%%"}]}'),
        Fault(200, raw_body=b'{"data": [{"index": 0, "embedding": ["x"]}]}'),
        Fault(200, raw_body=b'{"data": 5}'),
        Fault(418, message="a teapot"),
        Fault(500, raw_body=b"\xff\xfe\x00"),
    ],
    ids=["html", "broken json", "list", "null", "base64", "words", "number", "teapot", "bytes"],
)
def test_an_answer_that_makes_no_sense_is_an_error_of_ours_and_marks_nothing_done(
    remote: Remote, fill: Fill, fault: Fault
) -> None:
    remote.warm_up()
    [node_id] = fill("a")
    remote.configure(max_attempts=1)
    remote.server.fault_for = lambda text: fault
    assert said(remote).startswith("embed with model-a:")
    assert statuses(remote.store)[node_id] in {"pending", "failed"}


@pytest.mark.parametrize("echo", [f"Incorrect API key provided: {TEST_KEY}", "you sent ghp_abcdefgh12345678"])
def test_what_a_server_repeats_of_a_key_is_masked(remote: Remote, fill: Fill, echo: str) -> None:
    fill("a")
    remote.server.fault_for = failing("a", 422, echo)
    report = remote.run()
    assert "hidden" in report.errors[0].error
    assert echo.rsplit(" ", 1)[1] not in report.errors[0].error


def test_a_model_that_refuses_every_probe_fails_no_memory(remote: Remote, fill: Fill) -> None:
    ids = fill("a")
    remote.server.fault_for = lambda text: Fault(400, message="unknown model") if text in PROBE_SENTENCES else None
    with pytest.raises(ProviderError, match="unknown model: every text is refused"):
        remote.run()
    assert statuses(remote.store) == {ids[0]: "pending"}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_texts_are_not_sent_on_to_where_a_server_redirects(
    remote: Remote, server: EmbedServer, fill: Fill, status: int
) -> None:
    fill("a")
    with EmbedServer() as elsewhere:
        server.script.append(Fault(status, {"Location": f"{elsewhere.base_url}/embeddings"}))
        with pytest.raises(ProviderError, match=elsewhere.base_url):
            remote.run()
        assert elsewhere.calls == []


@pytest.mark.parametrize("number", [0.0, float("nan"), float("inf")])
def test_a_model_that_makes_no_use_of_any_probe_is_named_with_the_reason(
    remote: Remote, fill: Fill, number: float
) -> None:
    fill("a")
    remote.server.vector_of = lambda text: [number] * 8
    with pytest.raises(ProviderError, match=r"\w.*: every text is refused") as caught:
        remote.run()
    assert not caught.value.message.startswith(":")
    assert set(statuses(remote.store).values()) == {"pending"}
