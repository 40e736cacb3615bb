"""Export, import into a new store, export again: the same bytes, whatever the rows hold."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.family import family_id
from tests.tierdeck.damage import empty_text
from tierdeck.errors import DamagedStoreError
from tierdeck.maintenance.adopt import adopt
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.log.row import LOG_COLUMNS, row_digest
from tierdeck.promote.moves.override import archive_nodes, restore_nodes
from tierdeck.promote.moves.undo import undo_move, undoable
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    edit_node,
    get_node,
    open_store,
    revisions,
    undo,
)
from tierdeck.transfer.jsonl_export import export_jsonl
from tierdeck.transfer.jsonl_import import import_jsonl, preview_import


def exported(store: Store) -> bytes:
    out = io.BytesIO()
    export_jsonl(store, out)
    return out.getvalue()


def imported(path: Path, data: bytes) -> Store:
    store = open_store(path, create=True)
    report = import_jsonl(store, io.BytesIO(data))
    assert (report.skipped, report.notes) == ((), ())
    assert report.added == report.read
    return store


HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\x7f\x80\x9b\x9d\u202e\u2028\ufeff [bold red]x\r\n"
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12) | st.just(HOSTILE)
# What a column of no fixed type may hold; NaN becomes NULL in SQLite, and text is bound as it is.
ANY = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT | st.binary(max_size=6)
ODD_TEXT = st.binary(max_size=6).map(lambda data: ("text", data))
UNIT = st.floats(0, 1)


@st.composite
def stores(draw: st.DrawFn) -> list[tuple[str, list[object]]]:
    """The statements that fill a store: memories, relations, logs, our tables, with everything that can be odd."""
    statements: list[tuple[str, list[object]]] = []
    count = draw(st.integers(0, 4))
    for number in range(count):
        content = draw(TEXT | ODD_TEXT)
        mark = "CAST(? AS TEXT)" if isinstance(content, tuple) else "?"
        statements.append(
            (
                "INSERT INTO nodes (id, type, subtype, content, embedding, tier, confidence, provenance, "
                "created_at, updated_at, last_accessed, access_count, metadata) "
                f"VALUES (?, ?, ?, {mark}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    f"n-{number}", draw(st.sampled_from(["fact", "entity"])), draw(st.none() | TEXT),
                    content[1] if isinstance(content, tuple) else content, draw(st.none() | st.binary(max_size=9)),
                    draw(st.sampled_from(["task", "archive", None])), draw(st.none() | UNIT | st.integers(0, 1)),
                    draw(st.none() | TEXT), draw(ANY), draw(ANY), draw(ANY), draw(ANY),
                    draw(st.sampled_from(["{}", '{"a": [1.0, "é"]}', "{broken", "5", "1e3", None, b"\xff"])),
                ],
            )
        )  # fmt: skip
        if draw(st.booleans()):
            statements.append(("INSERT INTO td_no_embedding VALUES (?)", [f"n-{number}"]))
        if draw(st.booleans()):
            trigger = draw(st.sampled_from(["outcome", "decay"]))
            statements.append(
                (
                    "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, "
                    "timestamp) VALUES (?, ?, ?, ?, ?)",
                    [f"n-{number}", draw(UNIT), draw(st.integers(0, 1)), trigger, draw(ANY)],
                )
            )
    for number in range(draw(st.integers(0, 2)) if count > 1 else 0):
        edge: list[object] = [
            f"e-{number}",
            "relation",
            draw(st.none() | TEXT),
            draw(st.none() | st.floats(0, allow_nan=False)),
        ]
        statements.append(("INSERT INTO hyperedges VALUES (?, ?, ?, ?)", edge))
        for node in draw(st.permutations(range(count)))[:2]:
            member: list[object] = [f"e-{number}", f"n-{node}", draw(TEXT), draw(st.none() | st.integers(-5, 5))]
            statements.append(("INSERT INTO membership VALUES (?, ?, ?, ?)", member))
    for _ in range(draw(st.integers(0, 2))):
        move: list[object] = [draw(ANY), draw(TEXT), draw(TEXT), draw(st.none() | TEXT)]
        statements.append(
            ("INSERT INTO evolution_log (timestamp, operation, node_ids, reasoning) VALUES (?, ?, ?, ?)", move)
        )
    ids = draw(st.lists(st.integers(1, 50), unique=True, max_size=3))
    for number in ids:
        root, parent = draw(st.sampled_from(ids)), draw(st.sampled_from([None, *ids]))
        statements.append(
            (
                "INSERT INTO td_session (id, external_id, run, root_id, parent_id, project, started_at, outcome, "
                "seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    number, f"s-{number}", draw(st.integers(1, 3)), root, parent, draw(st.none() | TEXT),
                    draw(st.integers(0, 9)), draw(st.sampled_from([None, "success"])),
                    draw(st.none() | st.integers(0, 9)),
                ],
            )
        )  # fmt: skip
        access: list[object] = [draw(st.sampled_from(["n-0", "gone"])), number, "pull", draw(st.integers(0, 9))]
        sql = "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, ?, ?)"
        statements.extend([(sql, access)] * draw(st.integers(0, 2)))
    return statements + draw(promotions())


@st.composite
def log_rows(draw: st.DrawFn) -> list[tuple[str, list[object]]]:
    """The statements for a promotion log whose rows follow each other."""
    statements: list[tuple[str, list[object]]] = []
    some_tier = st.sampled_from(["task", "session", "archive", None])
    last_digest = ""
    for number in range(1, draw(st.integers(0, 3)) + 1):
        row: dict[str, object] = {
            "id": number, "at": draw(st.integers(0, 9)), "node_id": draw(st.sampled_from(["n-0", "n-1", "gone"])),
            "from_tier": draw(some_tier), "to_tier": draw(some_tier),
            "kind": draw(st.sampled_from(["auto", "override", "undo", "hold"])), "rule": None,
            "rule_version": draw(st.none() | TEXT), "criteria": draw(st.sampled_from([None, "[]", "{broken"])),
            "actor": draw(TEXT), "reason": draw(st.none() | TEXT), "run_id": draw(st.none() | st.integers(1, 3)),
            "content_digest": None, "undoes": draw(st.sampled_from([None, number - 1])),
            "evolution_id": draw(st.none() | st.integers(1, 3)), "access_id": draw(st.integers(0, 4)),
            "counted_after": draw(st.integers(0, 4)), "prev_digest": last_digest,
        }  # fmt: skip
        last_digest = row_digest(row)
        marks = ", ".join("?" for _ in LOG_COLUMNS)
        statements.append((f"INSERT INTO td_promotion_log VALUES ({marks})", [*row.values(), last_digest]))
    return statements


@st.composite
def promotions(draw: st.DrawFn) -> list[tuple[str, list[object]]]:
    """The statements for what promotion keeps: its log, what names the rows of it, and changes of confidence."""
    statements = draw(log_rows())
    for number in draw(st.lists(st.integers(1, 9), unique=True, max_size=2)):
        run: list[object] = [number, "sweep", draw(st.integers(0, 9)), draw(st.none() | st.just(7)), draw(TEXT), 5]
        statements.append(
            ("INSERT INTO td_promotion_run (id, kind, at, ended_at, actor, planned) VALUES (?, ?, ?, ?, ?, ?)", run)
        )
    for number in range(1, draw(st.integers(0, 2)) + 1):
        hold: list[object] = [
            number,
            f"n-{number}",
            draw(st.integers(0, 9)),
            draw(TEXT),
            draw(st.none() | st.just(5)),
        ]
        statements.append(
            (
                "INSERT INTO td_hold (id, node_id, tier, set_at, actor, log_id, released_at) "
                "VALUES (?, ?, 'task', ?, ?, 1, ?)",
                hold,
            )
        )
        statements.append(("INSERT INTO td_dismissal VALUES (?, 'task', ?, 0, 1)", [f"n-{number}", number]))
    for _ in range(draw(st.integers(0, 2))):
        change: list[object] = ["n-0", draw(st.integers(0, 9)), draw(st.none() | UNIT), draw(UNIT)]
        sql = "INSERT INTO td_confidence (node_id, at, old_confidence, new_confidence) VALUES (?, ?, ?, ?)"
        statements.append((sql, change))
    return statements


def fill(store: Store, statements: list[tuple[str, list[object]]]) -> None:
    with store.writing() as conn:
        conn.pragma("defer_foreign_keys", True)
        for sql, values in statements:
            conn.execute(sql, values)


def counts_of(store: Store) -> list[object]:
    """Everything that promotion counts."""
    return store.read(
        lambda conn: [
            *conn.execute("SELECT * FROM td_facts ORDER BY node_id").fetchall(),
            *conn.execute("SELECT * FROM td_use ORDER BY node, root").fetchall(),
        ]
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stores())
def test_whatever_a_store_holds_comes_back_byte_for_byte(statements: list[tuple[str, list[object]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with open_store(Path(folder) / "a.db", create=True) as store:
            fill(store, statements)
            data = exported(store)
        with imported(Path(folder) / "b.db", data) as copy:
            assert exported(copy) == data
            counted = counts_of(copy)
            with copy.writing() as conn:
                recount(conn, logs_confidence=True)
            assert counts_of(copy) == counted, "an import leaves the counts exact"
            again = import_jsonl(copy, io.BytesIO(data))
            assert (again.added, again.unchanged) == (0, again.read)
            assert exported(copy) == data


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stores(), stores())
def test_a_preview_tells_exactly_what_the_import_does(
    here: list[tuple[str, list[object]]], there: list[tuple[str, list[object]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with open_store(Path(folder) / "a.db", create=True) as source:
            fill(source, there)
            data = exported(source)
        with open_store(Path(folder) / "b.db", create=True) as store:
            fill(store, here)
            before = exported(store)
            promised = preview_import(store, io.BytesIO(data))
            assert exported(store) == before
            assert import_jsonl(store, io.BytesIO(data)) == promised
            after = exported(store)
            second = import_jsonl(store, io.BytesIO(data))
            assert second.added == 0
            assert exported(store) == after


def test_every_line_is_ascii_without_control_characters(store: Store) -> None:
    add_nodes(store, [NodeDraft(HOSTILE.replace("\0", "") + "日本語 👩‍👩‍👧", metadata={HOSTILE: HOSTILE})])
    for line in exported(store).splitlines():
        assert all(0x20 <= byte < 0x7F for byte in line)
        json.loads(line)


@pytest.mark.case("X04")
def test_changes_can_be_undone_after_the_way_through_a_file(store: Store, tmp_path: Path) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(20)])
    before = [get_node(store, node_id) for node_id in ids]
    for node_id in ids[:10]:
        edit_node(store, node_id, NodeChanges("changed", confidence=0.9), actor="me", reason="why not")
    archive_nodes(store, ids[5:15], actor="me")
    restore_nodes(store, ids[12:14], actor="me")
    data = exported(store)
    with imported(tmp_path / "copy.db", data) as copy:
        for node_id in ids:
            while undoable(copy, node_id) is not None:
                undo_move(copy, node_id, actor="other")
            for _ in revisions(store, node_id):
                undo(copy, node_id, actor="other")
        assert [get_node(copy, node_id) for node_id in ids] == before


def test_a_family_store_becomes_one_of_ours_and_says_the_same(family_store_path: Path, tmp_path: Path) -> None:
    with open_store(family_store_path) as family:
        data = exported(family)
    with imported(tmp_path / "own.db", data) as own:
        assert exported(own) == data
        found = "SELECT node_id FROM content_fts WHERE content_fts MATCH 'backoff'"
        assert own.read(lambda conn: conn.execute(found).get) == family_id(3)


@pytest.mark.parametrize("name", ["type", "edge_type"])
def test_both_names_of_a_relations_type_are_read_and_the_one_that_is_there_is_written(
    family_store_path: Path, tmp_path: Path, name: str
) -> None:
    with open_store(family_store_path) as plain:
        data = exported(plain)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(family_store_path)) as source, closing(sqlite3.connect(other)) as target:
        source.backup(target)
        for table in ("membership", "hyperedges", "nodes", "evolution_log", "confidence_updates", "content_fts"):
            target.execute(f"DELETE FROM {table}")
        if name == "edge_type":
            target.execute("ALTER TABLE hyperedges RENAME COLUMN type TO edge_type")
        target.commit()
    adopt(other)
    with open_store(other) as adopted:
        import_jsonl(adopted, io.BytesIO(data))
        assert exported(adopted) == data
        assert adopted.read(lambda conn: conn.execute(f"SELECT {name} FROM hyperedges").get) == "causation"


def test_a_column_that_a_newer_program_added_is_exported_and_told_of_at_the_import(
    family_store_path: Path, store: Store
) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.execute("ALTER TABLE nodes ADD COLUMN mood TEXT DEFAULT 'calm'")
        conn.commit()
    with open_store(family_store_path) as family:
        data = exported(family)
    assert b'"mood":"calm"' in data
    report = import_jsonl(store, io.BytesIO(data))
    assert report.notes == ("8 lines have a field mood that the store has no place for",)
    assert report.rows["node"] == 8


def test_a_store_without_the_confidence_table_of_later_versions_is_exported(
    family_store_path: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.execute("DROP TABLE confidence_updates")
        conn.commit()
    with open_store(family_store_path) as family, imported(tmp_path / "own.db", exported(family)) as own:
        assert exported(own) == exported(family)


def test_text_that_is_no_utf8_survives_in_every_table(store: Store, tmp_path: Path) -> None:
    bad = "CAST(x'61eda08062ff' AS TEXT)"
    with store.writing() as conn:
        conn.execute(f"INSERT INTO nodes (id, type, content, metadata) VALUES ('n', 'fact', {bad}, {bad})")
        conn.execute(f"INSERT INTO evolution_log (operation, node_ids, reasoning) VALUES ('x', '[]', {bad})")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('m', 'fact', 'after it')")
    with imported(tmp_path / "copy.db", exported(store)) as copy:
        assert exported(copy) == exported(store)
        raw = "SELECT typeof(content), hex(CAST(content AS BLOB)) FROM nodes WHERE id = 'n'"
        assert copy.read(lambda conn: conn.execute(raw).get) == ("text", "61EDA08062FF")


def test_the_driver_still_refuses_to_bind_half_a_character() -> None:
    """What `UndecodedText` is for: were this to change, such text could be written more simply."""
    with closing(apsw.Connection(":memory:")) as conn, pytest.raises(UnicodeEncodeError):
        conn.execute("SELECT ?", ("\ud800",))


def test_a_row_that_only_damage_can_leave_is_not_exported_as_if_it_were_one(store: Store, tmp_path: Path) -> None:
    node_id = add_node(store, NodeDraft("soon a page of zeros")).id
    store.close()
    empty_text(store.path, node_id)
    with (
        open_store(store.path) as again,
        pytest.raises(DamagedStoreError, match="content of row 1 of nodes is NULL"),
    ):
        export_jsonl(again, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
