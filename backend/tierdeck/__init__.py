"""The memory of long-running LLM agents: open a store, search it by word and by meaning, see why, change it safely.

    from tierdeck import NodeDraft, add_node, hybrid_search, open_store

    with open_store("memory.db", create=True) as store:
        add_node(store, NodeDraft("The staging database runs on port 5433"))
        for hit in hybrid_search(store, "staging port", alpha=0).hits:
            print(hit.score, hit.row.excerpt)

Meaning takes two things more: `embedder = make_embedder(settings.embedding, store)`, `run_indexer(store, embedder,
settings.embedding)` to make the vectors, and `open_vector_index(store)` to give them to `hybrid_search`. They load
numpy when they are first used; importing this package does not. Nothing here knows a terminal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tierdeck.config import EmbeddingSettings, SearchSettings, Settings
from tierdeck.embed import make_embedder
from tierdeck.errors import TierdeckError
from tierdeck.model import (
    Edge,
    EdgeType,
    Member,
    Node,
    NodeChanges,
    NodeDraft,
    NodeFilter,
    NodeRow,
    NodeType,
    Tier,
)
from tierdeck.promote.override import archive_nodes, restore_nodes
from tierdeck.search import Hit, Query, SearchAnswer, hybrid_search, parse_query, rerank
from tierdeck.store import (
    Store,
    StoreKind,
    add_node,
    add_nodes,
    default_path,
    edges_of,
    edit_node,
    get_node,
    open_store,
    relate,
    related_nodes,
    resolve_id,
    revisions,
    undo,
)

if TYPE_CHECKING:
    from tierdeck.embed.coverage import coverage as coverage
    from tierdeck.embed.indexer import run_indexer as run_indexer
    from tierdeck.embed.vector_index import open_vector_index as open_vector_index

# Modules that import numpy: loaded when one of their names is asked for.
_HEAVY = {
    "coverage": "tierdeck.embed.coverage",
    "open_vector_index": "tierdeck.embed.vector_index",
    "run_indexer": "tierdeck.embed.indexer",
}

__all__ = [
    "Edge",
    "EdgeType",
    "EmbeddingSettings",
    "Hit",
    "Member",
    "Node",
    "NodeChanges",
    "NodeDraft",
    "NodeFilter",
    "NodeRow",
    "NodeType",
    "Query",
    "SearchAnswer",
    "SearchSettings",
    "Settings",
    "Store",
    "StoreKind",
    "Tier",
    "TierdeckError",
    "add_node",
    "add_nodes",
    "archive_nodes",
    "coverage",
    "default_path",
    "edges_of",
    "edit_node",
    "get_node",
    "hybrid_search",
    "make_embedder",
    "open_store",
    "open_vector_index",
    "parse_query",
    "relate",
    "related_nodes",
    "rerank",
    "resolve_id",
    "restore_nodes",
    "revisions",
    "run_indexer",
    "undo",
]


def __getattr__(name: str) -> object:
    if name in _HEAVY:
        return getattr(import_module(_HEAVY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
