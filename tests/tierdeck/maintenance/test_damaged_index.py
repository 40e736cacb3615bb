"""Whatever of an index file was overwritten: doctor says so, or search answers as it did."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random

import apsw
import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tierdeck import db
from tierdeck.errors import TierdeckError
from tierdeck.index.file import VECTORS
from tierdeck.index.path import index_path
from tierdeck.maintenance import index_checks
from tierdeck.maintenance.health import Check
from tierdeck.maintenance.index_checks import check_index_file
from tierdeck.search import hybrid_search
from tierdeck.store import Store
from tierdeck.vectors.vector_check import vector_fault
from tierdeck.vectors.vector_index import open_vector_index

MODEL = ChosenVectors({}, dimensions=64)
QUERIES = ("memory 7 about apples", "memory 200 about pears")
PLACES = 60


def found(store: Store) -> list[tuple[str, float]] | str:
    """The hits by meaning alone, or why there are none."""
    try:
        index = open_vector_index(store)
        if index is None:
            return "no index"
        with closing(index):
            answers = [hybrid_search(store, each, alpha=1.0, embedder=MODEL, index=index) for each in QUERIES]
    except TierdeckError as e:
        return e.message
    if answers[0].degraded:
        return answers[0].degraded
    return [(hit.row.id, round(hit.score, 5)) for answer in answers for hit in answer.hits]


def looked_at(store: Store, *, is_thorough: bool = False) -> Check | str:
    """What doctor says of the file, or the error that it shows in its place."""
    try:
        return check_index_file(store, is_thorough=is_thorough)
    except TierdeckError as e:
        return e.message


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Put other bytes there, and nothing beside the file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    for suffix in db.LOG_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@pytest.fixture
def indexed(store: Store) -> Store:
    """A store of 400 memories with an index of one file, without a log."""
    remember(store, *(f"memory {n} about {'apples' if n % 2 else 'pears'}" for n in range(400)))
    embed_all(store, MODEL).close()
    with closing(apsw.Connection(str(index_path(store)))) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return store


@pytest.mark.spec("SPEC-09.02")
def test_no_damage_that_changes_an_answer_is_passed_over(indexed: Store) -> None:
    path, before = index_path(indexed), found(indexed)
    good, rng, unlike = path.read_bytes(), Random(5), 0
    for place in range(PLACES):
        path.write_bytes(good)
        overwrite(path, len(good) * place // PLACES, rng.randbytes(3_000))
        is_like = found(indexed) == before
        check = looked_at(indexed)
        assert is_like or isinstance(check, str) or check.state == "bad", f"at {place} of {PLACES}: {check}"
        unlike += not is_like
    assert unlike > 3, "most of the damage changed nothing: the test looks at too little"
    path.write_bytes(good)
    assert found(indexed) == before
    assert isinstance(check := looked_at(indexed), Check)
    assert check.state == "ok"


def test_a_vector_of_another_length_is_found_and_named_with_its_chunk(indexed: Store) -> None:
    with closing(apsw.Connection(str(index_path(indexed)))) as conn:
        assert vector_fault(conn, 64) is None
        with conn.blob_open("main", f"{VECTORS}_vector_chunks00", "vectors", 1, True) as blob:
            blob.seek(399 * 64 * 4)
            blob.write(np.full(64, np.nan, np.float32).tobytes())
        assert vector_fault(conn, 64) == "1 of 400 vectors in chunk 1 are not of length 1"
        with conn.blob_open("main", f"{VECTORS}_vector_chunks00", "vectors", 1, True) as blob:
            blob.seek(400 * 64 * 4)  # the first slot without a vector
            blob.write(b"\xff" * 64 * 4)
            blob.seek(399 * 64 * 4)
            blob.write(np.full(64, 1 / 8, np.float32).tobytes())
        assert vector_fault(conn, 64) is None


def test_a_large_file_is_read_through_only_when_that_is_asked_for(
    indexed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_checks, "LOOKED_THROUGH_BYTES", 1_000)
    with closing(apsw.Connection(str(index_path(indexed)))) as conn, conn:
        conn.execute(f"UPDATE {VECTORS}_vector_chunks00 SET vectors = zeroblob(length(vectors))")
    check = looked_at(indexed)
    assert isinstance(check, Check)
    assert (check.state, "--thorough" in check.text) == ("info", True)
    check = looked_at(indexed, is_thorough=True)
    assert isinstance(check, Check)
    assert (check.state, check.fix) == ("bad", "tierdeck embed --rebuild")
