"""Memories, their relations and their history: rows of the store file to values and back."""

from tierdeck.migrate import StoreKind
from tierdeck.store.changes import edit_node
from tierdeck.store.embedding_flag import embedding_off, set_compute_embedding
from tierdeck.store.filters import filter_sql, time_ms_sql
from tierdeck.store.history import (
    AccessSummary,
    access_summary,
    accesses,
    confidence_changes,
    tier_moves,
)
from tierdeck.store.nodes import add_node, add_nodes, get_node, resolve_id, resolve_ids
from tierdeck.store.opening import default_path, open_store
from tierdeck.store.pages import (
    Cursor,
    Page,
    StoreCounts,
    count_left_in_archive,
    count_nodes,
    counts,
    page_around,
    page_at_offset,
)
from tierdeck.store.relations import (
    RelatedNode,
    delete_edge,
    edges_of,
    get_edge,
    relate,
    related_nodes,
    update_edge,
)
from tierdeck.store.revisions import redo, revisions, undo
from tierdeck.store.rows import read_nodes, read_rows
from tierdeck.store.sessions import add_session, sessions
from tierdeck.store.settings import get_setting, set_setting
from tierdeck.store.store import ReadOnlyReason, Store

__all__ = [
    "AccessSummary",
    "Cursor",
    "Page",
    "ReadOnlyReason",
    "RelatedNode",
    "Store",
    "StoreCounts",
    "StoreKind",
    "access_summary",
    "accesses",
    "add_node",
    "add_nodes",
    "add_session",
    "confidence_changes",
    "count_left_in_archive",
    "count_nodes",
    "counts",
    "default_path",
    "delete_edge",
    "edges_of",
    "edit_node",
    "embedding_off",
    "filter_sql",
    "get_edge",
    "get_node",
    "get_setting",
    "open_store",
    "page_around",
    "page_at_offset",
    "read_nodes",
    "read_rows",
    "redo",
    "relate",
    "related_nodes",
    "resolve_id",
    "resolve_ids",
    "revisions",
    "sessions",
    "set_compute_embedding",
    "set_setting",
    "tier_moves",
    "time_ms_sql",
    "undo",
    "update_edge",
]
