"""After a purge the secret stands in no file of the folder but the backups that are named."""

from __future__ import annotations

import io
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.family import family_id
from tests.tierdeck.transfer.test_round_trip import exported
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import InvalidValueError, NotFoundError, ReadOnlyStoreError
from tierdeck.index.path import beside_index_path, cached_index_path
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.backup import backup
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.purge import preview_purge, purge
from tierdeck.model import AccessKind, EdgeType, Member, NodeChanges, NodeDraft, Tier, content_hash
from tierdeck.promote import record_accesses
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import entries, log_head
from tierdeck.promote.moves.holds import hold, holds
from tierdeck.promote.moves.override import archive_nodes, override_tier
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.records import LogFilter
from tierdeck.search import hybrid_search
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    add_session,
    confidence_changes,
    edges_of,
    edit_node,
    get_node,
    open_store,
    relate,
    revisions,
    tier_moves,
)
from tierdeck.terms.fill import fill_terms
from tierdeck.transfer.jsonl_import import import_jsonl
from tierdeck.vectors.vector_index import open_vector_index

SECRET = "sk-proj-Zq83Hf1LmW02XvT5bYc7"
WORD = b"zq83hf1lmw02xvt5byc7"  # as the full-text index has it
OFF = EmbeddingSettings(provider="off")

