"""New processes: how long the first answer takes from the start of the interpreter, and what memory search holds.

    python -m tests.bench.search_process ours|vec0|imports|memory STORE QUESTIONS STARTED

QUESTIONS is a JSON file: a list of [text, vector as numbers]. STARTED is the clock before the process began; all
processes of a machine share it. vec0's process loads nothing of ours but the connection.
"""

from __future__ import annotations

import array
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 7
WANTED = 50
_NEAREST = "SELECT node_id FROM node_embeddings WHERE embedding MATCH ? AND k = ?"
_Question = tuple[str, list[float]]


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Medians in milliseconds: from the start of the process to the answer, and from the opening of the files."""

    whole_ms: float
    from_open_ms: float


@dataclass(frozen=True, slots=True)
class Memory:
    """Private memory in MB that search adds to a process that has the store open and found memories by word."""

    numpy_mb: float
    held_mb: float
    peak_mb: float


def first_answers(store: Path, questions: Path) -> tuple[FirstAnswers, FirstAnswers, FirstAnswers]:
    """Ours, plain vec0's, and what ours imports alone: new processes, after one each that leaves its bytecode."""
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "vec0": [], "imports": []}
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(ROUNDS + 1):
            for who, found in times.items():
                whole_ms, from_open_ms = _run(who, store, questions, Path(bytecode))
                if number:
                    found.append((whole_ms, from_open_ms))
    ours, vec0, imports = (
        FirstAnswers(*(statistics.median(column) for column in zip(*found, strict=True)))
        for found in times.values()
    )
    return ours, vec0, imports


def memory_above_store(store: Path, questions: Path) -> Memory:
    """Measured in a process of its own."""
    with tempfile.TemporaryDirectory() as bytecode:
        return Memory(*_run("memory", store, questions, Path(bytecode)))


def _run(who: str, store: Path, questions: Path, bytecode: Path) -> list[float]:
    """One process. An installed program has its bytecode beside it, which not every working tree has."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [
        sys.executable,
        "-m",
        "tests.bench.search_process",
        who,
        str(store),
        str(questions),
        str(time.perf_counter()),
    ]
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [float(number) for number in json.loads(done.stdout)]


def _ours(store_path: Path, question: _Question) -> float:
    """When the opening of the files began; ends with the answer."""
    from tierdeck.search import hybrid_search
    from tierdeck.store import open_store

    began = time.perf_counter()
    import numpy as np

    from tierdeck.vectors.vector_index import open_vector_index

    text, vector = question
    with open_store(store_path) as store:
        index = open_vector_index(store)
        assert index is not None
        with index:
            answer = hybrid_search(store, text, index=index, query_vector=np.array(vector, np.float32))
    assert answer.hits
    assert answer.degraded is None
    return began


def _imports(_store_path: Path, _question: _Question) -> float:
    """The same modules, and nothing asked of them."""
    for module in (
        "tierdeck.search",
        "tierdeck.store",
        "tierdeck.vectors.vector_index",
        "tierdeck.search.meaning.meaning_leg",
    ):
        import_module(module)
    return time.perf_counter()


def _vec0(store_path: Path, question: _Question) -> float:
    """The same of plain vec0."""
    import apsw

    began = time.perf_counter()
    index = store_path.with_name(f"{store_path.name}-index")
    vector = array.array("f", question[1]).tobytes()
    with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as conn:
        conn.pragma("mmap_size", 1 << 40)
        conn.enable_load_extension(True)
        # Its package would import numpy.
        spec = find_spec("sqlite_vec")
        assert spec is not None
        assert spec.submodule_search_locations
        conn.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
        assert len(conn.execute(_NEAREST, (vector, WANTED)).fetchall()) == WANTED
    return began


def _memory(store_path: Path, questions: Sequence[_Question]) -> list[float]:
    from tierdeck.search import hybrid_search
    from tierdeck.store import open_store

    with open_store(store_path) as store:
        for text, _ in questions:
            hybrid_search(store, text, alpha=0)
        at_words = _private_mb()
        import numpy as np

        at_numpy = _private_mb()
        from tierdeck.vectors.vector_index import open_vector_index

        index = open_vector_index(store)
        assert index is not None
        with index, _Peak() as peak:
            for text, vector in questions:
                hybrid_search(store, text, index=index, query_vector=np.array(vector, np.float32))
            held = _private_mb()
    return [at_numpy - at_words, held - at_words, peak.mb - at_words]


class _Peak:
    """The most private memory while it is open, looked at every 2 ms."""

    def __init__(self) -> None:
        self.mb = 0.0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.002):
            self.mb = max(self.mb, _private_mb())


def _private_mb() -> float:
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found.group(1)) / 1e3


def main() -> None:
    """One measurement, as JSON on one line."""
    who, store, questions = sys.argv[1], Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
    if who == "memory":
        result = _memory(store, questions)
    else:
        opened = {"ours": _ours, "vec0": _vec0, "imports": _imports}[who](store, questions[0])
        answered = time.perf_counter()
        result = [1e3 * (answered - began) for began in (float(sys.argv[4]), opened)]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
