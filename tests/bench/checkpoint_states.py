"""States of a session as the benchmark of checkpoints saves them: small, typical and large; the same each time.

Text is the standard library's own, documentation first, so that it compresses as what an agent reads does. A state
is `{"variables": ..., "messages": ...}`.
"""

from __future__ import annotations

import pydoc_data.topics
import sysconfig
from functools import cache
from pathlib import Path

import numpy as np

from tierdeck.checkpoint import Checkpoint

State = dict[str, dict[str, object] | list[object]]

_CHUNK = 20_000


def small() -> State:
    """A few turns."""
    text = library_text()
    variables: dict[str, object] = {
        "context": text[:4_000],
        "n": 3,
        "answers": {"a": text[:300], "b": [1, 2.5, None]},
    }
    return {"variables": variables, "messages": messages(6, 300)}


def typical() -> State:
    """A context of 2 MB, its chunks, answers, an array and 100 messages: 7.5 MB raw."""
    text = library_text()
    context = text[:2_000_000]
    answers = [
        {"chunk": number, "question": "what is said here?", "answer": text[at : at + 1_000], "score": number / 7}
        for number, at in enumerate(range(2_000_000, 4_200_000, 1_000))
    ]
    variables: dict[str, object] = {
        "context": context,
        "chunks": pieces(context),
        "answers": answers,
        "vectors": vectors(400, 384),
        "n": 3,
    }
    return {"variables": variables, "messages": messages(100, 4_500)}


def large() -> State:
    """About 200 MB: text, tables of a million things, an array of 77 MB."""
    text = library_text()
    documents = {f"document {number}": text[number * 5_000 : number * 5_000 + 8_000_000] for number in range(11)}
    rows: list[object] = [
        {"id": number, "name": text[number * 7 : number * 7 + 60], "score": number / 3} for number in range(200_000)
    ]
    variables: dict[str, object] = {
        "documents": documents,
        "rows": rows,
        "vectors": vectors(50_000, 384),
        "n": 3,
    }
    return {"variables": variables, "messages": messages(2_000, 4_500)}


def one_among_many() -> State:
    """100 MB that don't compress and one number."""
    generator = np.random.default_rng(1)
    variables: dict[str, object] = {f"blob{number}": generator.bytes(10_000_000) for number in range(10)}
    return {"variables": variables | {"n": 3}, "messages": []}


def checkpoint_of(state: State) -> Checkpoint:
    """The state as a checkpoint."""
    variables, said = state["variables"], state["messages"]
    assert isinstance(variables, dict)
    assert isinstance(said, list)
    return Checkpoint(
        "bench", "00112233445566ff", 1_700_000_000_000_000_000, 5, repl_state=variables, messages=said
    )


@cache
def library_text() -> str:
    """At least 10 million characters of documentation and source."""
    folder = Path(sysconfig.get_path("stdlib"))
    parts = [str(text) for _, text in sorted(pydoc_data.topics.topics.items())]
    parts += [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.py"))]
    text = "\n".join(parts)
    return text * (1 + 10_000_000 // len(text))


def pieces(text: str) -> list[str]:
    """The text cut up."""
    return [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]


def vectors(count: int, width: int) -> np.ndarray:
    """As an embedding model gives them."""
    return np.random.default_rng(0).standard_normal((count, width), "f4")


def messages(count: int, size: int) -> list[object]:
    """A conversation."""
    text = library_text()
    places = [(5_000_000 + number * size) % (len(text) - size) for number in range(count)]
    return [
        {"role": "assistant" if number % 2 else "user", "content": text[at : at + size]}
        for number, at in enumerate(places)
    ]
