"""The keyword side of a search: which words are looked for, which memories they pick, what each memory earns.

Two sources add up: the store's full-text index for whole words, and a look inside words for what that index can't
represent. Spec: SPEC-09.04
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import apsw

from tierdeck.errors import InvalidValueError
from tierdeck.search.answer.fusion import keyword_scores, ranks
from tierdeck.search.answer.hit import KeywordPart, MissingWord
from tierdeck.search.answer.marks import Marker
from tierdeck.search.query.fts import Match, match_words, quoted
from tierdeck.search.query.query import Query
from tierdeck.search.query.terms import MAX_MEASURED, Terms, choose_terms
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.condition import Condition
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.search.rows.word_counts import WordCounts
from tierdeck.search.words.attempts import MIN_PREFIX_CHARS, Attempt, attempts, growing_word
from tierdeck.search.words.inside_hit import Inside, InsideHit
from tierdeck.search.words.inside_look import InsideLook
from tierdeck.search.words.large_pool import PICK_ROWS, LargePool
from tierdeck.search.words.missing_words import MAX_MISSING, missing_words
from tierdeck.search.words.near_written import NearWritten
from tierdeck.search.words.prefix_words import PrefixWords
from tierdeck.search.words.text_hits import TextHits
from tierdeck.search.words.typed_word import completion
from tierdeck.search.words.word_hit import WordHit
from tierdeck.search.words.word_source import WordSource
from tierdeck.search.words.written_forms import WrittenForms
from tierdeck.terms.normal_form import normal_form
from tierdeck.terms.pieces import MAX_PIECE_CHARS, Piece, pieces_of
from tierdeck.terms.term_index import TermIndex

IDLE_WORTH = 0.5
# In a large store rare words alone pick; so many times more are taken before all words score them.
PRESELECT_FACTOR = 2
NEWEST_ONLY = "words in very many memories: looked at the newest of those only"
_NO_HIT = WordHit(0.0, frozenset(), 0)


class KeywordLeg:
    """The keyword side of one query inside one snapshot: `pool` first, then `parts` of whatever is a candidate."""

    def __init__(
        self,
        conn: apsw.Connection,
        query: Query,
        condition: Condition,
        look: InsideLook,
        index: TermIndex | None,
        *,
        memories: ReadMemories,
        but_excluded: Condition,
        exclusion: Exclusion | None,
        store_rows: int,
        is_typing: bool,
    ) -> None:
        self._conn = conn
        self._query = query
        self._condition = condition
        self._is_typing = is_typing
        self._store_rows = store_rows
        self._tokenizer = Tokenizer(conn)
        self._words = WordSource(conn)
        self._counts = WordCounts(conn, store_rows)
        self._texts = TextHits(conn, memories, self._counts, self._tokenizer)
        self._large: LargePool | None = None
        self._exclusion: Exclusion | None = None
        if self._counts.is_large and not query.is_raw:
            self._condition, self._exclusion = but_excluded, exclusion
            self._large = LargePool(conn, self._words, memories, self._texts.hits, but_excluded, exclusion)
        self._look = look
        self._index = index
        self._attempt = Attempt(Terms(()), None)
        self._inside = Inside({})
        self._is_dead_end = False
        self._has_found = False

    @property
    def match(self) -> Match | None:
        """What FTS5 was asked in the end; None when there was no word to ask for."""
        return self._attempt.match

    @property
    def is_large(self) -> bool:
        """Whether the store is so large that common words are not followed to their end."""
        return self._counts.is_large

    @property
    def notes(self) -> tuple[str, ...]:
        """What the operator has to know about which words were looked for."""
        inside = (self._inside.note,) if self._inside.note else ()
        cut = (NEWEST_ONLY,) if self._large is not None and self._large.is_cut else ()
        return (*self._attempt.terms.notes, *self._attempt.notes, *cut, *inside)

    def missing(self) -> tuple[MissingWord, ...]:
        """The words of the query that stand in no memory, and those near to them that do.

        Not what was found inside other words; the word that is being typed only when nothing was found, and no word
        begins so.
        """
        terms = self._attempt.terms.used
        growing = growing_word(self._query) if self._is_typing and not self._leads_nowhere else None
        inside = {piece.term for hit in self._inside.hits.values() for piece, _ in hit.earned}
        lost = [
            term
            for number, term in enumerate(terms)
            if not term.rows and number not in inside and term.text != growing
        ]
        lost = [term for term in lost[:MAX_MISSING] if not self._stands_inside_hidden(term.text)]
        near = NearWritten(self._conn, self._tokenizer, self._forms, self._index, self._store_rows)
        return missing_words(near, lost)

    def _stands_inside_hidden(self, word: str) -> bool:
        """Whether a memory that the filters hide holds it inside a word; not looked at in a large store's texts."""
        if (self._index is None and self._counts.is_large) or len(word) > MAX_PIECE_CHARS:
            return False
        part = Piece(word, "part", None, is_prefix=self._is_typing)
        return bool(self._look.find([part], (), Condition("1", ()), 1).hits)

    @property
    def _forms(self) -> WrittenForms:
        is_kept_out = self._exclusion.holds if self._exclusion else None
        return WrittenForms(self._conn, self._tokenizer, self._condition, is_kept_out)

    @property
    def _leads_nowhere(self) -> bool:
        return self._is_dead_end and not self._has_found

    def marker(self) -> Marker:
        """Finds in an excerpt what this query matched."""
        terms, prefix = self._attempt.terms, self._attempt.prefix
        return Marker(
            self._tokenizer,
            frozenset(token for term in (*terms.used, *terms.returned) for token in term.key),
            None if prefix is None else "".join(terms.used[prefix].key),
            self._inside.pieces,
        )

    def pool(self, wanted_rows: int, limit_rows: int) -> list[str]:
        """The ids of the best matches, at most `limit_rows` from each source.

        The strictest way of asking that finds `wanted_rows` is taken.

        Raises:
            InvalidValueError: a raw expression is no FTS5 syntax.
        """
        if self._query.is_raw:
            return self._raw_pool(limit_rows)
        words = self._completed(self._query.counted_words) if self._is_typing else self._query.counted_words
        if self._large is not None and self._index is not None:
            self._counts.learn(self._index, {word: self._tokenizer.key(word) for word, _ in words[:MAX_MEASURED]})
        terms = choose_terms(
            words,
            key_of=self._tokenizer.key,
            count_rows=self._counts.rows_of_word,
            store_rows=self._store_rows,
            budget_rows=PICK_ROWS if self._large else None,
        )
        self._query = self._with_other_forms(self._query)
        ids: list[str] = []
        for attempt in attempts(
            self._query, terms, self._has_words, is_typing=self._is_typing, words_with=self._words_with()
        ):
            if ids and attempt.last_resort:
                break
            self._attempt = attempt
            best = self._best(attempt, limit_rows) if attempt.match else []
            ids = list(dict.fromkeys((*ids, *best)))  # what a stricter way found stays in
            if len(ids) >= wanted_rows:
                break
        return list(dict.fromkeys((*self._the_best_of(ids, limit_rows), *self._inside_pool(limit_rows))))

    def parts(self, ids: Collection[str]) -> dict[str, KeywordPart]:
        """The keyword side of each of the memories, exact; those that match nothing are left out."""
        words = self._hits(self.match, ids) if self.match else {}
        self._inside = self._look.of(self._inside, ids)
        inside = self._inside_worth(ids, words)
        telling = {
            node_id: words.get(node_id, _NO_HIT).bm25 + inside.get(node_id, 0.0) for node_id in {**words, **inside}
        }
        idle, weight = self._idle(ids, telling)
        bm25 = {
            node_id: words.get(node_id, _NO_HIT).bm25 + weight * idle.get(node_id, _NO_HIT).bm25
            for node_id in {**telling, **idle}
        }
        self._has_found = bool(bm25)
        raw = {node_id: bm25[node_id] + inside.get(node_id, 0.0) for node_id in bm25}
        best = max(raw.values(), default=0.0)
        counts = {node_id: self._matched(node_id, words.get(node_id), idle.get(node_id)) for node_id in raw}
        scores = keyword_scores(raw, best)
        places = ranks(scores)
        return {
            node_id: KeywordPart(
                score=score,
                bm25=bm25[node_id],
                best_bm25=best,
                matched_terms=counts[node_id][0],
                asked_terms=counts[node_id][1],
                rank=places[node_id],
                inside=inside.get(node_id, 0.0),
            )
            for node_id, score in scores.items()
        }

    def _inside_worth(self, ids: Collection[str], words: Mapping[str, WordHit]) -> dict[str, float]:
        return {
            node_id: _worth(hit, words.get(node_id))
            for node_id in ids
            if (hit := self._inside.hits.get(node_id)) is not None
        }

    def _best(self, attempt: Attempt, limit_rows: int) -> list[str]:
        match, terms = attempt.match, attempt.terms
        if match is None:
            return []
        if self._large is None:
            return self._words.best(match.pool, self._condition, limit_rows)
        rows = sum(term.rows for term in terms.used if term.picks)
        rows += sum(self._counts.rows_of_word(term.text, self._store_rows) for term in terms.returned)
        rows += sum(self._counts.rows_of_word(form, self._store_rows) for form in self._query.forms)
        if attempt.prefix is not None:
            rows += self._counts.rows(f"{quoted(terms.used[attempt.prefix].text)} *", self._store_rows)
        return self._large.best(match, rows, PRESELECT_FACTOR * limit_rows)

    def _the_best_of(self, ids: list[str], limit_rows: int) -> list[str]:
        """Of what a large store's rare words picked those that all words together score best."""
        if self._large is None or self.match is None or len(ids) <= limit_rows:
            return ids
        hits = self._hits(self.match, ids)
        # Words that say nothing and came back pick too, and are no part of these hits.
        return sorted(ids, key=lambda node_id: -hits.get(node_id, _NO_HIT).bm25)[:limit_rows]

    def _hits(self, match: Match, ids: Collection[str]) -> dict[str, WordHit]:
        return self._words.hits(match, ids) if self._large is None else self._texts.hits(match, ids)

    def _words_with(self) -> Callable[[str], list[str]]:
        """Gives the words that a word may become; of a small store none, which leaves that to FTS5."""
        if self._large is None or self._index is None:
            return lambda _: []
        return PrefixWords(self._tokenizer, self._index, self._counts).words_with

    def _completed(self, words: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
        """The words, the last one as what is being typed where only the texts can tell that."""
        typed = growing_word(self._query)
        if typed not in dict(words) or len(typed) < MIN_PREFIX_CHARS or self._is_beginning(typed):
            return words
        completed = completion(typed, self._forms, self._tokenizer)
        self._is_dead_end = completed is None
        return [(completed if completed and word == typed else word, repeats) for word, repeats in words]

    def _is_beginning(self, typed: str) -> bool:
        # FTS5 joins all that begin so, which a large store's list of words spares.
        return bool(self._words_with()(typed)) or self._forms.begin(typed)

    def _with_other_forms(self, query: Query) -> Query:
        """The query with those typed forms that the index tells from the normal one; a phrase in the one it has."""
        forms = [
            form for form in query.forms if self._tokenizer.key(form) != self._tokenizer.key(normal_form(form))
        ]
        typed = {normal_form(form): form for form in query.forms}
        phrases = tuple(self._in_a_form(phrase, typed.get(phrase, phrase)) for phrase in query.phrases)
        return replace(query, forms=tuple(forms), phrases=phrases)

    def _in_a_form(self, phrase: str, typed: str) -> str:
        """The phrase, typed so, in the first form in which a memory holds it: it can be asked for in one only."""
        if typed.isascii():
            return phrase
        forms = (phrase, typed, unicodedata.normalize("NFD", phrase))
        return next((form for form in forms if self._counts.rows_of_word(form, 1)), phrase)

    def _has_words(self, text: str) -> bool:
        return bool(self._tokenizer.key(text))

    def _idle(self, ids: Collection[str], telling: Mapping[str, float]) -> tuple[dict[str, WordHit], float]:
        """What words that say nothing earn, when they came back, and the weight that keeps that under all else."""
        words = [term.text for term in self._attempt.terms.returned]
        if not words:
            return {}, 0.0
        idle = self._hits(match_words(words, picking=range(len(words))), ids)
        most = max((hit.bm25 for hit in idle.values()), default=0.0)
        weakest = min(telling.values(), default=0.0)
        return idle, IDLE_WORTH * weakest / most if telling and most else 1.0

    def _matched(self, node_id: str, hit: WordHit | None, idle: WordHit | None) -> tuple[int, int]:
        """How many of how many words and signs asked for the memory holds."""
        terms = self._attempt.terms
        if not self._inside.pieces and not self._query.is_raw:
            matched = len(hit.words) if hit else 0
            return matched + (len(idle.words) if idle else 0), len(terms.used) + len(terms.returned)
        own = [piece for piece in self._inside.pieces if piece.term is None and piece.kind not in ("name", "whole")]
        held = {piece for piece, _ in self._inside.hits.get(node_id, InsideHit()).earned}
        words = (hit.words if hit else frozenset()) | self._complete_terms(held)
        asked = hit.asked if hit and self._query.is_raw else len(terms.used) + len(terms.returned)
        matched = len(words) + (len(idle.words) if idle else 0) + sum(piece in held for piece in own)
        return matched, asked + len(own)

    def _complete_terms(self, held: Collection[Piece]) -> frozenset[int]:
        """The words all of whose pieces the memory holds."""
        asked = {piece.term for piece in self._inside.pieces if piece.term is not None}
        missing = {piece.term for piece in self._inside.pieces if piece not in held}
        return frozenset(asked - missing)

    def _inside_pool(self, limit_rows: int) -> list[str]:
        terms = self._attempt.terms.used
        words = [term.text for term in terms]
        pieces = pieces_of(words, self._query.pieces, self._query.words_text, prefix=self._attempt.prefix)
        self._inside = self._look.find(pieces, terms, self._condition, limit_rows)
        if self._exclusion is not None:
            out = self._exclusion.holding(self._inside.hits.keys())
            kept = {node_id: hit for node_id, hit in self._inside.hits.items() if node_id not in out}
            self._inside = replace(self._inside, hits=kept)
        hits = self._inside.hits
        return sorted(hits, key=lambda node_id: (-_worth(hits[node_id], None), node_id))[:limit_rows]

    def _raw_pool(self, limit_rows: int) -> list[str]:
        text = self._query.words_text
        if not text.strip():
            return []
        try:
            ids = self._words.best(text, self._condition, limit_rows)
        except apsw.SQLError as e:
            raise InvalidValueError(
                f"search with FTS5 syntax: {e}, in {text[:80]!r}",
                hint="without raw syntax any text can be searched for",
            ) from e
        self._attempt = replace(self._attempt, match=Match(pool=text, scored=text))
        return ids


def _worth(inside: InsideHit | None, hit: WordHit | None) -> float:
    """What the pieces earned, without those of words that stand whole in the memory; signs always count."""
    if inside is None:
        return 0.0
    whole = hit.words if hit else frozenset()
    return sum(worth for piece, worth in inside.earned if piece.kind == "sign" or piece.term not in whole)
