"""Looking a store over, whole: each check stands alone, so that one that fails hides none of the others.

Nothing is changed, and a store that is only read keeps its folder byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.errors import DamagedStoreError, IndexBusyError, IndexFileError, NotAStoreError, TierdeckError
from tierdeck.maintenance.backup import list_backups
from tierdeck.maintenance.file_checks import check_driver, check_integrity, check_place, damaged_check
from tierdeck.maintenance.fts_drift import find_drift
from tierdeck.maintenance.health import REBUILD_SEARCH_INDEX, Check, Health
from tierdeck.maintenance.index_checks import (
    check_bits,
    check_cache,
    check_embeddings,
    check_index_file,
    check_size,
)
from tierdeck.maintenance.promotion_checks import check_clock, check_counts, check_holds, check_log
from tierdeck.maintenance.row_checks import check_orphans, check_rows, check_secrets
from tierdeck.maintenance.schema_check import check_schema
from tierdeck.maintenance.term_checks import check_terms, check_words
from tierdeck.store import Store, StoreKind, open_store

Look = Callable[[], Check | list[Check]]


def examine(store: Store, settings: EmbeddingSettings, *, is_thorough: bool = False) -> Health:
    """Look over an open store, its index file and what they stand on.

    Args:
        is_thorough: also compare every index with its table, read the whole index file, go through accesses and
            promotion log however long they are, and look for secrets in every memory; else the newest 40 million
            characters are looked at.

    Returns:
        Every check, always in the same order: what the program stands on, file, schema, rows, promotion, index.
    """
    return Health(store.path, store.kind, tuple(_run(_looks(store, settings, is_thorough=is_thorough))))


def examine_file(path: Path, settings: EmbeddingSettings, *, is_thorough: bool = False) -> Health:
    """Look over a store that may not open at all: then its one check "integrity" says why, and what to do.

    Raises:
        StoreNotFoundError: there is no such file.
    """
    try:
        with open_store(path, read_only=True) as store:
            return examine(store, settings, is_thorough=is_thorough)
    except (DamagedStoreError, NotAStoreError) as e:
        return Health(path, None, (*check_driver(), _unreadable(path, e)))


def _looks(store: Store, settings: EmbeddingSettings, *, is_thorough: bool) -> Iterator[tuple[str, Look]]:
    """The checks by name, each to be run by itself."""
    kind = store.kind
    yield "driver", check_driver
    yield "file", lambda: check_place(store)
    yield "integrity", lambda: store.read(lambda conn: check_integrity(conn, is_thorough=is_thorough))
    yield "schema", lambda: store.read(lambda conn: check_schema(conn, kind))
    yield "search-index", lambda: store.read(lambda conn: check_search_index(conn, kind))
    yield "rows", lambda: store.read(check_rows)
    yield "orphans", lambda: store.read(lambda conn: check_orphans(conn, kind))
    yield "clock", lambda: check_clock(store)
    yield "promotion-counts", lambda: check_counts(store, is_thorough=is_thorough)
    yield "promotion-log", lambda: check_log(store, is_thorough=is_thorough)
    yield "holds", lambda: check_holds(store)
    yield "secrets", lambda: store.read(lambda conn: check_secrets(conn, is_thorough=is_thorough))
    yield "embeddings", lambda: check_embeddings(store, settings)
    yield "index-file", lambda: check_index_file(store, is_thorough=is_thorough)
    yield "vector-bits", lambda: check_bits(store, is_thorough=is_thorough)
    yield "extra-terms", lambda: check_terms(store, is_thorough=is_thorough)
    yield "word-list", lambda: check_words(store, is_thorough=is_thorough)
    yield "cache", lambda: check_cache(store)
    yield "size", lambda: check_size(store)


def check_search_index(conn: apsw.Connection, kind: StoreKind) -> Check:
    """Whether the full-text index says what the memories say; SQLite's own check can't tell."""
    drift = find_drift(conn, compares_type=kind is StoreKind.OWN)
    if drift.is_clean:
        return Check("search-index", "ok", "the full-text index says what the memories say")
    fix = None if kind is StoreKind.FOREIGN else REBUILD_SEARCH_INDEX
    text = f"the full-text index is out of step: {drift.summary}"
    if kind is StoreKind.FOREIGN:
        text += "; its own program can rebuild it, or adopt the store first"
    return Check("search-index", "bad", text, fix, drift.examples)


def _run(looks: Iterator[tuple[str, Look]]) -> Iterator[Check]:
    for name, look in looks:
        try:
            found = look()
        except DamagedStoreError as e:
            is_rebuildable = name == "search-index" and db.is_full_text_fault(e.message)
            yield Check(name, "bad", e.message, REBUILD_SEARCH_INDEX if is_rebuildable else e.hint)
        except IndexBusyError as e:
            yield Check(name, "warn", f"could not be looked at: {e.message}", e.hint)
        except IndexFileError as e:
            yield Check(name, "bad", e.message, e.remedy)
        except TierdeckError as e:
            yield Check(name, "warn", f"could not be looked at: {e.message}", e.hint)
        else:
            yield from found if isinstance(found, list) else [found]


def _unreadable(path: Path, error: TierdeckError) -> Check:
    backups = list_backups(path)
    if isinstance(error, DamagedStoreError) or not backups:
        check = damaged_check(error.message)
        return Check(check.name, "bad", error.message, error.hint or check.fix)
    return Check("integrity", "bad", error.message, f"the newest backup is {backups[0]}")
