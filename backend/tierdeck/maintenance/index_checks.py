"""Vectors: how many memories have one, the file they are in, what the cache has forgotten, the real total size."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.coverage import Coverage, coverage
from tierdeck.errors import DamagedStoreError, NotAStoreError, StoreError
from tierdeck.index.file import (
    REBUILD,
    VECTORS,
    dimensions_of,
    get_setting,
    index_errors,
    open_for_reading,
    source_of,
)
from tierdeck.index.path import SUFFIX, cache_folder, cached_index_path, index_path
from tierdeck.maintenance.health import DETAILS, REBUILD_BITS, REBUILD_TERMS, Check
from tierdeck.maintenance.term_checks import are_of_terms, as_opened, unusable_terms
from tierdeck.store import Store

_EMBED = "tierdeck embed"
_DELETE_ORPHANS = "delete those whose store will not come back"  # it may lie on a disk that is not there today
LOOKED_THROUGH_BYTES = 1 << 30  # an index up to here is read through in a second or two


def check_embeddings(store: Store, settings: EmbeddingSettings) -> Check:
    """How many memories have a vector of the model in force, and how many have one of another."""
    found = coverage(store, settings)
    details = tuple(f"{count:,} embedded by {model}" for model, count in sorted(found.by_model.items()))
    if not found.current_model:
        return Check("embeddings", "info", "no model is in force: search by word only", None, details)
    text = f"{found.embedded:,} of {found.total:,} memories embedded by {found.current_model}"
    rest = _rest(found)
    if rest:
        text = f"{text}; {rest}"
    if found.failed:
        return Check("embeddings", "warn", text, _EMBED, details)
    if found.pending or found.stale:
        return Check("embeddings", "info", text, _EMBED, details)
    return Check("embeddings", "ok", text, None, details)


def check_index_file(store: Store, *, is_thorough: bool) -> Check:
    """Whether the index file can be used: its pages, and the vectors in it; of a large one only when thorough.

    Raises:
        IndexFileError, ModelUnavailableError: it can't.
    """
    path = index_path(store)
    conn = open_for_reading(store)
    if conn is None:
        return Check("index-file", "info", "there is none yet: search by word only", _EMBED)
    size = _bytes(path)
    is_looked_through = is_thorough or size <= LOOKED_THROUGH_BYTES
    with closing(conn), index_errors(path):
        model = get_setting(conn, "model")
        faults = _index_faults(conn, is_thorough=is_thorough) if is_looked_through else ()
    if faults and are_of_terms(faults):
        return Check(
            "index-file", "bad", f"{path}: its extra terms are damaged", as_opened(store, REBUILD_TERMS), faults
        )
    if faults:
        return Check("index-file", "bad", f"{path} is damaged", REBUILD, faults)
    text = f"{path}, {size:,} bytes" + (f", made for {model}" if model else "")
    if not is_looked_through:
        return Check("index-file", "info", f"{text}; not read through, `--thorough` does")
    return Check("index-file", "ok", text)


def _index_faults(conn: apsw.Connection, *, is_thorough: bool) -> tuple[str, ...]:
    unusable = unusable_terms(conn)
    if unusable:  # SQLite's own check ends at a table that can't be opened
        return unusable
    pragma = "integrity_check" if is_thorough else "quick_check"
    found = tuple(line for row in conn.execute(f"PRAGMA {pragma}({DETAILS})") for line in str(row[0]).splitlines())
    if found != ("ok",):
        return found[:DETAILS]
    # Here, not above: numpy is loaded only where there is an index.
    from tierdeck.vectors.vector_check import vector_fault

    dimensions = dimensions_of(conn, VECTORS)
    fault = None if dimensions is None else vector_fault(conn, dimensions)
    return () if fault is None else (fault,)


def check_bits(store: Store, *, is_thorough: bool) -> Check:
    """Whether the bits that the search by meaning goes through are those of the vectors; thorough compares all.

    Raises:
        IndexFileError, ModelUnavailableError: the index file can't be used.
    """
    conn = open_for_reading(store)
    if conn is None:
        return Check("vector-bits", "info", "there are none yet: there is no vector")
    # Here, not above: numpy is loaded only where there is an index.
    from tierdeck.vectors.bit_check import SAMPLED_CHUNKS, bit_fault
    from tierdeck.vectors.model_record import current_model

    with closing(conn), index_errors(index_path(store)):
        model = current_model(conn)
        fault = None if model is None else bit_fault(conn, model, chunks=None if is_thorough else SAMPLED_CHUNKS)
        has_bits = (
            conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'bit_head'").fetchone()
            and conn.execute("SELECT 1 FROM bit_head").fetchone()
        )
    if fault is not None:
        text = f"search by meaning takes the slow way, the bits of its vectors can't be used: {fault}"
        return Check("vector-bits", "warn", text, _EMBED if store.read_only else REBUILD_BITS)
    if not has_bits:
        return Check("vector-bits", "ok", "none are needed yet: the vectors are few")
    return Check("vector-bits", "ok", "the bits of the vectors are those of the vectors")


def check_cache(store: Store) -> Check:
    """Index files in the cache whose store is gone, was replaced, or was moved; never this store's own."""
    own = cached_index_path(store.path)
    files = sorted(cache_folder().glob(f"*{SUFFIX}"))
    orphans, unread = _orphans(file for file in files if file != own)
    could_not = f", {unread} could not be read" if unread else ""
    if not orphans:
        which = "none of the others" if unread else "none"
        text = f"{len(files)} index files in the cache{could_not}, {which} of a store that is gone"
        return Check("cache", "ok", text)
    size = sum(map(_bytes, orphans))
    text = f"{len(orphans)} of {len(files)} index files in {cache_folder()} are of no store that is there"
    details = tuple(f"{file}: {why}" for file, why in orphans.items())[:DETAILS]
    return Check("cache", "info", f"{text} ({size:,} bytes){could_not}", _DELETE_ORPHANS, details)


