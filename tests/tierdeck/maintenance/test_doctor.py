"""Doctor names what is wrong with a store, and says which command mends it; it changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.family import INSERT_NODE, family_id
from tests.tierdeck.damage import empty_text
from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.errors import StoreNotFoundError
from tierdeck.index.path import cache_folder, cached_index_path
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.backup import backup
from tierdeck.maintenance.doctor import examine, examine_file
from tierdeck.maintenance.health import Health
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter
from tierdeck.store import Store, StoreKind, add_node, add_nodes, count_nodes, edit_node, open_store

OFF = EmbeddingSettings(provider="off")
FTS_TRIGGERS = ("nodes_fts_insert", "nodes_fts_update", "nodes_fts_delete")


def look(store: Store) -> Health:
    return examine(store, OFF)


def faults(health: Health) -> dict[str, str]:
    """The checks that found something wrong, with their state."""
    return {check.name: check.state for check in health.checks if check.state in ("warn", "bad")}


def without_triggers(path: Path, statement: str) -> None:
    """Run a statement with the full-text triggers dropped, then put them back."""
    with closing(sqlite3.connect(path)) as conn:
        names = ", ".join(f"'{name}'" for name in FTS_TRIGGERS)
        made = [row[0] for row in conn.execute(f"SELECT sql FROM sqlite_master WHERE name IN ({names})")]
        assert len(made) == 3
        for name in FTS_TRIGGERS:
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute(statement)
        for sql in made:
            conn.execute(sql)
        conn.commit()


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_sound_store_has_nothing_to_mend_and_every_check_is_there(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"memory {n}") for n in range(5)])
    health = look(store)
    assert faults(health) == {}
    assert health.state == "ok"
    names = [check.name for check in health.checks]
    assert names == [
        "python", "driver", "sqlite-vec", "file", "journal", "backups", "integrity", "schema", "search-index",
        "ids", "times", "metadata", "text", "values", "orphans", "clock", "promotion-counts",
        "promotion-log", "holds", "secrets", "embeddings", "index-file", "vector-bits", "extra-terms", "word-list",
        "cache", "size",
    ]  # fmt: skip
    assert "SQLite 3." in health.check("driver").text
    assert "write-ahead log" in health.check("journal").text


def test_a_family_store_is_looked_over_without_a_trace_in_its_folder(family_store_path: Path) -> None:
    before = folder_bytes(family_store_path.parent)
    with open_store(family_store_path) as store:
        health = look(store)
    assert health.kind is StoreKind.FOREIGN
    assert faults(health) == {}
    assert folder_bytes(family_store_path.parent) == before


def test_an_adopted_store_is_sound(family_store_path: Path) -> None:
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        assert faults(look(store)) == {}


@pytest.mark.case("D05")
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM nodes WHERE id = ?", "1 of no memory"),
        ("UPDATE nodes SET content = 'the new harbour' WHERE id = ?", "1 with another text"),
        ("INSERT INTO nodes (id, type, content) VALUES (? || 'x', 'fact', 'a new one')", "1 missing"),
        ("UPDATE nodes SET id = id || 'y' WHERE id = ?", "1 missing, 1 of no memory"),
        (
            "INSERT INTO content_fts (node_id, content, type) SELECT id, content, type FROM nodes WHERE id = ?",
            "1 more",
        ),
        ("UPDATE nodes SET type = 'decision' WHERE id = ?", "1 with another text"),
    ],
)
def test_an_index_out_of_step_is_found_though_sqlites_own_check_passes(
    store: Store, statement: str, said: str
) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory number {n}") for n in range(20)])
    path = store.path
    store.close()
    without_triggers(path, statement.replace("?", f"'{ids[7]}'"))
    with open_store(path) as opened:
        health = look(opened)
    assert health.check("integrity").state == "ok"
    check = health.check("search-index")
    assert check.state == "bad"
    assert said in check.text
    assert check.fix == "tierdeck doctor --repair search-index"
    assert any(ids[7] in line for line in check.details)


@pytest.mark.case("D05")
def test_drift_in_a_store_that_is_only_read_is_found_and_left_to_its_owner(family_store_path: Path) -> None:
    without_triggers(family_store_path, f"DELETE FROM nodes WHERE id = '{family_id(3)}'")
    before = folder_bytes(family_store_path.parent)
    with open_store(family_store_path) as store:
        check = look(store).check("search-index")
    assert (check.state, check.fix) == ("bad", None)
    assert "adopt" in check.text
    assert folder_bytes(family_store_path.parent) == before


def test_the_familys_own_rebuild_which_renumbers_rows_is_no_drift(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"memory number {n}") for n in range(9)])
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DELETE FROM content_fts")
        conn.execute(
            "INSERT INTO content_fts (node_id, content, type) SELECT id, content, type FROM nodes ORDER BY id DESC"
        )
        conn.commit()
    with open_store(path) as opened:
        assert look(opened).check("search-index").state == "ok"


def test_an_old_type_in_the_familys_index_is_no_drift(family_store_path: Path) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.execute("UPDATE nodes SET type = 'entity' WHERE type = 'fact'")
        conn.commit()
    with open_store(family_store_path) as store:
        assert look(store).check("search-index").state == "ok"


@pytest.mark.case("D07")
def test_a_memory_retagged_and_deleted_leaves_nothing_to_find(store: Store) -> None:
    node = add_node(store, NodeDraft("the harbour light is blue", metadata={"tags": ["blue"]}))
    edit_node(store, node.id, NodeChanges("the harbour light is green", metadata={"tags": ["green"]}), actor="me")
    assert count_nodes(store, NodeFilter(tag="blue")) == 0
    assert count_nodes(store, NodeFilter(tag="green")) == 1
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node.id,))
    for word in ("blue", "green"):
        assert count_nodes(store, NodeFilter(tag=word)) == 0
    match = "SELECT count(*) FROM content_fts WHERE content_fts MATCH 'blue OR green'"
    assert store.read(lambda conn: int(conn.execute(match).get)) == 0
    health = look(store)
    assert (health.check("integrity").state, health.check("search-index").state) == ("ok", "ok")


@pytest.mark.case("D05")
def test_a_damaged_full_text_index_is_told_from_a_damaged_store(store: Store) -> None:
    add_nodes(store, [NodeDraft(f"memory number {n}") for n in range(50)])
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE content_fts_data SET block = zeroblob(8) WHERE id > 10")
        conn.commit()
    with open_store(path) as opened:
        check = look(opened).check("integrity")
    assert check.state == "bad"
    assert "the memories are whole" in check.text
    assert check.fix == "tierdeck doctor --repair search-index"


def test_an_index_that_lost_a_part_of_itself_is_to_be_built_anew_not_salvaged(store: Store) -> None:
    add_nodes(store, [NodeDraft("memory")])
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DELETE FROM content_fts_data")
        conn.commit()
    with open_store(path) as opened:
        check = look(opened).check("search-index")
    assert (check.state, check.fix) == ("bad", "tierdeck doctor --repair search-index")


def test_a_missing_trigger_table_or_index_is_named(store: Store) -> None:
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DROP TRIGGER nodes_fts_delete")
        conn.execute("DROP INDEX td_access_node")
        conn.execute("CREATE INDEX mine ON nodes (provenance)")
        conn.commit()
    with open_store(path) as opened:
        check = look(opened).check("schema")
    assert check.state == "bad"
    assert set(check.details) == {"index td_access_node is missing", "trigger nodes_fts_delete is missing"}
    assert check.fix == "tierdeck doctor --repair schema"


def test_a_table_that_is_not_as_its_version_promises_is_named(store: Store) -> None:
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("ALTER TABLE td_access ADD COLUMN extra")
        conn.commit()
    with open_store(path) as opened:
        assert look(opened).check("schema").details == ("table td_access is another than promised",)


def test_a_family_store_without_its_triggers_is_told(family_store_path: Path) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.execute("DROP TRIGGER nodes_fts_insert")
        conn.commit()
    with open_store(family_store_path) as store:
        assert look(store).check("schema").details == ("trigger nodes_fts_insert is missing",)


def test_a_family_store_that_says_edge_type_is_sound(family_store_path: Path) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.execute("ALTER TABLE hyperedges RENAME COLUMN type TO edge_type")
    with open_store(family_store_path) as store:
        assert look(store).check("schema").state == "ok"


def test_odd_rows_of_another_program_are_listed_by_memory_and_hidden_from_nobody(family_store_path: Path) -> None:
    odd = [
        ("created_at", "soon", "times"),
        ("last_accessed", 10**18, "times"),
        ("updated_at", "2026-05-01T10:00:00+09:00", None),
        ("created_at", 1_700_000_000, None),
        ("metadata", "{broken", "metadata"),
        ("metadata", "[1]", "metadata"),
        ("metadata", None, None),
        ("tier", None, "values"),
        ("confidence", None, "values"),
        ("access_count", "many", "values"),
        ("provenance", b"\xff\xfe", "text"),
    ]
    with closing(sqlite3.connect(family_store_path)) as conn:
        for number, (column, value, _) in enumerate(odd):
            conn.execute(INSERT_NODE, (f"odd-{number}", "fact", None, "text", "task", 0.5, None, "{}"))
            cast = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
            conn.execute(f"UPDATE nodes SET {column} = {cast} WHERE id = ?", (value, f"odd-{number}"))
        conn.execute(INSERT_NODE, (None, "fact", None, "nameless", "task", 0.5, None, "{}"))
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('raw', 'fact', CAST(x'61ff62' AS TEXT))")
        conn.commit()
    with open_store(family_store_path) as store:
        health = look(store)
    for number, (_, _, name) in enumerate(odd):
        told = {c.name for c in health.checks if any(line.startswith(f"odd-{number}:") for line in c.details)}
        assert told == ({name} if name else set()), odd[number]
    assert health.check("ids").state == "warn"
    assert any(line.startswith("raw:") for line in health.check("text").details)
    assert health.check("search-index").state == "ok"


def test_many_odd_rows_are_counted_all_and_listed_in_part(store: Store) -> None:
    with store.writing() as conn:
        conn.executemany(
            "INSERT INTO nodes (id, type, content, created_at) VALUES (?, 'fact', 'x', 'whenever')",
            [(f"n-{n}",) for n in range(500)],
        )
    check = look(store).check("times")
    assert check.text.startswith("found 500: times that can't be read")
    assert len(check.details) == 20


def test_rows_of_ours_whose_memory_another_program_deleted_are_counted(store: Store) -> None:
    kept, gone = add_nodes(store, [NodeDraft("stays"), NodeDraft("goes", compute_embedding=False)])
    with store.writing() as conn:
        conn.execute("INSERT INTO td_session (id, external_id, root_id, started_at) VALUES (1, 's', 1, 0)")
        for node_id in (kept, gone):
            conn.execute(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, 1, 'pull', 0)", (node_id,)
            )
            conn.execute(
                "INSERT INTO td_revision (node_id, at, kind, actor) VALUES (?, 0, 'edit', 'me')", (node_id,)
            )
        conn.execute("INSERT INTO td_revision (node_id, at, kind, actor) VALUES (?, 0, 'purge', 'me')", (gone,))
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    check = look(store).check("orphans")
    assert check.text == "found 3: rows that belong to no memory"
    assert check.fix == "tierdeck doctor --repair orphans"


@pytest.mark.case("X01")
def test_memories_that_look_like_secrets_are_counted_and_not_printed(store: Store) -> None:
    node = add_node(store, NodeDraft("export OPENAI_API_KEY=sk-test-0000aaaa1111bbbb2222cccc3333"))
    check = look(store).check("secrets")
    assert (check.state, check.details) == ("warn", (node.id,))
    assert "sk-test" not in check.text


@pytest.mark.case("D03")
def test_the_size_of_the_log_is_shown_and_a_log_that_never_ends_is_told(store: Store) -> None:
    add_node(store, NodeDraft("one"))
    wal = Path(f"{store.path}-wal")
    assert f"{wal.stat().st_size:,} bytes in the log" in look(store).check("journal").text
    path = store.path
    store.close()
    with open_store(path, read_only=True) as opened:
        with wal.open("wb") as file:
            file.truncate(db.WAL_LIMIT_BYTES + 1)
        check = look(opened).check("journal")
        wal.unlink()
    assert check.state == "warn"
    assert "never lets go" in check.text


def test_a_store_that_others_may_read_is_told_with_the_command(store: Store) -> None:
    store.path.chmod(0o644)
    check = look(store).check("file")
    assert (check.state, check.fix) == ("warn", f"chmod 600 {store.path}")


def test_an_index_file_whose_store_is_gone_is_listed(store: Store, tmp_path: Path) -> None:
    cache_folder().mkdir(parents=True)
    there, gone = cached_index_path(store.path), cache_folder() / "0123-index"
    for file, source in ((there, store.path), (gone, tmp_path / "gone.db")):
        with closing(sqlite3.connect(file)) as conn:
            conn.execute("CREATE TABLE index_setting (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
            conn.execute("INSERT INTO index_setting VALUES ('source_path', ?)", (str(source.resolve()),))
            conn.commit()
    check = look(store).check("cache")
    assert check.details == (f"{gone}: made from {tmp_path / 'gone.db'}, which is gone",)


def test_an_index_file_that_is_none_is_bad_and_the_rest_is_still_looked_at(store: Store) -> None:
    Path(f"{store.path}-index").write_bytes(b"not a database, not at all\n" * 100)
    health = look(store)
    assert health.check("index-file").state == "bad"
    assert health.check("index-file").fix == "tierdeck embed --rebuild"
    assert health.check("size").state == "info"


@pytest.mark.case("D08")
@pytest.mark.parametrize("damage", ["middle", "empty", "text", "header"])
def test_a_damaged_file_is_named_with_its_cause_its_newest_backup_and_the_way_out(
    store: Store, damage: str
) -> None:
    add_nodes(store, [NodeDraft(f"memory number {n} " + "words " * 40) for n in range(400)])
    newest = backup(store).path
    path = store.path
    store.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xa5" * 4096
    broken = {"empty": b"", "text": b"just a text\n" * 99, "header": b"\0" * 100 + bytes(data[100:])}
    path.write_bytes(broken.get(damage, bytes(data)))
    health = examine_file(path, OFF)
    assert health.state == "bad"
    check = health.check("integrity")
    assert check.state == "bad"
    assert str(path) in check.text or damage == "middle"
    assert "backup" in (check.fix or "")
    if damage in ("empty", "text", "header"):
        assert str(newest) in (check.fix or "")
    if damage == "middle":
        assert "export --salvage" in (check.fix or "")
        assert health.check("size").state == "info"


def test_no_file_is_an_error_and_no_health(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match=r"no\.db"):
        examine_file(tmp_path / "no.db", OFF)


def test_a_memory_whose_text_was_destroyed_hides_no_other_check(store: Store) -> None:
    node_id = add_node(store, NodeDraft("soon a page of zeros")).id
    store.close()
    empty_text(store.path, node_id)
    with open_store(store.path) as again:
        health = look(again)
    assert faults(health)["integrity"] == "bad"
    assert {"secrets", "size"} <= {check.name for check in health.checks}
