"""Whatever becomes of the extra terms, doctor says it, and the command that it names mends it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import apsw
import pytest

from tests.other_program import other_program
from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.terms.kept_terms import Rows, kept_terms
from tierdeck.config import EmbeddingSettings
from tierdeck.index.file import open_for_writing, rebuild_index
from tierdeck.index.path import index_path
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.health import Check
from tierdeck.maintenance.purge import purge
from tierdeck.maintenance.repair import repair
from tierdeck.maintenance.term_checks import check_terms
from tierdeck.model import NodeChanges
from tierdeck.search import hybrid_search
from tierdeck.store import Store, edit_node, open_store
from tierdeck.store.change_numbers import REMEMBERED_CHANGES
from tierdeck.terms import fill, term_check
from tierdeck.terms.fill import fill_terms

FIX = "tierdeck doctor --repair extra-terms"
OFF = EmbeddingSettings(provider="off")
MEMORIES = (*(f"getThing{n}Id of C++ in v1.{n}.2" for n in range(60)), "设备清单在NAS上", "plain words alone")

BREAKS = {
    "a row deleted": "DELETE FROM extra_terms WHERE rowid = 3",
    "every row deleted": "INSERT INTO extra_terms (extra_terms) VALUES ('delete-all')",
    "a record deleted": "DELETE FROM term_row WHERE n = 3",
    "row and record deleted": "DELETE FROM extra_terms WHERE rowid = 3; DELETE FROM term_row WHERE n = 3",
    "a record of no terms deleted": "DELETE FROM term_row WHERE n = 62",
    "all records deleted": "DELETE FROM term_row",
    "everything deleted": "INSERT INTO extra_terms (extra_terms) VALUES ('delete-all'); DELETE FROM term_row",
    "a row of no memory": "INSERT INTO extra_terms (rowid, terms) VALUES (900, 'getthing')",
    "a record of no memory": "INSERT INTO term_row VALUES (900, x'0011', 0)",
    "a row and a record of no memory": (
        "INSERT INTO extra_terms (rowid, terms) VALUES (900, 'c++'); INSERT INTO term_row VALUES (900, x'0011', 0)"
    ),
    "a row of no memory that is counted": (
        "INSERT INTO extra_terms (rowid, terms) VALUES (900, 'getthing');"
        "UPDATE index_setting SET value = value + 1 WHERE key = 'terms_held'"
    ),
    "more rows on record than counted": "UPDATE index_setting SET value = value - 1 WHERE key = 'terms_held'",
    "a record of an older text": "UPDATE term_row SET text_hash = x'0011223344556677' WHERE n = 5",
    "terms of an older text": (
        "DELETE FROM extra_terms WHERE rowid = 5; INSERT INTO extra_terms (rowid, terms) VALUES (5, 'loadother')"
    ),
    "as many terms, but others": (
        "DELETE FROM extra_terms WHERE rowid = 61; INSERT INTO extra_terms (rowid, terms)"
        " VALUES (61, 'a1 b1 c1 d1 e1 f1 g1 h1 i1')"
    ),
    "terms where there are none": (
        "INSERT INTO extra_terms (rowid, terms) VALUES (62, 'plainwords');"
        "UPDATE index_setting SET value = value + 1 WHERE key = 'terms_held'"
    ),
    "older terms beside the newer": "INSERT INTO extra_terms (rowid, terms) VALUES (5, 'loadother')",
    "a long text that is not": "UPDATE term_row SET is_partial = 1 WHERE n = 7",
    "FTS5's list emptied": "DELETE FROM extra_terms_docsize",
    "a row off FTS5's list": "DELETE FROM extra_terms_docsize WHERE id = 9",
    "FTS5's pages gone": "DELETE FROM extra_terms_data WHERE id > 10",
    "all of FTS5's pages gone": "DELETE FROM extra_terms_data",
    "FTS5's pages overwritten": "UPDATE extra_terms_data SET block = zeroblob(8) WHERE id > 10",
    "FTS5's version gone": "DELETE FROM extra_terms_config",
    "FTS5's settings dropped": "DROP TABLE extra_terms_config",
    "FTS5's pages dropped": "DROP TABLE extra_terms_data",
    "FTS5's list dropped": "DROP TABLE extra_terms_docsize",
    "FTS5's pointers dropped": "DROP TABLE extra_terms_idx",
    "the terms dropped": "DROP TABLE extra_terms",
    "the records dropped": "DROP TABLE term_row",
    "a number that is text": "UPDATE extra_terms_docsize SET sz = 'what' WHERE id = 4",
}


@pytest.fixture
def filled(store: Store) -> Store:
    remember(store, *MEMORIES)
    fill_terms(store)
    return store


def damage(store: Store, sql: str) -> None:
    with closing(open_for_writing(store)) as conn:
        for statement in sql.split(";"):
            conn.execute(statement)


def looked_at(store: Store, *, is_thorough: bool = False) -> Check:
    return examine(store, OFF, is_thorough=is_thorough).check("extra-terms")


def made_anew(store: Store) -> Rows:
    rebuild_index(store)
    fill_terms(store)
    return kept_terms(store)


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS)
def test_what_is_broken_is_found_and_the_command_that_is_named_mends_it(filled: Store, sql: str) -> None:
    damage(filled, sql)
    for is_thorough in (False, True):
        check = looked_at(filled, is_thorough=is_thorough)
        assert (check.state, check.fix) == ("bad", FIX), check
    repair(filled, ["extra-terms"])
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert examine(filled, OFF).check("index-file").state == "ok"
    assert kept_terms(filled) == made_anew(filled)


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS)
def test_after_the_next_run_of_the_indexer_it_is_mended_or_still_said(filled: Store, sql: str) -> None:
    damage(filled, sql)
    fill_terms(filled)
    check = looked_at(filled, is_thorough=True)
    if check.state == "ok":
        assert kept_terms(filled) == made_anew(filled)
    else:
        assert (check.state, check.fix) == ("bad", FIX)


def test_one_other_term_among_many_is_found_when_every_term_is_compared(filled: Store) -> None:
    terms = list(kept_terms(filled)[5][1])
    damage(filled, "DELETE FROM extra_terms WHERE rowid = 5")
    with closing(open_for_writing(filled)) as conn:
        conn.execute("INSERT INTO extra_terms (rowid, terms) VALUES (5, ?)", (" ".join(["another", *terms[1:]]),))
    check = looked_at(filled, is_thorough=True)
    assert (check.state, check.fix) == ("bad", FIX)
    assert "1 with others than the text gives" in check.text


@pytest.mark.parametrize("name", ["a record deleted", "a record of no terms deleted", "all records deleted"])
def test_memories_that_are_off_the_record_are_looked_at_by_the_next_run(filled: Store, name: str) -> None:
    damage(filled, BREAKS[name])
    assert fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert kept_terms(filled) == made_anew(filled)


@pytest.mark.parametrize("name", ["FTS5's pages gone", "all of FTS5's pages gone", "FTS5's pointers dropped"])
def test_a_run_that_meets_damaged_terms_makes_them_anew(filled: Store, name: str) -> None:
    damage(filled, BREAKS[name])
    remember(filled, *(f"getNew{n}Id" for n in range(700)))
    assert fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert examine(filled, OFF).check("index-file").state == "ok"


def test_a_damaged_table_of_terms_is_no_reason_to_make_vectors_anew(filled: Store) -> None:
    damage(filled, BREAKS["FTS5's version gone"])
    check = examine(filled, OFF).check("index-file")
    assert (check.state, check.fix) == ("bad", FIX)
    assert "extra terms" in check.text
    repair(filled, ["extra-terms"])
    damage(filled, BREAKS["FTS5's pages gone"])
    check = examine(filled, OFF).check("index-file")
    assert (check.state, check.fix) == ("bad", FIX)


def test_a_repair_of_the_index_file_makes_no_backup_of_the_store(filled: Store) -> None:
    report = repair(filled, ["extra-terms"])
    assert report.backup is None
    assert report.done == (("extra-terms", "the extra terms of 62 memories were made anew"),)
    assert not [file for file in filled.path.parent.iterdir() if "repair" in file.name]


def test_the_memories_that_something_is_wrong_with_are_named(filled: Store) -> None:
    damage(filled, BREAKS["a record of an older text"])
    node_id = filled.read(lambda conn: conn.execute("SELECT id FROM nodes WHERE pk = 5").get)
    check = looked_at(filled)
    assert "of the memories looked at 1 with those of an older text" in check.text
    assert check.details == (f"{node_id}: with those of an older text",)


def test_what_the_store_changed_since_is_no_fault(filled: Store) -> None:
    ids = remember(filled, "newCheckoutId", "otherCheckoutId")
    edit_node(filled, ids[1], NodeChanges(content="loadOther"), actor="t")
    with filled.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE pk IN (2, 3)")
        conn.execute("UPDATE nodes SET content = 'goneCheckoutId' WHERE pk = 9")
    for is_thorough in (False, True):
        check = looked_at(filled, is_thorough=is_thorough)
        assert (check.state, check.fix) == ("info", "tierdeck embed")
        assert "5 memories wait" in check.text
    fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"


def test_a_store_without_terms_has_none_yet(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (looked_at(store).state, looked_at(store).fix) == ("info", "tierdeck embed")
    remember(store, *MEMORIES)
    assert looked_at(store).state == "info"
    monkeypatch.setattr(fill, "_PAGE_ROWS", 20)
    assert not fill_terms(store, should_stop=iter([False, True]).__next__)
    check = looked_at(store, is_thorough=True)
    assert (check.state, check.fix) == ("info", "tierdeck embed")
    assert "42 of the 62 memories looked at wait" in check.text
    fill_terms(store)
    assert looked_at(store, is_thorough=True).state == "ok"


def test_terms_of_an_empty_store_and_of_very_long_texts_are_in_step(store: Store) -> None:
    fill_terms(store)
    assert looked_at(store, is_thorough=True).state == "ok"
    remember(
        store, " ".join(f"getThing{n}Of{n * 7}" for n in range(9_000)), "x", "a\tb", "C++\n👍 done👍", "ＡＢ１２ İß"
    )
    fill_terms(store)
    assert looked_at(store).state == "ok"
    assert looked_at(store, is_thorough=True).state == "ok"


def test_a_memory_that_was_deleted_and_added_again_leaves_nothing_behind(filled: Store) -> None:
    with filled.writing() as conn:
        conn.execute("CREATE TEMP TABLE kept AS SELECT id, type, content FROM nodes WHERE pk = 4")
        conn.execute("DELETE FROM nodes WHERE pk = 4")
        conn.execute("INSERT INTO nodes (id, type, content) SELECT id, type, content FROM kept")
        conn.execute("DROP TABLE kept")
    assert looked_at(filled).state == "info"
    fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert kept_terms(filled) == made_anew(filled)


def test_purged_memories_leave_terms_to_be_made_and_no_fault(filled: Store) -> None:
    ids = remember(filled, "secretCheckoutId")
    fill_terms(filled)
    purge(filled, ids, actor="t", reason="a secret")
    assert looked_at(filled, is_thorough=True).state == "info"
    fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert kept_terms(filled) == made_anew(filled)


def test_a_text_changed_behind_the_change_sequence_is_found(filled: Store) -> None:
    """One that is not among the newest changes, which are compared with the texts as they were."""
    remember(filled, *(f"later {n}" for n in range(REMEMBERED_CHANGES)))
    fill_terms(filled)
    with closing(sqlite3.connect(filled.path)) as conn:
        [sql] = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'td_change_update'").fetchone()
        conn.execute("DROP TRIGGER td_change_update")
        conn.execute("UPDATE nodes SET content = 'loadOther of .env' WHERE pk = 8")
        conn.execute(sql)
        conn.commit()
    assert looked_at(filled).state == "bad"
    repair(filled, ["extra-terms"])
    assert looked_at(filled, is_thorough=True).state == "ok"


def test_a_large_store_is_looked_at_in_ranges_and_a_lost_row_is_found_by_its_number(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_check, "SAMPLED_ROWS", 12)
    monkeypatch.setattr(term_check, "_RANGE_ROWS", 3)
    for _ in range(40):  # at random places, which may overlap
        check = looked_at(filled)
        assert check.state == "ok"
        assert 6 <= int(check.text.split()[1]) <= 12
    newest = "UPDATE term_row SET text_hash = x'00' WHERE n IN (1, 62)"
    damage(filled, newest)
    assert "2 with those of an older text" in looked_at(filled).text
    repair(filled, ["extra-terms"])
    for sql in ("DELETE FROM extra_terms WHERE rowid = 30", "DELETE FROM term_row WHERE n = 30"):
        damage(filled, sql)
        assert looked_at(filled).state == "bad"
        repair(filled, ["extra-terms"])
    damage(filled, "UPDATE term_row SET text_hash = x'00' WHERE n <> 30")
    assert looked_at(filled).state == "bad"


def test_of_long_texts_no_more_is_looked_at_than_asked_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_check, "SAMPLED_CHARS", 50_000)
    monkeypatch.setattr(term_check, "_PAGE_BYTES", 10_000)
    remember(store, *(f"getThing{n}Id " * 1_000 for n in range(20)))
    fill_terms(store)
    assert "of 5 memories" in looked_at(store).text
    assert "of 20 memories" in looked_at(store, is_thorough=True).text


@pytest.fixture(params=["adopted", "only read"])
def others(request: pytest.FixtureRequest, family_store_path: Path) -> Iterator[Store]:
    """A store of another program's with some names in it, adopted or as it is, its terms made."""
    with closing(sqlite3.connect(family_store_path)) as conn:
        conn.executemany(
            "INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)",
            [(f"n{n}", text) for n, text in enumerate(MEMORIES)],
        )
        conn.commit()
    if request.param == "adopted":
        adopt(family_store_path)
    with open_store(family_store_path) as store:
        fill_terms(store)
        yield store