def check_size(store: Store) -> Check:
    """What the store takes on disk, all files together."""
    own, index = _bytes(store.path), _bytes(index_path(store))
    text = f"{own + index:,} bytes: {own:,} the store"
    if index:
        text += f", {index:,} its index ({index / own:.0%} of the store)"
    return Check("size", "info", text)


def _rest(found: Coverage) -> str:
    named = (
        (found.pending, "waiting"),
        (found.stale, "changed since"),
        (found.failed, "refused"),
        (found.off, "not to be embedded"),
    )
    return ", ".join(f"{count:,} {words}" for count, words in named if count)


def _bytes(path: Path) -> int:
    files = (Path(f"{path}{end}") for end in ("", *db.LOG_SUFFIXES))
    return sum(file.stat().st_size for file in files if file.exists())


def _orphans(files: Iterable[Path]) -> tuple[dict[Path, str], int]:
    """Those of no store that is there, each with the reason, and how many could not be read."""
    orphans: dict[Path, str] = {}
    unread = 0
    for file in files:
        try:
            why = _why_orphan(file)
        except StoreError:  # held, or not to be read now
            unread += 1
        else:
            orphans |= {file: why} if why else {}
    return orphans, unread


def _why_orphan(file: Path) -> str | None:
    """Why an index file is of no store that is there; None when it is of one, or that can't be told.

    Raises:
        StoreError: it can't be read now.
    """
    try:
        source = source_of(file)
    except (NotAStoreError, DamagedStoreError):
        return "damaged, whose it was can't be told"
    if source is None:
        return None
    try:
        is_its = cached_index_path(source) == file
    except (FileNotFoundError, NotADirectoryError):
        return f"made from {source}, which is gone"
    except OSError:  # what may not be looked at may be there
        return None
    return None if is_its else f"made from {source}, where another file lies now"
