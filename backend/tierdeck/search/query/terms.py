"""Which words of a query are looked for, and which of them pick memories. Pure.

10,000 words joined with OR took 59 s at 100,000 memories, and common words cost the most. Words that say nothing
are left out; words of every fifth memory pick none while rarer ones are there, but add to the scores of those
picked: leaving them out altogether cost 0.02 of nDCG@10 on Cranfield.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tierdeck.search.query.stop_words import is_stop_word

MAX_TERMS = 64
MAX_MEASURED = 512  # words that occur; one that does not costs 0.02 ms to find out
ROUGH_ROWS = 200
COMMON_PART = 0.2
# Below this a fifth of the store is a handful of memories, and being in a handful makes no word common.
COMMON_FROM_ROWS = 100


@dataclass(frozen=True, slots=True)
class Term:
    """One word to look for. `key` is what the index compares, `rows` in how many memories it stands at least.

    A word that does not pick adds to the score of memories that others picked. `repeats` is how often the query
    says it: it counts so often, up to a bound.
    """

    text: str
    key: tuple[str, ...]
    rows: int = 0
    picks: bool = True
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Terms:
    """The words that are looked for, in the order typed, and those that say nothing.

    The latter are `left_out`, or `returned` when too little is found without them: then they pick too, but never
    lift a memory over one that holds a word that tells.
    """

    used: tuple[Term, ...]
    left_out: tuple[Term, ...] = ()
    returned: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()

    def with_all(self) -> Terms:
        """The same, where every word picks, those that were left out too."""
        used = tuple(replace(term, picks=True) for term in self.used)
        return replace(self, used=used, left_out=(), returned=self.left_out)

    @property
    def common(self) -> tuple[Term, ...]:
        """The words that pick no memory, or are not looked for at all."""
        return (*(term for term in self.used if not term.picks), *self.left_out)


def choose_terms(
    words: Iterable[tuple[str, int]],
    *,
    key_of: Callable[[str], tuple[str, ...]],
    count_rows: Callable[[str, int], int],
    store_rows: int,
    budget_rows: int | None = None,
) -> Terms:
    """Pick the words to look for.

    Args:
        words: as typed, and how often; those that the index folds or stems to the same are one.
        key_of: what the index makes of a word; empty when it sees no word there.
        count_rows: in how many memories a word stands, counting no further than the limit given.
        store_rows: how many memories there are.
        budget_rows: of how many memories the words that pick may be, added up; the rarest pick.
    """
    distinct: dict[tuple[str, ...], Term] = {}
    for word, repeats in words:
        key = key_of(word)
        if key:
            before = distinct.get(key, Term(word, key, repeats=0))
            distinct[key] = replace(before, repeats=before.repeats + repeats)
    terms, notes = _bounded(list(distinct.values()), count_rows)
    telling = [term for term in terms if not is_stop_word(term.text)] or terms
    limit = int(store_rows * COMMON_PART) + 1
    most = store_rows if budget_rows is not None else limit
    telling = [replace(term, rows=count_rows(term.text, most)) for term in telling]
    if budget_rows is not None:
        telling = _within(telling, budget_rows)
    elif store_rows >= COMMON_FROM_ROWS and any(0 < term.rows < limit for term in telling):
        telling = [replace(term, picks=term.rows < limit) for term in telling]
    kept = {term.key for term in telling}
    left_out = tuple(term for term in terms if term.key not in kept)
    return Terms(tuple(telling), left_out, notes=tuple(notes))


def _within(terms: list[Term], budget_rows: int) -> list[Term]:
    """The rarest words pick, as many as the budget takes; where it takes none that occurs, all of them."""
    picking: set[tuple[str, ...]] = set()
    total = 0
    for term in sorted(terms, key=lambda term: term.rows):
        total += term.rows
        if total > budget_rows:
            break
        picking.add(term.key)
    if not any(term.rows and term.key in picking for term in terms):
        return terms
    return [replace(term, picks=term.key in picking) for term in terms]


def _bounded(terms: list[Term], count_rows: Callable[[str, int], int]) -> tuple[list[Term], list[str]]:
    """At most `MAX_TERMS`: the rarest and most repeated that occur at all, then others, in the order typed."""
    if len(terms) <= MAX_TERMS:
        return terms, []
    telling = [term for term in terms if not is_stop_word(term.text)] or terms
    counted: list[Term] = []
    occurring = 0
    for term in sorted(telling, key=lambda term: -len(term.text)):  # long words are rarer
        counted.append(replace(term, rows=count_rows(term.text, ROUGH_ROWS)))
        occurring += counted[-1].rows > 0
        if occurring == MAX_MEASURED:
            break
    rarest = sorted(counted, key=lambda term: (term.rows == 0, term.rows / term.repeats))[:MAX_TERMS]
    kept = {term.key for term in rarest}
    left_out = [term for term in terms if term.key not in kept]
    note = f"looked for the {len(rarest)} rarest of {len(terms):,} words, without {listed(left_out)}"
    return [term for term in terms if term.key in kept], [note]


def listed(terms: Sequence[Term], limit: int = 8) -> str:
    """The words for a sentence, cut after some."""
    shown = ", ".join(term.text[:40] for term in terms[:limit])
    return shown if len(terms) <= limit else f"{shown}, … ({len(terms)})"
