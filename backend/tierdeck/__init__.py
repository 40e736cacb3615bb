"""The memory of long-running LLM agents: open a store, search it by word and by meaning, see why, change it safely.

    from tierdeck import NodeDraft, add_node, hybrid_search, open_store

    with open_store("memory.db", create=True) as store:
        add_node(store, NodeDraft("The staging database runs on port 5433"))
        for hit in hybrid_search(store, "staging port", alpha=0).hits:
            print(hit.score, hit.row.excerpt)

Meaning takes two things more: `embedder = make_embedder(settings.embedding, store)`, `run_indexer(store, embedder,
settings.embedding)` to make the vectors, and `open_vector_index(store)` to give them to `hybrid_search`. They load
numpy when they are first used; importing this package does not. Nothing here knows a terminal.

An agent's own process goes through a session, so that what it uses is promoted: `open_session(store, "run-41")`,
then `search`, `open`, `use` and `end` on it. `why` tells what the rules say of a memory; `override_tier`, `hold`
and `undo_move` are the operator's hand.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tierdeck.config import EmbeddingSettings, PromotionSettings, SearchSettings, Settings
from tierdeck.embed import make_embedder
from tierdeck.errors import TierdeckError
from tierdeck.model import (
    AccessKind,
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
    from tierdeck.promote import Rules as Rules
    from tierdeck.promote import apply_sweep as apply_sweep
    from tierdeck.promote import approve as approve
    from tierdeck.promote import archive_nodes as archive_nodes
    from tierdeck.promote import candidates as candidates
    from tierdeck.promote import dismiss as dismiss
    from tierdeck.promote import hold as hold
    from tierdeck.promote import near as near
    from tierdeck.promote import override_tier as override_tier
    from tierdeck.promote import plan_sweep as plan_sweep
    from tierdeck.promote import preview_override as preview_override
    from tierdeck.promote import release as release
    from tierdeck.promote import restore_nodes as restore_nodes
    from tierdeck.promote import undo_move as undo_move
    from tierdeck.promote import undo_run as undo_run
    from tierdeck.promote import verify_log as verify_log
    from tierdeck.promote import why as why
    from tierdeck.session import Session as Session
    from tierdeck.session import open_session as open_session
    from tierdeck.vectors.vector_index import open_vector_index as open_vector_index

_PROMOTION = (
    "Rules",
    "apply_sweep",
    "approve",
    "archive_nodes",
    "candidates",
    "dismiss",
    "hold",
    "near",
    "override_tier",
    "plan_sweep",
    "preview_override",
    "release",
    "restore_nodes",
    "undo_move",
    "undo_run",
    "verify_log",
    "why",
)
# Loaded when one of their names is asked for: the first three import numpy, and promotion would add a third to the
# start of a search.
_LATER = {
    "coverage": "tierdeck.embed.coverage",
    "open_vector_index": "tierdeck.vectors.vector_index",
    "run_indexer": "tierdeck.embed.indexer",
    "Session": "tierdeck.session",
    "open_session": "tierdeck.session",
    **dict.fromkeys(_PROMOTION, "tierdeck.promote"),
}

__all__ = [
    "AccessKind",
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
    "PromotionSettings",
    "Query",
    "Rules",
    "SearchAnswer",
    "SearchSettings",
    "Session",
    "Settings",
    "Store",
    "StoreKind",
    "Tier",
    "TierdeckError",
    "add_node",
    "add_nodes",
    "apply_sweep",
    "approve",
    "archive_nodes",
    "candidates",
    "coverage",
    "default_path",
    "dismiss",
    "edges_of",
    "edit_node",
    "get_node",
    "hold",
    "hybrid_search",
    "make_embedder",
    "near",
    "open_session",
    "open_store",
    "open_vector_index",
    "override_tier",
    "parse_query",
    "plan_sweep",
    "preview_override",
    "relate",
    "related_nodes",
    "release",
    "rerank",
    "resolve_id",
    "restore_nodes",
    "revisions",
    "run_indexer",
    "undo",
    "undo_move",
    "undo_run",
    "verify_log",
    "why",
]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
