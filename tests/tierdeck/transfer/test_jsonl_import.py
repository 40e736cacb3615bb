"""An import takes what it can, overwrites nothing, says of each line why not, and does nothing when run again."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.transfer.test_round_trip import exported
from tierdeck.errors import InvalidValueError, ReadOnlyStoreError, TransferError
from tierdeck.model import NodeChanges, NodeDraft, NodeType, Tier
from tierdeck.store import Store, add_node, add_nodes, edit_node, get_node, get_setting, open_store, set_setting
from tierdeck.transfer import batch_intake
from tierdeck.transfer.jsonl_import import ImportOptions, import_jsonl, preview_import

Record = dict[str, object]


def lines(*records: Mapping[str, object] | str) -> io.BytesIO:
    """A JSONL file: objects as JSON, texts as they are."""
    return io.BytesIO(b"".join((r if isinstance(r, str) else json.dumps(r)).encode() + b"\n" for r in records))


def an_export(*rows: Record) -> io.BytesIO:
    return lines({"kind": "header", "format": "tierdeck-export", "version": 1}, *rows)


def node(node_id: str, content: object = "words", **more: object) -> Record:
    return {"kind": "node", "id": node_id, "type": "fact", "content": content, **more}


def texts(store: Store) -> dict[str, str]:
    found = store.read(lambda conn: conn.execute("SELECT id, content FROM nodes").fetchall())
    return {str(node_id): str(content) for node_id, content in found}


def test_broken_lines_are_skipped_with_number_and_reason_and_stop_nothing(store: Store) -> None:
    file = lines(
        {"id": "1", "text": "first"},
        "{broken",
        {"id": "2"},
        "",
        {"id": "3", "text": "a\0b"},
        {"id": "1", "text": "first once more"},
        '{"id": "5", "text": NaN}',
        {"id": "6", "text": "last"},
    )
    report = import_jsonl(store, file, ImportOptions(source="notes"))
    assert sorted(texts(store).values()) == ["first", "last"]
    assert (report.read, report.added, report.unchanged, report.skipped_count) == (7, 2, 0, 5)
    assert [(skip.line, skip.reason) for skip in report.skipped] == [
        (2, "it is not JSON"),
        (3, "it has no text"),
        (5, "its text holds a NUL character"),
        (7, "it is not JSON"),
        (6, "its id stands on an earlier line already"),
    ]
    assert (report.reasons[0].reason, report.reasons[0].count, report.reasons[0].lines) == (
        "it is not JSON",
        2,
        (2, 7),
    )


def test_running_an_import_twice_changes_nothing(store: Store) -> None:
    records: list[Record] = [{"id": str(n), "text": f"text {n}", "tags": ["a"]} for n in range(50)]
    import_jsonl(store, lines(*records))
    before = exported(store)
    report = import_jsonl(store, lines(*records))
    assert (report.added, report.unchanged, report.skipped_count) == (0, 50, 0)
    assert exported(store) == before


def test_a_memory_that_is_here_with_another_text_is_never_overwritten(store: Store) -> None:
    kept = add_node(store, NodeDraft("mine", confidence=0.9))
    edit_node(store, kept.id, NodeChanges("mine, edited"), actor="me")
    before = exported(store)
    report = import_jsonl(store, lines({"id": kept.id, "text": "theirs"}, {"id": kept.id, "text": "mine, edited"}))
    assert report.skipped[0].reason == "a memory with its id is here with another text"
    assert report.skipped[0].detail == kept.id
    assert exported(store) == before


def test_what_is_not_about_the_text_is_left_as_it_is_here(store: Store) -> None:
    import_jsonl(store, lines({"id": "1", "text": "words"}), ImportOptions(source="s"))
    [node_id] = texts(store)
    edit_node(store, node_id, NodeChanges(confidence=0.9), actor="me")
    report = import_jsonl(store, lines({"id": "1", "text": "words", "confidence": 0.1}), ImportOptions(source="s"))
    assert report.unchanged == 1
    assert get_node(store, node_id).confidence == 0.9


def test_two_files_of_the_same_name_keep_their_ids_apart(store: Store, tmp_path: Path) -> None:
    for folder in ("cisi", "cranfield"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "docs.jsonl").write_bytes(lines({"id": "1", "text": f"about {folder}"}).getvalue())
        report = import_jsonl(store, tmp_path / folder / "docs.jsonl")
        assert (report.source, report.added) == (f"{folder}/docs.jsonl", 1)
    assert sorted(texts(store).values()) == ["about cisi", "about cranfield"]
    kept = [get_node(store, node_id).metadata for node_id in texts(store)]
    assert sorted(str(found["source"]) for found in kept) == ["cisi/docs.jsonl", "cranfield/docs.jsonl"]
    assert {str(found["source_id"]) for found in kept} == {"1"}


def test_type_and_tier_of_records_that_do_not_say_are_the_callers(store: Store) -> None:
    options = ImportOptions(default_type=NodeType.SNIPPET, default_tier=Tier.LONGTERM)
    import_jsonl(store, lines({"id": "1", "text": "a"}, {"id": "2", "text": "b", "type": "entity"}), options)
    found = sorted(
        (get_node(store, i).content, get_node(store, i).type, get_node(store, i).tier) for i in texts(store)
    )
    assert found == [("a", "snippet", "longterm"), ("b", "entity", "longterm")]


@pytest.mark.spec("SPEC-09.06")
def test_records_that_must_not_be_embedded_are_marked_in_the_store(store: Store) -> None:
    file = lines({"id": "1", "text": "a", "compute_embedding": False}, {"id": "2", "text": "b"})
    assert import_jsonl(store, file).added == 2
    marked = "SELECT content FROM nodes WHERE id IN (SELECT node_id FROM td_no_embedding)"
    assert store.read(lambda conn: conn.execute(marked).fetchall()) == [("a",)]


def test_a_preview_writes_nothing_and_tells_the_same_as_the_import(store: Store) -> None:
    add_nodes(store, [NodeDraft("here", id="h"), NodeDraft("other", id="o")])
    before = exported(store)

    def file() -> io.BytesIO:
        return an_export(
            node("h", "here"),
            node("o", "changed"),
            node("n", "new"),
            node("n", "new again"),
            {"kind": "edge", "id": "e", "type": "relation", "label": None, "weight": 1.0},
            {"kind": "member", "hyperedge_id": "e", "node_id": "n", "role": "subject", "position": 0},
            {"kind": "member", "hyperedge_id": "e", "node_id": "gone", "role": "object", "position": 1},
            {"kind": "member", "hyperedge_id": "f", "node_id": "n", "role": "object", "position": 1},
            {"kind": "no_embedding", "node_id": "n"},
            {"kind": "weather", "sun": True},
            node("bad", tier="attic"),
            node("bad", confidence=3),
            node("bad", content={"blob": "!"}),
        )

    promised = preview_import(store, file())
    assert exported(store) == before
    done = import_jsonl(store, file())
    assert promised == done
    assert done.rows == {"node": 1, "edge": 1, "member": 1, "no_embedding": 1}
    assert [skip.reason for skip in done.skipped if "memory" in skip.reason or "relation" in skip.reason] == [
        "a memory with its id is here with another text",
        "its memory is not here",
        "its relation is not here",
    ]


def test_an_import_that_is_stopped_leaves_whole_batches_and_a_second_one_does_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_intake, "BATCH_ROWS", 10)
    records: list[Record] = [{"id": str(n), "text": f"text {n}"} for n in range(35)]
    asked = iter([False, True])
    report = import_jsonl(store, lines(*records), should_stop=lambda: next(asked))
    assert not report.is_complete
    assert report.added == len(texts(store)) == 20
    rest = import_jsonl(store, lines(*records))
    assert (rest.is_complete, rest.added, rest.unchanged) == (True, 15, 20)


def test_a_batch_that_the_store_refuses_is_not_half_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_intake, "BATCH_ROWS", 10)
    with store.writing() as conn:
        conn.pragma("max_page_count", int(conn.pragma("page_count")) + 120)
    records: list[Record] = [{"id": str(n), "text": f"text {n} " * 500} for n in range(105)]
    with pytest.raises(TransferError, match="the disk is full") as caught:
        import_jsonl(store, lines(*records))
    kept = len(texts(store))
    assert kept in range(10, 100, 10)
    assert f"with {kept} rows added" in caught.value.message


def test_progress_ends_at_the_whole_file(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(lines(*({"id": str(n), "text": "x"} for n in range(1_200))).getvalue())
    told: list[tuple[int, int]] = []
    import_jsonl(store, file, on_progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert len(told) == 3
    assert told[-1] == (file.stat().st_size, file.stat().st_size)


def test_a_store_that_is_only_read_and_a_file_that_is_not_there_are_refused(
    store: Store, family_store_path: Path, tmp_path: Path
) -> None:
    with open_store(family_store_path) as foreign, pytest.raises(ReadOnlyStoreError):
        import_jsonl(foreign, lines({"text": "x"}))
    with pytest.raises(TransferError, match=r"no\.jsonl"):
        import_jsonl(store, tmp_path / "no.jsonl")
    with pytest.raises(TransferError, match="transfer"):
        import_jsonl(store, Path(__file__).parent)
    with pytest.raises(InvalidValueError, match="source"):
        import_jsonl(store, lines({"text": "x"}), ImportOptions(source="  "))


def test_an_empty_file_is_no_error(store: Store) -> None:
    report = import_jsonl(store, io.BytesIO(b""))
    assert (report.read, report.added, report.notes) == (0, 0, ("the file is empty",))


def test_thousands_of_reasons_stay_a_short_report(store: Store) -> None:
    file = lines(*({"id": "1", "text": "x", "type": f"kind {n}"} for n in range(3_000)), {"id": "2", "text": "y"})
    report = import_jsonl(store, file)
    assert (report.added, report.skipped_count, len(report.skipped)) == (1, 3_000, 1_000)
    assert [(r.count, r.lines) for r in report.reasons] == [(3_000, (1, 2, 3, 4, 5))]


def test_an_export_of_a_newer_version_is_refused_before_anything_is_written(store: Store) -> None:
    header: Record = {"kind": "header", "format": "tierdeck-export", "version": 2}
    with pytest.raises(TransferError, match="version 2"):
        import_jsonl(store, lines(header, node("n")))
    assert texts(store) == {}


def test_an_export_that_was_cut_off_is_told_and_what_it_has_comes_in(store: Store, tmp_path: Path) -> None:
    add_nodes(store, [NodeDraft(f"text {n}") for n in range(10)])
    data = exported(store)
    with open_store(tmp_path / "other.db", create=True) as other:
        report = import_jsonl(other, io.BytesIO(data[: len(data) * 2 // 3]))
        assert 5 <= len(texts(other)) < 10
    assert report.notes == (f"the file says that it holds 10 node lines, {report.added} came",)
    assert report.skipped[0].reason == "it is not JSON"


def test_leave_to_send_memories_away_is_not_taken_from_a_file(store: Store) -> None:
    set_setting(store, "mine", "kept")
    report = import_jsonl(
        store,
        an_export(
            {"kind": "setting", "key": "embedding_provider", "value": "openai"},
            {"kind": "setting", "key": "schema_version", "value": "99"},
            {"kind": "setting", "key": "mine", "value": "theirs"},
            {"kind": "setting", "key": "new", "value": "taken"},
        ),
    )
    assert report.rows == {"setting": 1}
    assert get_setting(store, "embedding_provider") is None
    assert (get_setting(store, "mine"), get_setting(store, "new")) == ("kept", "taken")
    assert get_setting(store, "schema_version") != "99"


def session(number: int, name: str, root: int | None = None, parent: int | None = None) -> Record:
    return {
        "kind": "session", "id": number, "external_id": name, "run": 1, "root_id": root or number,
        "parent_id": parent, "project": None, "agent": None, "started_at": 5, "ended_at": None, "outcome": None,
    }  # fmt: skip


def access(number: int, session_id: int, node_id: str = "n", at: int = 9) -> Record:
    return {
        "kind": "access", "id": number, "node_id": node_id, "session_id": session_id, "access_kind": "pull",
        "outcome": None, "at": at,
    }  # fmt: skip


def test_sessions_that_are_here_keep_their_number_and_what_refers_to_them_follows(store: Store) -> None:
    import_jsonl(store, an_export(session(1, "mine"), session(2, "shared")))
    file = an_export(
        session(2, "theirs"), session(1, "shared"), session(7, "child", 2, 1), access(1, 1), access(2, 7)
    )
    report = import_jsonl(store, file)
    assert (report.rows, report.unchanged) == ({"session": 2, "access": 2}, 1)
    found = store.read(
        lambda conn: conn.execute(
            "SELECT s.external_id, p.external_id, r.external_id FROM td_access a JOIN td_session s "
            "ON s.id = a.session_id LEFT JOIN td_session p ON p.id = s.parent_id "
            "JOIN td_session r ON r.id = s.root_id ORDER BY a.id"
        ).fetchall()
    )
    assert found == [("shared", None, "shared"), ("child", "shared", "theirs")]
    again = import_jsonl(store, io.BytesIO(file.getvalue()))
    assert (again.added, again.unchanged) == (0, 5)


def test_a_session_without_its_family_and_accesses_without_their_session_are_skipped(store: Store) -> None:
    file = an_export(session(1, "lost", root=9), session(2, "child", root=1), session(3, "whole"), access(1, 1))
    report = import_jsonl(store, file)
    assert report.rows == {"session": 1}
    assert [skip.reason for skip in report.skipped] == [
        "its root or parent session is not in the file",
        "its root or parent session is not in the file",
        "its session is not in the file",
    ]


def test_equal_log_rows_are_counted_and_none_is_added_twice_or_lost(store: Store) -> None:
    move: Record = {
        "kind": "move", "timestamp": 5, "operation": "tier_transition", "node_ids": '["n"]', "from_tier": "task",
        "to_tier": "session", "reasoning": None,
    }  # fmt: skip
    twice = an_export({**move, "id": 1}, {**move, "id": 2})
    assert import_jsonl(store, twice).added == 2
    assert import_jsonl(store, io.BytesIO(twice.getvalue())).unchanged == 2
    three = an_export({**move, "id": 1}, {**move, "id": 2}, {**move, "id": 3}, {**move, "id": 1, "timestamp": 6})
    assert import_jsonl(store, three).added == 2
    count = "SELECT count(*), count(DISTINCT id) FROM evolution_log"
    assert store.read(lambda conn: conn.execute(count).get) == (4, 4)


def test_the_history_of_a_memory_with_changes_of_its_own_here_is_not_mixed_with_theirs(
    store: Store, tmp_path: Path
) -> None:
    add_node(store, NodeDraft("words", id="n"))
    with open_store(tmp_path / "other.db", create=True) as other:
        import_jsonl(other, io.BytesIO(exported(store)))
        edit_node(other, "n", NodeChanges(confidence=0.9), actor="them")
        theirs = exported(other)
    edit_node(store, "n", NodeChanges(confidence=0.1), actor="me")
    report = import_jsonl(store, io.BytesIO(theirs))
    assert "its memory has changes of its own here" in {skip.reason for skip in report.skipped}
    assert get_node(store, "n").confidence == 0.1


def test_a_relation_that_is_another_here_gets_no_member_from_the_file(store: Store) -> None:
    edge: Record = {"kind": "edge", "id": "e", "type": "relation", "label": "mine", "weight": 1.0}
    member: Record = {"kind": "member", "hyperedge_id": "e", "node_id": "n", "role": "subject", "position": 0}
    import_jsonl(store, an_export(node("n"), edge))
    report = import_jsonl(store, an_export(node("n"), {**edge, "label": "theirs"}, member))
    assert [skip.reason for skip in report.skipped] == [
        "a relation with its id is here and is another",
        "its relation was skipped",
    ]
    assert import_jsonl(store, an_export(node("n"), edge, member)).rows == {"member": 1}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"kind": "node", "id": 5, "type": "fact", "content": "x"}, "its id is not a text"),
        ({"kind": "node", "id": "n", "type": "fact"}, "it has no content"),
        (node("n", created_at=2**70), "a number is beyond 64 bits"),
        (node("n", subtype=["a"]), "a field holds what no column can"),
        (node("n", subtype={"text": "%%%"}), "a field holds what no column can"),
        (node("n", "\ud800"), "a field holds what no column can"),
        ({"kind": "edge", "id": "e", "type": "friendship"}, "its type is none of those allowed"),
        ({"kind": "edge", "id": "e", "type": "relation", "weight": -1}, "its weight is no number of 0 or more"),
        ({"kind": "access", "id": 1, "node_id": "n", "session_id": 1, "at": 2}, "it has no access_kind"),
        ({**session(1, "s"), "run": 0}, "its run is below 1"),
        ({**session(1, "s"), "id": "one"}, "a number of it is not whole"),
        ({"kind": "setting", "key": "k"}, "it has no value"),
        ({"id": "n"}, "its kind is unknown"),
    ],
)
def test_a_row_that_may_not_enter_is_refused_and_the_next_is_taken(store: Store, row: Record, reason: str) -> None:
    report = import_jsonl(store, an_export(row, node("after")))
    assert [skip.reason for skip in report.skipped] == [reason]
    assert list(texts(store)) == ["after"]


def test_an_imported_memory_is_found_by_its_words(store: Store) -> None:
    import_jsonl(store, lines({"id": "1", "text": "a heron by the weir"}))
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT count(*) FROM content_fts WHERE content_fts MATCH 'heron'").fetchone() == (1,)


@pytest.mark.parametrize("rows_of", ["node", "edge", "plain", "settings"])
def test_half_a_character_in_any_field_costs_that_line_alone(store: Store, rows_of: str) -> None:
    half = "\ud800"
    good = node("good")
    edge = {"kind": "edge", "id": "e1", "type": "relation", "label": "ties", "weight": 1.0}
    broken: dict[str, list[Record]] = {
        "node": [{**node("n"), field: half} for field in ("id", "content", "subtype", "provenance", "metadata")],
        "edge": [{**edge, field: half} for field in ("id", "label")]
        + [{"kind": "member", "hyperedge_id": half, "node_id": "good", "role": "subject", "position": 0}],
        "settings": [{"kind": "setting", "key": half, "value": "1"}, {"kind": "no_embedding", "node_id": half}],
        "plain": [{"id": f"p{half}", "text": "x"}, {"id": "q", "text": half}, {"id": "r", "text": "y", half: 1}],
    }
    file = lines({"id": "1", "text": "words"}, *broken["plain"]) if rows_of == "plain" else None
    preview = preview_import(store, file or an_export(good, *broken[rows_of]))
    if file is not None:
        file.seek(0)
    report = import_jsonl(store, file or an_export(good, *broken[rows_of]))
    assert (report.added, report.skipped_count) == (1, len(broken[rows_of]))
    assert (preview.added, preview.skipped_count) == (report.added, report.skipped_count)
