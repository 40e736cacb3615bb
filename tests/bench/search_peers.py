"""Others on the same vectors and texts: LanceDB, chromadb, qdrant-client's local mode, tantivy with usearch.

None of them is a dependency of the project; see `other_environment`. Each builds its own files once, beside the
store, and is asked for the same nearest rows with filters that say the same. LanceDB and qdrant-client look at
every vector; chromadb and usearch keep an approximate graph, with the settings they come with.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from tests.bench.exact_neighbours import WANTED
from tests.bench.scale_store import ScaleStore
from tests.bench.search_narrowing import plain_conditions
from tierdeck.model import NodeFilter

PACKAGES = ("lancedb", "chromadb", "qdrant-client", "tantivy", "usearch")
# Its local mode keeps all in Python's memory, and warns above so many points.
MAX_QDRANT_ROWS = 20_000
RRF_K = 60
_BATCH_ROWS = 5_000
_OPERATORS = {"=": "$eq", "!=": "$ne", ">=": "$gte"}
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Peer:
    """How one is asked for the nearest rows that meet a filter, and for a whole search.

    `can_filter` False: it has no filters, and looks at all rows. `hybrid` is None where it has none.
    """

    name: str
    nearest: Callable[[Vector, NodeFilter], Sequence[int]]
    hybrid: Callable[[str, Vector], Sequence[int]] | None = None
    can_filter: bool = True


def peers(made: ScaleStore, names: Sequence[str]) -> Iterator[Peer]:
    """Those of that name that installed, built on the store's vectors and texts."""
    for name in names:
        if name == "qdrant" and made.rows > MAX_QDRANT_ROWS:
            continue
        package, maker = _MAKERS[name]
        try:
            importlib.import_module(package)
        except ImportError as e:
            print(f"  {name} is left out: {e}")
            continue
        yield maker(made)


def checked_peers(text: str) -> list[str]:
    """Names of peers as given on the command line, with commas; none of an empty text."""
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in _MAKERS]:
        raise SystemExit(f"--peers {text}: {unknown[0]} is none of {', '.join(_MAKERS)}")
    return names


def versions() -> str:
    """Of everything that was measured."""
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def _lancedb(made: ScaleStore) -> Peer:
    folder, is_built = _folder(made, "lancedb")
    db = importlib.import_module("lancedb").connect(folder)
    if is_built:
        table = db.open_table("memories")
    else:
        table = db.create_table("memories", data=_arrow_batches(made), schema=_arrow_schema(made))
        table.create_fts_index("content")
        _built(folder)

    def where(node_filter: NodeFilter) -> str:
        return " AND ".join(f"{column} {sign} {value!r}" for column, sign, value in plain_conditions(node_filter))

    def nearest(vector: Vector, node_filter: NodeFilter) -> Sequence[int]:
        asked = table.search(vector, vector_column_name="vector").distance_type("cosine")
        if sql := where(node_filter):
            asked = asked.where(sql, prefilter=True)
        found = asked.select(["number", "_distance"]).limit(WANTED).to_arrow()
        return [int(number) for number in found["number"].to_pylist()]

    def hybrid(text: str, vector: Vector) -> Sequence[int]:
        asked = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="content")
        asked = asked.vector(vector).text(text).distance_type("cosine")
        return [int(number) for number in asked.limit(20).to_arrow()["number"].to_pylist()]

    return Peer(f"LanceDB {version('lancedb')} flat", nearest, hybrid)


