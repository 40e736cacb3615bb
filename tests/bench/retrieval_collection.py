"""A judged collection: documents, queries, and which documents answer which query; and its store, made for real."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.local import LocalEmbedder
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


class Unweighed:
    """The local model without the store's token weights."""

    is_remote = False

    def __init__(self) -> None:
        self._model = LocalEmbedder()
        self.name, self.dimensions = self._model.name, self._model.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, every token alike."""
        return self._model.embed(texts)


MODELS = ("wordllama", "wordllama-unweighed", "encoder")


def make_store(collection: Collection, path: Path, model: str = "wordllama") -> tuple[Store, Embedder]:
    """A store of the collection's documents, every one embedded by one of `MODELS`."""
    store = open_store(path, create=True)
    add_nodes(store, (NodeDraft(text, id=doc_id) for doc_id, text in collection.documents.items() if text.strip()))
    settings = EmbeddingSettings(provider="encoder" if model == "encoder" else "local")
    embedder = Unweighed() if model == "wordllama-unweighed" else make_embedder(settings, store)
    report = run_indexer(store, embedder, settings)
    print(f"{collection.name}: {len(collection.documents)} documents, {report.embedded} embedded")
    return store, embedder


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