def test_another_programs_store_in_step_is_in_order(others: Store) -> None:
    for is_thorough in (False, True):
        assert looked_at(others, is_thorough=is_thorough).state == "ok"


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS)
def test_broken_terms_of_another_programs_store_are_mended_by_what_is_named(others: Store, sql: str) -> None:
    """What can't be told from a change of the store's is work that waits, and the next run does it."""
    before = {file.name: file.read_bytes() for file in others.path.parent.iterdir() if "index" not in file.name}
    wanted = kept_terms(others)
    damage(others, sql.replace("= 3", "= 12").replace("= 62", "= 70"))
    check = looked_at(others, is_thorough=True)
    assert (check.state, check.fix) in (("bad", FIX), ("info", "tierdeck embed")), check
    if check.state == "bad":
        assert looked_at(others).state == "bad"
        repair(others, ["extra-terms"])
    else:
        fill_terms(others)
    assert looked_at(others, is_thorough=True).state == "ok"
    assert kept_terms(others) == wanted
    after = {file.name: file.read_bytes() for file in others.path.parent.iterdir() if "index" not in file.name}
    assert after == before


def test_another_programs_changes_are_work_that_waits(others: Store) -> None:
    with closing(sqlite3.connect(others.path)) as conn:
        conn.execute("UPDATE nodes SET content = 'loadOther of .env' WHERE id = 'n3'")
        conn.execute("DELETE FROM nodes WHERE id = 'n4'")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('new', 'fact', 'getNewId')")
        conn.commit()
    check = looked_at(others, is_thorough=True)
    assert (check.state, check.fix) == ("info", "tierdeck embed")
    assert "3 of the " in check.text
    fill_terms(others)
    assert looked_at(others, is_thorough=True).state == "ok"


