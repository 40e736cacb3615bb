"""A judged collection: documents, queries, and which documents answer which query; and its store, made for real."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.model import NodeDraft
from tierdeck.store import Store, open_store
from tierdeck.store.nodes import add_nodes


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question and the ids of the documents that answer it."""

    id: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents by id, and judged queries."""

    name: str
    documents: dict[str, str]
    queries: tuple[JudgedQuery, ...]


def read_collection(folder: Path) -> Collection:
    """Read `docs.jsonl` ({id, text}) and `queries.jsonl` ({id, text, rel}), without queries that have no answer."""
    documents = {doc["id"]: doc["text"] for doc in _lines(folder / "docs.jsonl")}
    queries = (
        JudgedQuery(line["id"], line["text"], frozenset(line["rel"]) & documents.keys())
        for line in _lines(folder / "queries.jsonl")
    )
    return Collection(folder.name, documents, tuple(query for query in queries if query.relevant))


def make_store(collection: Collection, path: Path) -> tuple[Store, Embedder]:
    """A store of the collection's documents, every one embedded by the local model."""
    store = open_store(path, create=True)
    add_nodes(store, (NodeDraft(text, id=doc_id) for doc_id, text in collection.documents.items() if text.strip()))
    settings = EmbeddingSettings(provider="local")
    embedder = make_embedder(settings, store)
    report = run_indexer(store, embedder, settings)
    print(f"{collection.name}: {len(collection.documents)} documents, {report.embedded} embedded")
    return store, embedder


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