def _chromadb(made: ScaleStore) -> Peer:
    folder, is_built = _folder(made, "chromadb")
    chromadb = importlib.import_module("chromadb")
    settings = importlib.import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(folder), settings=settings)
    memories = client.get_or_create_collection(
        "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    if not is_built:
        for first, vectors, rows in _batches(made):
            memories.add(
                ids=[str(first + at) for at in range(len(rows))],
                embeddings=vectors,
                metadatas=[
                    dict(zip(("tier", "type", "confidence", "created_at"), row[1:], strict=True)) for row in rows
                ],
            )
        _built(folder)

    def nearest(vector: Vector, node_filter: NodeFilter) -> Sequence[int]:
        parts = [{column: {_OPERATORS[sign]: value}} for column, sign, value in plain_conditions(node_filter)]
        where = None if not parts else parts[0] if len(parts) == 1 else {"$and": parts}
        found = memories.query(query_embeddings=[vector], n_results=WANTED, where=where, include=[])
        return [int(node_id) for node_id in found["ids"][0]]

    return Peer(f"chromadb {version('chromadb')}", nearest)


def _qdrant(made: ScaleStore) -> Peer:
    qdrant: Any = importlib.import_module("qdrant_client")
    models = qdrant.models
    client = qdrant.QdrantClient(":memory:")
    distance = models.VectorParams(size=made.dimensions, distance=models.Distance.COSINE)
    client.create_collection("memories", vectors_config=distance)
    for first, vectors, rows in _batches(made):
        payload = [dict(zip(("tier", "type", "confidence", "created_at"), row[1:], strict=True)) for row in rows]
        ids = list(range(first, first + len(rows)))
        client.upload_collection("memories", vectors=vectors, payload=payload, ids=ids)

    def condition(column: str, sign: str, value: str | float) -> Any:
        if sign == ">=":
            return models.FieldCondition(key=column, range=models.Range(gte=value))
        return models.FieldCondition(key=column, match=models.MatchValue(value=value))

    def nearest(vector: Vector, node_filter: NodeFilter) -> Sequence[int]:
        parts = plain_conditions(node_filter)
        query_filter = models.Filter(
            must=[condition(*part) for part in parts if part[1] != "!="],
            must_not=[condition(*part) for part in parts if part[1] == "!="],
        )
        found = client.query_points("memories", query=vector, query_filter=query_filter, limit=WANTED)
        return [int(point.id) for point in found.points]

    return Peer(f"qdrant-client {version('qdrant-client')} local", nearest)


def _tantivy_usearch(made: ScaleStore) -> Peer:
    folder, is_built = _folder(made, "tantivy-usearch")
    graph = importlib.import_module("usearch.index").Index(ndim=made.dimensions, metric="cos", dtype="f32")
    tantivy: Any = importlib.import_module("tantivy")
    schema = tantivy.SchemaBuilder()
    schema.add_unsigned_field("number", stored=True)
    schema.add_text_field("content", tokenizer_name="en_stem")
    (folder / "texts").mkdir(exist_ok=True)
    texts = tantivy.Index(schema.build(), path=str(folder / "texts"))
    if is_built:
        graph.load(str(folder / "graph"))
    else:
        writer = texts.writer(100_000_000, 1)
        for first, vectors, rows in _batches(made):
            graph.add(np.arange(first, first + len(rows)), vectors)
            for at, row in enumerate(rows):
                writer.add_document(tantivy.Document(number=first + at, content=str(row[0])))
        writer.commit()
        writer.wait_merging_threads()
        graph.save(str(folder / "graph"))
        _built(folder)
    texts.reload()
    searcher = texts.searcher()

    def nearest(vector: Vector, _: NodeFilter) -> Sequence[int]:
        return [int(key) for key in graph.search(vector, WANTED).keys]

    def hybrid(text: str, vector: Vector) -> Sequence[int]:
        query, _ = texts.parse_query_lenient(text, ["content"])
        words = [int(searcher.doc(at)["number"][0]) for _, at in searcher.search(query, WANTED).hits]
        return _fused(words, nearest(vector, NodeFilter()))

    name = f"tantivy {version('tantivy')} + usearch {version('usearch')}"
    return Peer(name, nearest, hybrid, can_filter=False)


def _fused(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Both lists by reciprocal ranks, the best 20."""
    scores: dict[int, float] = {}
    for found in (first, second):
        for rank, number in enumerate(found, start=1):
            scores[number] = scores.get(number, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda number: -scores[number])[:20]


def _folder(made: ScaleStore, name: str) -> tuple[Path, bool]:
    """Where one keeps its files, and whether they are whole; of another version or not whole, they are removed."""
    package = name.rsplit("-", maxsplit=1)[-1]
    folder = made.folder / f"{name}-{version(package)}"
    is_built = (folder / "complete").exists()
    if not is_built:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    return folder, is_built


def _built(folder: Path) -> None:
    (folder / "complete").touch()


def _batches(made: ScaleStore) -> Iterator[tuple[int, Vector, list[tuple[Any, ...]]]]:
    """The first number, the vectors, and (content, tier, type, confidence, created_at) of each."""
    vectors = made.vectors()
    conn = apsw.Connection(str(made.path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT content, tier, type, confidence, created_at FROM nodes WHERE pk > ? ORDER BY pk LIMIT ?"
    for first in range(0, made.rows, _BATCH_ROWS):
        rows = [tuple(row) for row in conn.execute(sql, (first, _BATCH_ROWS))]
        yield first, np.array(vectors[first : first + len(rows)]), rows
    conn.close()


def _arrow_schema(made: ScaleStore) -> Any:
    arrow: Any = importlib.import_module("pyarrow")
    kinds = {
        "number": arrow.int64(),
        "vector": arrow.list_(arrow.float32(), made.dimensions),
        "content": arrow.string(),
        "tier": arrow.string(),
        "type": arrow.string(),
        "confidence": arrow.float64(),
        "created_at": arrow.int64(),
    }
    return arrow.schema(list(kinds.items()))


def _arrow_batches(made: ScaleStore) -> Iterator[Any]:
    arrow: Any = importlib.import_module("pyarrow")
    schema = _arrow_schema(made)
    for first, vectors, rows in _batches(made):
        flat = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), made.dimensions)
        columns = [
            arrow.array(column, field.type)
            for column, field in zip(zip(*rows, strict=True), list(schema)[2:], strict=True)
        ]
        yield arrow.record_batch(
            [arrow.array(range(first, first + len(rows)), arrow.int64()), flat, *columns], schema=schema
        )


_MAKERS: dict[str, tuple[str, Callable[[ScaleStore], Peer]]] = {
    "lancedb": ("lancedb", _lancedb),
    "chromadb": ("chromadb", _chromadb),
    "qdrant": ("qdrant_client", _qdrant),
    "usearch": ("usearch", _tantivy_usearch),
}
PEERS = tuple(_MAKERS)
