"""What a search gives back: hits that explain themselves, and the answer they stand in. Values only.

Spec: SPEC-09.04
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tierdeck.model import NodeRow
from tierdeck.search.query.query import Query

Flag = Literal["no-vector", "stale-vector", "embedding-off", "archived", "secret"]


@dataclass(frozen=True, slots=True)
class KeywordPart:
    """The keyword side of one hit.

    `score` is 0..1: bm25 of this memory over the best bm25 of the filtered pool. `bm25` and `best_bm25` are raw
    and positive (SQLite's sign turned round). `rank` counts from 1 among all keyword matches that were scored.
    `inside` is what was earned beside bm25, on its scale, by pieces that the full-text index can't represent (part
    of a compound name, Chinese, `C++`); `best_bm25` is the best sum of both: score = (bm25 + inside) / best_bm25.
    """

    score: float
    bm25: float
    best_bm25: float
    matched_terms: int
    asked_terms: int
    rank: int
    inside: float = 0.0


@dataclass(frozen=True, slots=True)
class SemanticPart:
    """The meaning side of one hit: 0..1, and the raw and centred cosine it comes from.

    `rank` counts from 1 among all memories with a vector that were scored.
    """

    score: float
    cosine: float
    centred_cosine: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found. `score` = alpha x semantic + (1 - alpha) x keyword; a missing side adds 0.

    `keyword` None means no word of the query stands in it; `semantic` None that it has no valid vector (see
    `flags`) or that meaning was not asked for. `matches` are (start, end) character offsets in `row.excerpt`.
    """

    row: NodeRow
    score: float
    keyword: KeywordPart | None
    semantic: SemanticPart | None
    flags: frozenset[Flag] = frozenset()
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class HiddenByFilter:
    """How many matching memories one filter alone keeps out.

    `filter_text` is what was typed (`tier:task`, `-word`) or what would be typed for a filter set elsewhere;
    `is:archived` stands for the rule that leaves the archive out: typing it shows those memories. `is_least`: not
    all matches were counted, there may be more.
    """

    filter_text: str
    rows: int
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class MissingWord:
    """A word of the query that stands in no memory, and the words nearest to it that do, as written, nearest first.

    `hidden` are such words too, of memories that the filters or the rule about the archive keep out.
    """

    word: str
    near: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits in the order of the score shown, and what an operator has to know to trust them.

    `alpha` is the weight in force, `asked_alpha` the one asked for; they differ when meaning is unavailable, and
    then `degraded` says why. `hits` are at most `limit_rows`; `candidates` holds every scored candidate, so that
    `rerank` moves alpha without a new query, and `has_both_sides` says whether that can be done. `notes` are
    sentences for the operator ("left out common words: ..."), in order of weight; `hidden` is filled when fewer
    than `limit_rows` are left. `model` made the vectors that were compared. `is_browse`: nothing was asked for, and
    the newest memories are shown. `store_rows` counts every memory of the store, archived ones too. `missing` lists
    words that stand in no memory at all, filtered out or not, but for the word that is just being typed; it is
    filled when fewer than `limit_rows` hits hold a word of the query. `candidates` have no `matches` yet, and no
    flag for a secret: `dressed` gives one that is to be shown both; None where they have them. `marks` gives the
    (start, end) of what was looked for in any text; None when it was no search. `meaning_note` is among the notes
    while alpha is 1: how many memories have no vector, and are not found then.
    """

    query: Query
    alpha: float
    asked_alpha: float
    hits: tuple[Hit, ...]
    candidates: tuple[Hit, ...]
    limit_rows: int
    degraded: str | None = None
    notes: tuple[str, ...] = ()
    hidden: tuple[HiddenByFilter, ...] = ()
    model: str | None = None
    elapsed_ms: float = 0.0
    is_browse: bool = False
    store_rows: int = 0
    has_both_sides: bool = False
    missing: tuple[MissingWord, ...] = ()
    dressed: Callable[[Hit], Hit] | None = field(default=None, repr=False, compare=False)
    meaning_note: str | None = None
    marks: Callable[[str], tuple[tuple[int, int], ...]] | None = field(default=None, repr=False, compare=False)
