"""Several indexers on one store, as real processes against one server: no text is paid for twice, none is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from tests.tierdeck.conftest import DIMENSIONS, TEST_KEY, Remote
from tierdeck.embed.catch_up import catch_up
from tierdeck.embed.claim import is_claimed, new_claimant
from tierdeck.embed.index_writer import IndexWriter, Made
from tierdeck.embed.work_queue import WorkQueue
from tierdeck.index.file import open_for_writing
from tierdeck.model import NodeChanges
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.times import now_ms
from tierdeck.vectors.model_record import Model, prepare_tables
from tierdeck.vectors.vector_index import open_vector_index

Fill = Callable[..., list[str]]

_SCRIPT = """
import sys
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.store import open_store

path, url, dimensions = sys.argv[1:]
settings = EmbeddingSettings(
    provider="openai", model="model-a", dimensions=int(dimensions), base_url=url, batch_rows=4
)
with open_store(path) as store:
    run_indexer(store, make_embedder(settings, store), settings)
"""


def start(path: Path, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(path), url, str(DIMENSIONS)],
        env={**os.environ, "OPENAI_API_KEY": TEST_KEY},
        stderr=subprocess.PIPE,
    )


def vectors_count(store: Store) -> int:
    index = open_vector_index(store)
    assert index is not None
    with index:
        return index.vectors_count


def test_two_processes_share_the_work_and_pay_for_no_text_twice(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    fill(*(f"memory {i}" for i in range(60)), *(f"memory {i}" for i in range(30)))
    remote.server.delay_s = 0.03
    running = [start(remote.store.path, remote.server.base_url) for _ in range(2)]
    for process in running:
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr.decode()
    assert Counter(remote.sent()) == Counter(f"memory {i}" for i in range(60))
    assert vectors_count(remote.store) == 91


def test_what_a_killed_indexer_had_claimed_is_free_at_once(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    fill(*(f"memory {i}" for i in range(12)))
    remote.server.delay_s = 30.0
    victim = start(remote.store.path, remote.server.base_url)
    begun = time.monotonic()
    while not remote.server.calls and time.monotonic() - begun < 60:
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    remote.server.delay_s = 0.0
    assert remote.run().embedded == 12
    assert vectors_count(remote.store) == 13


def test_a_claim_holds_until_its_time_is_over(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    ids = fill("a", "b")
    clock = [1_000_000]
    with closing(open_for_writing(remote.store)) as conn:
        model = Model("model-a", DIMENSIONS)
        prepare_tables(conn, model)
        first, second = (
            WorkQueue(conn, model, f"elsewhere/{n}/x", lease_ms=1_000, clock_ms=lambda: clock[0]) for n in (1, 2)
        )
        assert catch_up(conn, remote.store, model, lambda: False)
        assert [work.node_ids[0] for work in first.claim(10, ())] == ids
        assert second.claim(10, ()) == []
        clock[0] += 999
        assert second.claim(10, ()) == []
        clock[0] += 1
        assert len(second.claim(10, ())) == 2
        assert first.claim(10, ()) == []


def test_a_claim_of_this_process_is_alive_and_one_of_a_process_that_ended_is_not() -> None:
    mine = new_claimant()
    assert is_claimed(mine, 2_000, 1_000)
    assert not is_claimed(mine, 1_000, 1_000)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = mine.rpartition("/")[0].rpartition("/")[0]
    assert not is_claimed(f"{host}/{ended.pid}/abc", 2_000, 1_000)
    assert is_claimed(f"another-host/{ended.pid}/abc", 2_000, 1_000)
    assert is_claimed("no process named", 2_000, 1_000)
    assert not is_claimed(None, None, 1_000)


def test_the_vector_of_an_equal_text_is_not_taken_when_that_text_has_changed(remote: Remote, fill: Fill) -> None:
    remote.warm_up()
    [twin] = fill("the same")
    remote.run()
    fill("the same")
    model = Model("model-a", DIMENSIONS)
    with closing(open_for_writing(remote.store)) as conn:
        assert catch_up(conn, remote.store, model, lambda: False)
        queue = WorkQueue(conn, model, new_claimant(), lease_ms=60_000, clock_ms=now_ms)
        [work] = queue.claim(10, ())
        assert work.twin_id == twin
        edit_node(remote.store, twin, NodeChanges(content="another"), actor="t")
        remote.run()
        assert IndexWriter(conn, remote.store, model, queue).twin_vector(work) is None


def test_a_text_that_changed_on_its_way_and_was_embedded_by_another_run_stays_done(
    remote: Remote, fill: Fill
) -> None:
    remote.warm_up()
    [node_id] = fill("first")
    model = Model("model-a", DIMENSIONS)
    with closing(open_for_writing(remote.store)) as conn:
        assert catch_up(conn, remote.store, model, lambda: False)
        queue = WorkQueue(conn, model, new_claimant(), lease_ms=60_000, clock_ms=now_ms)
        writer = IndexWriter(conn, remote.store, model, queue)
        [work] = queue.claim(10, ())
        assert writer.texts_of([work]) == {work.content_hash: "first"}
        edit_node(remote.store, node_id, NodeChanges(content="second"), actor="t")
        assert remote.run().embedded == 1
        assert writer.commit([Made(work, np.ones(DIMENSIONS, np.float32) / DIMENSIONS**0.5, None)]) == 0
        assert queue.count_pending() == 0
