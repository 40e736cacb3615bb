"""Somebody tampers with the log, past its triggers, in another process; the check names the first bad row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.other_program import other_program
from tests.tierdeck.promote.log.test_entries import DROP, MIDDLE, moved
from tierdeck.errors import InvalidValueError, StoppedError, StoreError
from tierdeck.model import Tier
from tierdeck.promote.log import check
from tierdeck.promote.log.breaks import accept_break
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import log_head
from tierdeck.promote.moves.override import override_tier
from tierdeck.store import Store, open_store, set_setting

# Computes a row's digest anew, as somebody would who has read how it is made.
FORGE = """
import hashlib
def forge(row_id):
    conn.row_factory = sqlite3.Row
    row = dict(conn.execute('SELECT * FROM td_promotion_log WHERE id = ?', (row_id,)).fetchone())
    row.pop('digest')
    text = json.dumps(row, sort_keys=True, separators=(',', ':'))
    digest = hashlib.blake2b(text.encode(), digest_size=32).hexdigest()
    conn.execute('UPDATE td_promotion_log SET digest = ? WHERE id = ?', (digest, row_id))
"""
COPY = (
    f"conn.execute('INSERT INTO td_promotion_log SELECT {{0}}, {MIDDLE}, prev_digest, digest "
    "FROM td_promotion_log WHERE id = {1}')"
)
SHIFT = "conn.execute('UPDATE td_promotion_log SET id = -id - 1 WHERE id > 3')\n" \
    "conn.execute('UPDATE td_promotion_log SET id = -id WHERE id < 0')\n"  # fmt: skip

TAMPERED = {
    "edited": ("conn.execute(\"UPDATE td_promotion_log SET actor = 'nobody' WHERE id = 3\")", 3, "changed"),
    "time edited": ("conn.execute('UPDATE td_promotion_log SET at = at + 1 WHERE id = 6')", 6, "changed"),
    "text made bytes": (
        "conn.execute('UPDATE td_promotion_log SET reason = CAST(reason AS BLOB) WHERE id = 2')", 2, "changed",
    ),
    "text made no UTF-8": (
        "conn.execute(\"UPDATE td_promotion_log SET reason = CAST(x'ff' AS TEXT) WHERE id = 2\")", 2, "changed",
    ),
    "NULL made empty": ("conn.execute(\"UPDATE td_promotion_log SET rule = '' WHERE id = 1\")", 1, "changed"),
    "edited and its digest forged": (
        FORGE + "conn.execute(\"UPDATE td_promotion_log SET actor = 'nobody' WHERE id = 3\"); forge(3)",
        4, "does not follow row 3",
    ),
    "the last edited and its digest forged": (
        FORGE + "conn.execute(\"UPDATE td_promotion_log SET actor = 'nobody' WHERE id = 6\"); forge(6)",
        6, "than the log's head names",
    ),
    "removed in the middle": ("conn.execute('DELETE FROM td_promotion_log WHERE id = 3')", 3, "row 3 is missing"),
    "removed in the middle, the rest moved up": (
        "conn.execute('DELETE FROM td_promotion_log WHERE id = 3')\n"
        "conn.execute('UPDATE td_promotion_log SET id = id - 1 WHERE id > 3')",
        3, "changed",
    ),
    "the first removed": ("conn.execute('DELETE FROM td_promotion_log WHERE id = 1')", 1, "the first is row 2"),
    "the last removed": ("conn.execute('DELETE FROM td_promotion_log WHERE id = 6')", 6, "there are 6 rows"),
    "the last three removed": ("conn.execute('DELETE FROM td_promotion_log WHERE id > 3')", 4, "there are 6 rows"),
    "all removed": ("conn.execute('DELETE FROM td_promotion_log')", 1, "there are 6 rows"),
    "the head removed": (
        "conn.execute(\"DELETE FROM td_setting WHERE key = 'promotion_log_head'\")", 7, "head is gone",
    ),
    "the head made nonsense": (
        "conn.execute(\"UPDATE td_setting SET value = 'six' WHERE key = 'promotion_log_head'\")", 7, "'six'",
    ),
    "added at the end": (COPY.format(7, 6), 7, "changed"),
    "added at the end with its digest forged": (
        FORGE + COPY.format(7, 6) + "\n"
        "[(last,)] = conn.execute('SELECT digest FROM td_promotion_log WHERE id = 6')\n"
        "conn.execute('UPDATE td_promotion_log SET prev_digest = ? WHERE id = 7', (last,)); forge(7)",
        7, "added past the log's head",
    ),
    "inserted in the middle": (SHIFT + COPY.format(4, 3), 4, "changed"),
    "inserted before the first": (COPY.format(0, 1), 0, "begins with row 1"),
    "two exchanged": (
        "conn.execute('UPDATE td_promotion_log SET id = -1 WHERE id = 2')\n"
        "conn.execute('UPDATE td_promotion_log SET id = 2 WHERE id = 4')\n"
        "conn.execute('UPDATE td_promotion_log SET id = 4 WHERE id = -1')",
        2, "changed",
    ),
}  # fmt: skip


@pytest.mark.spec("SPEC-09.14")
@pytest.mark.parametrize("kind", TAMPERED)
def test_what_was_tampered_with_is_found_and_the_first_row_named(store: Store, kind: str) -> None:
    moved(store, 6)
    code, first_bad, why = TAMPERED[kind]
    with other_program(store.path) as other:
        other.do(f"{DROP}\n{code}")
    found = verify_log(store)
    assert found.problem is not None
    assert (found.first_bad, why in found.problem) == (first_bad, True), found.problem


@pytest.mark.spec("SPEC-09.14")
def test_a_log_as_it_was_written_fits_whatever_its_length(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify_log(store).problem is None
    monkeypatch.setattr(check, "_BATCH_ROWS", 3)
    moved(store, 6)
    seen: list[tuple[int, int]] = []
    found = verify_log(store, on_progress=lambda done, total: seen.append((done, total)))
    assert (found.rows, found.problem, found.first_bad, found.head, found.breaks) == (
        6,
        None,
        None,
        log_head(store),
        (),
    )
    assert seen == [(3, 6), (6, 6), (6, 6)]
    with pytest.raises(StoppedError, match="after 0 rows"):
        verify_log(store, should_stop=lambda: True)


@pytest.mark.spec("SPEC-09.14")
def test_a_head_kept_elsewhere_finds_what_was_cut_off_together_with_the_stores_own(store: Store) -> None:
    moved(store, 6)
    kept = log_head(store)
    with other_program(store.path) as other:
        other.do(
            f"{DROP}\nconn.execute('DELETE FROM td_promotion_log WHERE id > 4')\n"
            "conn.execute(\"UPDATE td_setting SET value = (SELECT id || ':' || digest FROM td_promotion_log "
            "ORDER BY id DESC LIMIT 1) WHERE key = 'promotion_log_head'\")"
        )
    assert verify_log(store).problem is None
    found = verify_log(store, head=kept)
    assert (found.rows, found.first_bad) == (4, 5)
    assert found.problem == "row 5 is missing: the given head says there are 6 rows"


def test_a_head_kept_earlier_still_fits_a_log_that_went_on_and_names_the_row_that_was_replaced(
    store: Store,
) -> None:
    moved(store, 2)
    kept = log_head(store)
    ids = moved(store, 2)
    assert verify_log(store, head=kept).problem is None
    forged = kept[:-1] + ("0" if kept[-1] != "0" else "1")
    found = verify_log(store, head=forged)
    assert (found.first_bad, found.problem) == (2, "row 2 is another one than the given head names")
    assert len(ids) == 2
    with pytest.raises(InvalidValueError, match="is no head"):
        verify_log(store, head="two")


@pytest.mark.spec("SPEC-09.14")
def test_an_accepted_break_is_told_by_every_later_check(store: Store) -> None:
    ids = moved(store, 3)
    with other_program(store.path) as other:
        other.do("conn.execute('DROP TRIGGER td_promotion_log_delete')")
        other.do("conn.execute('DELETE FROM td_promotion_log WHERE id > 1')")
    accept_break(store, "mara", "lost with the disk")
    override_tier(store, ids[:1], Tier.TASK, actor="mara", reason="wrong")
    found = verify_log(store)
    assert (found.rows, found.problem) == (2, None)
    [told] = found.breaks
    assert (told.actor, told.reason, told.old_head[:2], told.new_head[:2]) == (
        "mara",
        "lost with the disk",
        "3:",
        "1:",
    )
    set_setting(store, "promotion_log_breaks", "[]x")
    with pytest.raises(StoreError, match="their record was changed"):
        verify_log(store)


@pytest.mark.spec("SPEC-09.14")
@pytest.mark.parametrize(
    ("with_head", "says"), [(False, "head says there are 3 rows"), (True, "its table is missing")]
)
def test_a_log_that_is_gone_with_its_table_is_no_empty_log(store: Store, with_head: bool, says: str) -> None:
    moved(store, 3)
    with other_program(store.path) as other:
        other.do("conn.execute('DROP TABLE td_promotion_log')")
        if with_head:
            other.do("conn.execute(\"DELETE FROM td_setting WHERE key = 'promotion_log_head'\")")
    with open_store(store.path) as again:
        found = verify_log(again)
    assert (found.rows, found.first_bad) == (0, 1)
    assert (found.problem or "").endswith(says)


def test_another_programs_store_has_no_log_that_could_be_gone(family_store_path: Path) -> None:
    with open_store(family_store_path) as foreign:
        assert verify_log(foreign).problem is None
