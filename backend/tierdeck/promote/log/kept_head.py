"""A head of the promotion log that was kept elsewhere: in a backup or an export, or written down."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

from tierdeck import db
from tierdeck.errors import InvalidValueError, NotAStoreError, StoreNotFoundError
from tierdeck.promote.log.entries import head_in

HEAD = re.compile(r"(0|[1-9][0-9]*):[0-9a-f]*")
_SQLITE_MAGIC = b"SQLite format 3\x00"
_MAX_HEADER_BYTES = 1_000_000


def kept_head(source: Path) -> str:
    """The head of the log as a backup or an export of the store carries it; neither is touched.

    Returns:
        `count:digest`, to be compared with the log by `verify_log`.

    Raises:
        StoreNotFoundError: there is no such file.
        NotAStoreError: it is neither a store nor an export.
        InvalidValueError: it was made before there was a promotion log.
    """
    try:
        with source.open("rb") as file:
            start = file.read(len(_SQLITE_MAGIC))
            first_line = b"" if start == _SQLITE_MAGIC else start + file.readline(_MAX_HEADER_BYTES)
    except FileNotFoundError as e:
        raise StoreNotFoundError(f"read the log's head in {source}: there is no such file") from e
    except OSError as e:
        raise NotAStoreError(f"read the log's head in {source}: {e.strerror}") from e
    head = _of_store(source) if start == _SQLITE_MAGIC else _of_export(source, first_line)
    if head is None:
        raise InvalidValueError(
            f"read the log's head in {source}: it keeps none",
            hint="it was made before the store had a promotion log",
        )
    return head


def _of_store(path: Path) -> str | None:
    with closing(db.open_untouched(path)) as conn, db.driver_errors(path, "read the log's head in"):
        if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_promotion_log'").fetchone():
            return None
        return head_in(conn)


def _of_export(path: Path, first_line: bytes) -> str | None:
    try:
        header = json.loads(first_line)
    except (ValueError, RecursionError) as e:  # nested beyond reason
        raise NotAStoreError(f"read the log's head in {path}: it is neither a store nor an export") from e
    if not isinstance(header, dict) or header.get("kind") != "header":
        raise NotAStoreError(f"read the log's head in {path}: its first line is no export's header")
    head = header.get("promotion_log")
    return head if isinstance(head, str) and HEAD.fullmatch(head) else None
