from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.embed_server import EmbedServer
from tierdeck.config import LOCAL_DIMENSIONS, LOCAL_MODEL
from tierdeck.embed.local import LocalEmbedder
from tierdeck.vectors.unit_vectors import unit_vector

_ROUND = """
import json, sys
{before}
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.vectors.vector_index import open_vector_index
from tierdeck.model import NodeDraft
from tierdeck.store import open_store
from tierdeck.store.nodes import add_nodes

settings = EmbeddingSettings(provider="local", base_url={url!r})
with open_store({path!r}, create=True) as store:
    ids = add_nodes(store, [NodeDraft(content=t) for t in ("a cat purrs", "the bond market fell")])
    embedder = make_embedder(settings, store)
    report = run_indexer(store, embedder, settings)
    with open_vector_index(store) as index:
        found = index.nearest(embedder.embed(["kittens"])[0], 2)
    print(json.dumps({{"embedded": report.embedded, "first": found[0][0] == ids[0], "seen": {after}}}))
"""


def run_round(tmp_path: Path, before: str, after: str, url: str = "") -> str:
    script = _ROUND.format(path=str(tmp_path / "m.db"), before=before, after=after, url=url)
    env = {**os.environ, "OPENAI_API_KEY": "sk-test-0000000000000000"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_local_model_gives_vectors_of_the_length_it_says_and_puts_like_beside_like() -> None:
    model = LocalEmbedder()
    assert (model.name, model.dimensions, model.is_remote) == (LOCAL_MODEL, LOCAL_DIMENSIONS, False)
    vectors = model.embed(["the cat sleeps", "a kitten is sleeping", "interest rates went up"])
    assert vectors.shape == (3, 256)
    assert vectors.dtype == np.float32
    cat, kitten, rates = (unit_vector(vector, 256) for vector in vectors)
    assert cat @ kitten > cat @ rates


@pytest.mark.parametrize("texts", [["one"], ["one", ""], ["", ""], [], ["\x00", "🙂" * 50]])
def test_any_number_of_any_texts_gives_as_many_vectors(texts: list[str]) -> None:
    assert LocalEmbedder().embed(texts).shape == (len(texts), 256)


def test_a_texts_vector_is_the_same_whatever_else_is_in_the_batch() -> None:
    model = LocalEmbedder()
    texts = ["a", "the cat sat on the mat " * 300, "", "b c", "word " * 5_000, "the cat", "a"]
    together = model.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(model.embed([text])[0], vector, rtol=1e-4, atol=1e-6)


@pytest.mark.case("E14")
def test_a_long_text_in_a_batch_does_not_make_the_short_ones_take_its_memory() -> None:
    model = LocalEmbedder()
    texts = ["short"] * 255 + ["a b c d " * 1_024]
    tracemalloc.start()
    model.embed(texts)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 100_000_000  # padded together they would take 1 GB


@pytest.mark.case("E18")
def test_with_the_local_model_no_connection_is_made(tmp_path: Path) -> None:
    with EmbedServer() as server:
        hook = (
            "seen = []\n"
            "sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(('socket.connect',"
            " 'socket.getaddrinfo', 'socket.gethostbyname', 'socket.sendto')) else None)"
        )
        said = run_round(tmp_path, hook, "seen", server.base_url)
        assert said == '{"embedded": 2, "first": true, "seen": []}'
        assert server.calls == []


@pytest.mark.case("E01")
def test_pythons_own_sqlite_is_not_needed_at_all(tmp_path: Path) -> None:
    block = "sys.modules['sqlite3'] = sys.modules['_sqlite3'] = None"
    assert run_round(tmp_path, block, "0") == '{"embedded": 2, "first": true, "seen": 0}'


def test_importing_the_room_loads_no_numpy_and_no_model() -> None:
    script = "import sys, tierdeck.embed\nprint(sorted({'numpy', 'openai', 'wordllama'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
