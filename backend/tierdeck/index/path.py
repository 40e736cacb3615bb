"""Where a store's index file lies: beside a store that we may write, else in the user's cache folder."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from tierdeck.store import Store, StoreKind

FileKey = tuple[int, int]
"""A file's device and inode: another file at the same path has another one, while the first is held open."""

SUFFIX = "-index"
_FOLDER = "index"


def index_path(store: Store) -> Path:
    """The place of the store's index file, whether or not it exists.

    A store opened for writing has it beside itself, `<store>-index`. Another program's store and one opened
    read-only have it in the cache folder, so that their own folder stays as it is.
    """
    if store.read_only or store.kind is StoreKind.FOREIGN:
        return cached_index_path(store.path)
    return beside_index_path(store.path)


def beside_index_path(store_path: Path) -> Path:
    """Where the index file of a store that we may write lies."""
    return store_path.with_name(store_path.name + SUFFIX)


def cached_index_path(store_path: Path) -> Path:
    """Where the index file of a store that we only read lies; another file at the same path has another one.

    The name is a digest of real path, device and inode, so it tells nothing about the store; the index file itself
    records the path.
    """
    real = store_path.resolve()
    stat = real.stat()
    key = blake2b(f"{real}\0{stat.st_dev}\0{stat.st_ino}".encode("utf-8", "surrogateescape"), digest_size=16)
    return cache_folder() / f"{key.hexdigest()}{SUFFIX}"


def file_key(path: Path) -> FileKey | None:
    """Which file lies there now; None when there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino)


def cache_folder() -> Path:
    """The folder of the index files that don't lie beside their store."""
    return user_cache_path("tierdeck") / _FOLDER
