"""Stores of 1,000 to 1,000,000 memories with 1536-dimensional vectors, built once into a cache folder.

    python -m tests.bench.scale_store --data DIR [--sizes 1k,100k,1M] [--dir DIR] [--dimensions 1536]

DIR of `--data` (or TIERDECK_BENCH_DATA) holds folders with `docs.jsonl`, real text that is recombined; vectors are
the local model's, lifted. Each store has a folder of its own: the store, its index file, all vectors in one file
(float32, in the order of the memories), and a stamp with what it was made from. One whose stamp fits is used again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from tests.bench.lifted_embedder import NOISE, LiftedEmbedder
from tests.bench.scale_index import Indexed, indexed, write_index
from tests.bench.scale_rows import NOW_MS, StoreWriter, memories, memory_id
from tests.bench.scale_text import SEED, TextSource
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.local import LocalEmbedder
from tierdeck.migrate import SCHEMA_VERSION
from tierdeck.store import open_store
from tierdeck.vectors.unit_vectors import unit_rows

# Raise it when what is generated changes.
GENERATOR = 1
DIMENSIONS = 1_536
SIZES = {"1k": 1_000, "20k": 20_000, "100k": 100_000, "1M": 1_000_000}


@dataclass(frozen=True, slots=True)
class ScaleStore:
    """A built store: where it lies, how many memories it holds, how long each vector is."""

    folder: Path
    rows: int
    dimensions: int

    @property
    def path(self) -> Path:
        """The store itself; its index file lies beside it."""
        return self.folder / "memory.db"

    def vectors(self) -> NDArray[np.float32]:
        """All vectors, mapped from their file; row i is that of memory i."""
        return np.memmap(self.folder / "vectors.f32", np.float32, "r", shape=(self.rows, self.dimensions))

    def ids(self) -> list[str]:
        """The memories' ids, in the order of `vectors`."""
        return [memory_id(number) for number in range(self.rows)]


def scale_store(rows: int, data: Path, folder: Path, embedder: Embedder) -> ScaleStore:
    """The store of that many memories, built when there is no whole one of the same make in the folder."""
    target = folder / f"{rows}x{embedder.dimensions}"
    made = ScaleStore(target, rows, embedder.dimensions)
    stamp = _stamp(made, data, embedder)
    if _read_stamp(target) != stamp:
        part = target.with_name(f"{target.name}.part")
        for old in (part, target):
            shutil.rmtree(old, ignore_errors=True)
        part.mkdir(parents=True)
        _build(ScaleStore(part, rows, embedder.dimensions), TextSource(data), embedder)
        part.rename(target)
        (target / "stamp.json").write_text(json.dumps(stamp, indent=1))
    _bring_up_to_date(made, embedder)
    return made


def default_folder() -> Path:
    """Where stores are kept when no folder is named."""
    return user_cache_path("tierdeck-bench") / "scale"


def _build(made: ScaleStore, source: TextSource, embedder: Embedder) -> None:
    began = time.perf_counter()
    writer = StoreWriter(made.path)
    rows: list[Indexed] = []
    with (made.folder / "vectors.f32").open("wb") as file:
        for block in memories(source, made.rows):
            writer.add(block)
            rows.extend(indexed(values) for values in block)
            file.write(_vectors(embedder, [values[3] for values in block]).data)
    _say(began, "rows and vectors")
    seen = writer.finish()
    _say(began, "store")
    batch_rows = EmbeddingSettings().batch_rows
    with open_store(made.path) as store:
        write_index(store, embedder, rows, made.vectors(), seen=seen, batch_rows=batch_rows, at_ms=NOW_MS)
    _say(began, "index")


def _bring_up_to_date(made: ScaleStore, embedder: Embedder) -> None:
    """A run of the indexer that finds nothing to embed: it makes what newer versions keep beside the vectors."""
    with open_store(made.path) as store:
        report = run_indexer(store, embedder, EmbeddingSettings())
    if report.embedded or report.pending or report.stopped:
        raise SystemExit(f"{made.folder}: the indexer does not take its vectors for whole: {report}")


def _vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    vectors, is_fit = unit_rows(embedder.embed(texts))
    if not is_fit.all():
        raise SystemExit(f"no vector for {texts[int(np.argmin(is_fit))][:80]!r}")
    return np.ascontiguousarray(vectors)


def _stamp(made: ScaleStore, data: Path, embedder: Embedder) -> dict[str, object]:
    digest = blake2b(digest_size=16)
    for path in sorted(data.glob("*/docs.jsonl")):
        digest.update(path.read_bytes())
    return {
        "generator": GENERATOR,
        "rows": made.rows,
        "dimensions": made.dimensions,
        "model": embedder.name,
        "noise": NOISE,
        "seed": SEED,
        "documents": digest.hexdigest(),
        "schema": SCHEMA_VERSION,
        **{name: version(name) for name in ("wordllama", "sqlite-vec")},
    }


def _read_stamp(folder: Path) -> object:
    try:
        return json.loads((folder / "stamp.json").read_text())
    except (OSError, ValueError):
        return None


def _say(began: float, what: str) -> None:
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"  {what}: {time.perf_counter() - began:.0f} s, peak memory with mapped files {peak_mb:,} MB", flush=True
    )


def asked_sizes(text: str) -> list[int]:
    """Sizes as given on the command line, `1k,100k,1M` or plain numbers."""
    try:
        return [SIZES.get(part) or int(part) for part in text.split(",")]
    except ValueError:
        raise SystemExit(f"--sizes {text}: give some of {', '.join(SIZES)}, or whole numbers") from None


def add_arguments(parser: argparse.ArgumentParser, sizes: str) -> None:
    """What every program that uses these stores can be told."""
    parser.add_argument("--data", default=os.environ.get("TIERDECK_BENCH_DATA"), help="folder of collections")
    parser.add_argument("--sizes", default=sizes)
    parser.add_argument("--dir", type=Path, default=default_folder(), help="where built stores are kept")
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, "1k,100k,1M")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("give --data DIR, or set TIERDECK_BENCH_DATA")
    embedder = LiftedEmbedder(LocalEmbedder(), asked.dimensions)
    for rows in asked_sizes(asked.sizes):
        began = time.perf_counter()
        made = scale_store(rows, Path(asked.data), asked.dir, embedder)
        sizes = {path.name: path.stat().st_size for path in sorted(made.folder.iterdir())}
        print(
            f"{made.folder}: {time.perf_counter() - began:.0f} s, "
            + ", ".join(f"{k} {v:,}" for k, v in sizes.items())
        )


if __name__ == "__main__":
    main()