def test_a_store_opened_for_reading_is_mended_where_its_terms_lie(filled: Store) -> None:
    path = filled.path
    filled.close()
    with open_store(path, read_only=True) as store:
        assert looked_at(store).state == "ok"
        damage(store, BREAKS["as many terms, but others"])
        check = looked_at(store)
        assert (check.state, check.fix) == ("bad", f"{FIX} --read-only")
        repair(store, ["extra-terms"])
        assert looked_at(store, is_thorough=True).state == "ok"
    with open_store(path) as store:
        assert looked_at(store, is_thorough=True).state == "ok"


WRITES = """
for n in range(150):
    conn.execute("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", (f"w{n}", f"getWritten{n}Id"))
    conn.execute("UPDATE nodes SET content = content || ' seenBefore' || ? WHERE rowid % 7 = ?", (str(n), n % 7))
    conn.execute("DELETE FROM nodes WHERE id = ?", (f"w{n - 3}",))
"""


@pytest.mark.parametrize("is_thorough", [False, True])
def test_nothing_is_taken_for_broken_while_others_write_and_index(filled: Store, is_thorough: bool) -> None:
    is_over = threading.Event()

    def follow() -> None:
        with open_store(filled.path) as store:
            while not is_over.is_set():
                fill_terms(store)

    indexer = threading.Thread(target=follow)
    with other_program(filled.path) as writer:
        writer.begin(WRITES)
        indexer.start()
        looks: list[Check] = []
        try:
            while len(looks) < 40:
                looks.append(check_terms(filled, is_thorough=is_thorough))
        finally:
            is_over.set()
            indexer.join()
        writer.wait()
    assert [check.text for check in looks if check.state == "bad"] == []
    fill_terms(filled)
    assert looked_at(filled, is_thorough=True).state == "ok"
    assert kept_terms(filled) == made_anew(filled)


PLACES = 40
QUERIES = ("thing 7", "C++", "设备", "1.44")


def test_no_overwritten_bytes_change_an_answer_unsaid(filled: Store) -> None:
    path = index_path(filled)
    with closing(apsw.Connection(str(path))) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    good, rng = path.read_bytes(), Random(7)
    wanted = found(filled)
    for place in range(PLACES):
        path.write_bytes(good)
        with path.open("r+b") as file:
            file.seek(len(good) * place // PLACES)
            file.write(rng.randbytes(400))
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        health = examine(filled, OFF, is_thorough=True)
        is_said = "bad" in {health.check(name).state for name in ("index-file", "extra-terms")}
        assert is_said or found(filled) == wanted, f"at {place} of {PLACES}"


def found(store: Store) -> list[list[str]]:
    with open_store(store.path) as opened:
        return [texts(hybrid_search(opened, query, alpha=0, limit_rows=100)) for query in QUERIES]