HOLD_A_SNAPSHOT = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1])
conn.execute("BEGIN")
conn.execute("SELECT count(*) FROM nodes").fetchone()
print("open", flush=True)
sys.stdin.read()
"""


class FakeEmbedder:
    """Vectors of our own choice."""

    name = "fake"
    dimensions = 8
    is_remote = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        seeds = [sum(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(8).astype(np.float32) for seed in seeds])


def files_with(folder: Path, *needles: bytes) -> set[str]:
    return {
        file.name
        for file in folder.iterdir()
        if any(needle in file.read_bytes() or needle in file.read_bytes().lower() for needle in needles)
    }


def fill(store: Store) -> str:
    """A store with a secret in a memory that was edited, archived and related; gives its id."""
    add_nodes(store, [NodeDraft(f"some other memory number {n}") for n in range(50)])
    node = add_node(
        store,
        NodeDraft(
            f"export OPENAI_API_KEY={SECRET}", subtype="env", provenance=f"turn 3: {SECRET}",
            metadata={"note": SECRET, "tags": ["env"]},
        ),
    )  # fmt: skip
    other = add_node(store, NodeDraft("what uses the key"))
    edit_node(store, node.id, NodeChanges(f"the key is {SECRET} now", confidence=0.8), actor="me")
    edit_node(store, node.id, NodeChanges("the key was moved"), actor="me", reason=f"took {SECRET} out")
    edit_node(store, node.id, NodeChanges(f"the key is back: {SECRET}"), actor="me")
    relate(store, EdgeType.RELATION, [Member(node.id, "subject"), Member(other.id, "object", 1)], label="used by")
    session = add_session(store, "s-1")
    record_accesses(store, session.id, [node.id], AccessKind.PULL)
    return node.id


@pytest.mark.case("X01")
def test_the_secret_stands_in_no_file_afterwards(store: Store) -> None:
    node_id = fill(store)
    assert files_with(store.path.parent, SECRET.encode(), WORD) != set()
    report = purge(store, [node_id], actor="me", reason=f"leaked: {SECRET}")
    assert (report.ids, report.revisions, report.is_erased, report.notes) == ((node_id,), 3, True, ())
    assert (report.copies, report.backups) == ((), ())
    assert files_with(store.path.parent, SECRET.encode(), WORD) == set()
    store.close()
    assert files_with(store.path.parent, SECRET.encode(), WORD) == set()


def test_what_is_no_secret_stays_where_it_was(store: Store) -> None:
    node_id = fill(store)
    created = get_node(store, node_id).created_at_ms
    purge(store, [node_id], actor="me", reason="leaked")
    node = get_node(store, node_id)
    assert (node.content, node.subtype, node.provenance, node.metadata) == ("", None, None, {})
    assert (node.tier, node.created_at_ms, node.access_count) == (Tier.ARCHIVE, created, 1)
    assert edges_of(store, node_id)[0].label == "used by"
    assert [change.new for change in confidence_changes(store, node_id)] == [0.8]
    assert tier_moves(store, node_id)[-1].reasoning == "purge by me: leaked"
    [trace] = revisions(store, node_id)
    assert (trace.kind, trace.actor, trace.reason) == ("purge", "me", "leaked")
    digest = "SELECT before, after_digest FROM td_revision WHERE id = ?"
    found = store.read(lambda conn: conn.execute(digest, (trace.id,)).get)
    assert found == (None, content_hash(f"the key is back: {SECRET}"))
    assert {check.name for check in examine(store, OFF).checks if check.state in ("warn", "bad")} == set()


def test_vectors_are_removed_from_the_index_and_the_cache(store: Store) -> None:
    node_id = fill(store)
    settings = EmbeddingSettings(provider="off")
    run_indexer(store, FakeEmbedder(), settings)
    index = open_vector_index(store)
    assert index is not None
    vector = index.vectors([node_id])[node_id].tobytes()
    kept = index.vectors_count
    index.close()
    cached = cached_index_path(store.path)
    cached.parent.mkdir(parents=True)
    cached.write_bytes(vector)
    assert files_with(store.path.parent, vector) != set()
    report = purge(store, [node_id], actor="me", reason="leaked")
    assert (report.vectors, report.notes) == (1, ())
    assert files_with(store.path.parent, vector) == set()
    assert not cached.exists()
    again = open_vector_index(store)
    assert again is not None
    with again:
        assert again.vectors_count == kept - 1
        assert again.vectors([node_id]) == {}


def test_no_word_and_no_part_of_a_name_stays_in_the_index_file(store: Store) -> None:
    node = add_node(store, NodeDraft(f"sealedVaultHarborKey is {SECRET}"))
    add_node(store, NodeDraft("getShippingMethodId stays"))
    run_indexer(store, FakeEmbedder(), OFF)
    held = (WORD, b"vaultharbor", b"sealedvaultharborkey")
    index_name = beside_index_path(store.path).name
    assert index_name in files_with(store.path.parent, WORD)
    assert index_name in files_with(store.path.parent, b"vaultharbor")
    assert hybrid_search(store, "vaultHarbor", alpha=0).hits  # the index file is open for search as well
    assert purge(store, [node.id], actor="me", reason="leaked").is_erased
    for _ in range(2):
        assert files_with(store.path.parent, *held) == set()
        assert hybrid_search(store, "vaultHarbor", alpha=0).hits == ()
        assert len(hybrid_search(store, "shipping", alpha=0).hits) == 1
        fill_terms(store)


def test_backups_that_hold_it_and_copies_in_other_memories_are_named(store: Store) -> None:
    before = backup(store).path
    node_id = fill(store)
    copy = add_node(store, NodeDraft(f"I noted that OPENAI_API_KEY={SECRET} works"))
    holding = backup(store).path
    broken = store.path.with_name(f"{store.path.name}.backup-20200101T000000-old")
    broken.write_bytes(b"not readable")
    preview = preview_purge(store, [node_id])
    assert (preview.ids, preview.revisions) == ((node_id,), 3)
    assert preview.copies == (copy.id,)
    assert set(preview.backups) == {holding, broken}
    report = purge(store, [node_id, copy.id], actor="me", reason="leaked")
    assert report.copies == ()
    assert before not in report.backups
    assert set(report.backups) == {holding, broken}
    assert files_with(store.path.parent, SECRET.encode(), WORD) == {holding.name}


def test_a_purge_while_another_program_reads_says_that_its_log_still_holds_it(store: Store) -> None:
    node_id = fill(store)
    command = [sys.executable, "-c", HOLD_A_SNAPSHOT, str(store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        report = purge(store, [node_id], actor="me", reason="leaked")
        assert not report.is_erased
        assert "purge once more" in report.notes[0]
        assert get_node(store, node_id).content == ""
        program.communicate()
    again = purge(store, [node_id], actor="me", reason="once more")
    assert again.is_erased
    assert files_with(store.path.parent, SECRET.encode(), WORD) == set()
    assert [revision.reason for revision in revisions(store, node_id)] == ["leaked"]


def test_an_import_of_an_old_export_does_not_bring_the_secret_back(store: Store) -> None:
    node_id = fill(store)
    old = exported(store)
    purge(store, [node_id], actor="me", reason="leaked")
    report = import_jsonl(store, io.BytesIO(old))
    assert get_node(store, node_id).content == ""
    assert "a memory with its id is here with another text" in {skip.reason for skip in report.skipped}
    import_jsonl(store, io.BytesIO(exported(store)))
    store.close()
    assert SECRET.encode() not in store.path.read_bytes()


def test_a_secret_in_an_adopted_store_goes_and_the_familys_program_works_on(family_store_path: Path) -> None:
    with_secret = sqlite3.connect(family_store_path)
    with_secret.execute("UPDATE nodes SET content = ? WHERE id = ?", (f"token {SECRET}", family_id(3)))
    with_secret.commit()
    with_secret.close()
    adopted = adopt(family_store_path)
    with open_store(family_store_path) as store:
        report = purge(store, [family_id(3)], actor="me", reason="leaked")
        assert report.is_erased
        assert report.backups == (adopted.backup,)
        assert examine(store, OFF).check("search-index").state == "ok"
    assert adopted.backup is not None
    assert files_with(family_store_path.parent, SECRET.encode()) == {adopted.backup.name}
    family = sqlite3.connect(family_store_path)
    family.execute("UPDATE nodes SET content = 'a heron' WHERE id = ?", (family_id(3),))
    found = family.execute("SELECT node_id FROM content_fts WHERE content_fts MATCH 'heron'").fetchall()
    assert found == [(family_id(3),)]
    assert family.execute("SELECT count(*) FROM confidence_updates").fetchone() == (1,)
    family.close()


def test_an_archived_memory_keeps_its_tier_history_as_it_was(store: Store) -> None:
    node = add_node(store, NodeDraft("the password hunter2hunter2 is old"))
    archive_nodes(store, [node.id], actor="me")
    purge(store, [node.id], actor="me", reason="leaked")
    assert [move.to_tier for move in tier_moves(store, node.id)] == ["archive"]


def test_what_is_asked_wrongly_changes_nothing(store: Store, family_store_path: Path) -> None:
    node_id = fill(store)
    before = exported(store)
    with pytest.raises(NotFoundError, match="nobody"):
        purge(store, [node_id, "nobody"], actor="me", reason="leaked")
    with pytest.raises(NotFoundError):
        preview_purge(store, ["nobody"])
    for actor, reason, ids in (("", "r", [node_id]), ("a", " ", [node_id]), ("a", "r", [])):
        with pytest.raises(InvalidValueError, match="purge"):
            purge(store, ids, actor=actor, reason=reason)
    with open_store(family_store_path) as foreign, pytest.raises(ReadOnlyStoreError):
        purge(foreign, [family_id(1)], actor="me", reason="leaked")
    with open_store(family_store_path) as foreign, pytest.raises(ReadOnlyStoreError):
        preview_purge(foreign, [family_id(1)])
    assert exported(store) == before
    assert not beside_index_path(store.path).exists()


def test_why_a_memory_was_moved_goes_with_it_and_other_reasons_stay(store: Store) -> None:
    leaked, other = add_nodes(store, [NodeDraft("the password of staging"), NodeDraft("something else")])
    archive_nodes(store, [leaked], actor="mara", reason="it says hunter2")
    archive_nodes(store, [other], actor="mara", reason="out of date")
    purge(store, [leaked], actor="mara", reason="leaked")
    assert b"hunter2" not in store.path.read_bytes()
    assert [move.reasoning for move in tier_moves(store, leaked)] == ["[purged]"]
    assert "out of date" in str(tier_moves(store, other)[0].reasoning)


def test_reasons_of_moves_and_holds_go_with_a_memory_and_the_log_stays_whole(store: Store) -> None:
    leaked, other = add_nodes(store, [NodeDraft(f"the key is {SECRET}"), NodeDraft("something else")])
    override_tier(store, [leaked], Tier.SESSION, actor="mara", reason="it says hunter2")
    override_tier(store, [leaked, other], Tier.LONGTERM, actor="mara", reason=f"beside {SECRET}", with_held=True)
    hold(store, [other], actor="mara", reason=f"not {SECRET} again")
    head = log_head(store)
    purge(store, [leaked], actor="ole", reason=f"leaked {SECRET}")
    data = store.path.read_bytes()
    assert b"hunter2" not in data
    assert SECRET.encode() not in data
    moved = {(entry.node_id, entry.reason) for entry in entries(store, LogFilter())}
    assert moved == {(leaked, "[purged]"), (other, "beside [purged]"), (other, "not [purged] again")}
    assert [hold.reason for hold in holds(store, ids=[other], now_ms=store.now_ms())] == ["not [purged] again"]
    assert {run.reason for run in runs(store)} == {"[purged]", "beside [purged]"}
    assert verify_log(store).problem is None
    [record] = verify_log(store, head=head).breaks
    assert (record.actor, record.reason) == ("ole", "purge: leaked [purged]")
