"""Random queries against a real store, and what must hold for each of them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

import apsw

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeFilter
from tierdeck.search import SearchAnswer, hybrid_search
from tierdeck.search.query.terms import MAX_TERMS
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.store import Store
from tierdeck.terms.words import split_words

MEMORIES = (
    "fix the wrong-book page",
    "getShippingMethodIdFromCheckout is slow",
    "port C++ module, not C#",
    "设备清单在NAS上",
    "user dislikes `rm -rf` and tar -xzf",
    "agents don't retry",
    "AND OR NOT NEAR",
    "likes 👍 and über-café done👍",
    "v1.12.3 of src/search/app.py reads .env",
    "сервер не отвечает, दोबारा करो, 한국어를 찾다",
    "the of and to a in",
)
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
SYNTAX = (
    "AND", "OR", "NOT", "NEAR(", "NEAR/3", "*", "^", '"', "-", "--", "+", "tier:", "type:fact", "conf>", "conf>0.5",
    "meta.", "meta:", "meta.k=v", "since:7d", "until:", "tag:", "is:archived", 'session:"', '-"', "content:",
    "node_id:", "{a}:", "rowid:", "content_fts", "bm25(", "' OR 1=1 --", "; DROP TABLE nodes", "NEAR(a b, 2)",
)  # fmt: skip
PLANES = (
    (0x01, 0x20), (0x20, 0x250), (0x300, 0x370), (0x370, 0x2000), (0x2000, 0x3000), (0x3000, 0xD7FF),
    (0xD800, 0xDFFF), (0xE000, 0xFFFF), (0x1F300, 0x1FAFF), (0x10000, 0x10FFFF),
)  # fmt: skip
# Statements that one search may make beside one for each word of a long text, which is counted in 0.02 ms.
MAX_STATEMENTS = 700
MAX_EXCLUDED = 16
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


class QueryFuzzer:
    """Asks a store random queries; `outcomes` counts what became of them. The first bad one fails an assertion."""

    def __init__(self, store: Store, seed: int) -> None:
        self._rng = random.Random(seed)
        self._store = store
        self._expressions: set[str] = set()
        self._statements = 0
        self.outcomes: Counter[str] = Counter()
        words = [word for text in MEMORIES for word in split_words(text)]
        more = (" ".join(self._rng.sample(words, 6)) for _ in range(300))
        odd = (_storable(self._unicode(self._rng.randrange(3, 40))) for _ in range(60))
        texts = [*MEMORIES, *more, *(text for text in odd if text.strip())]
        self._texts = list(zip(remember(store, *texts), texts, strict=True))
        self._words = sorted({word for text in texts for word in split_words(text)})
        self._keys = store.read(self._watch)

    def run(self, count: int) -> None:
        """Ask so many queries of every length."""
        for _ in range(count):
            text = self._query()
            is_typing = self._rng.random() < 0.3
            self._expressions.clear()
            self._statements = 0
            answer = hybrid_search(self._store, text, alpha=0, is_typing=is_typing)
            self._check(text, answer)
            if self._rng.random() < 0.1:
                self._check_word()

    def _check_word(self) -> None:
        """A word of a memory, asked for alone, finds that memory among all that hold it."""
        node_id, text = self._rng.choice(self._texts)
        held = set(self._tokenizer.words(text))
        words = [w for w in split_words(text) if len(w) >= 3 or set(self._tokenizer.key(w)) & held]
        if words:
            word = self._rng.choice(words)
            found = hybrid_search(self._store, word, alpha=0, limit_rows=1_000)
            assert node_id in [hit.row.id for hit in found.hits], (word, text)
            self.outcomes["a word alone finds its memory"] += 1

    def _check(self, text: str, answer: SearchAnswer) -> None:
        scores = [hit.score for hit in answer.hits]
        assert all(0.0 <= score <= 1.0 for score in scores), text
        assert scores == sorted(scores, reverse=True), text
        for hit in answer.hits:
            assert all(0 <= start < end <= len(hit.row.excerpt) for start, end in hit.matches), text
        self._check_work(text, answer)
        query = answer.query
        stands = [word for word in query.words if self._stands(word)]
        if stands and query.filter == NodeFilter() and not query.excluded:
            assert answer.hits, (text, stands)
            self.outcomes["a word of it stands in a memory, and is found"] += 1
        else:
            self.outcomes["browsed" if answer.is_browse else "found" if answer.hits else "nothing found"] += 1

    def _check_work(self, text: str, answer: SearchAnswer) -> None:
        most_statements = MAX_STATEMENTS + 2 * len(answer.query.words)
        assert self._statements <= most_statements, (self._statements, text[:200])
        most = max((len(set(_QUOTED.findall(one))) for one in self._expressions), default=0)
        assert most <= MAX_TERMS + MAX_EXCLUDED, (most, text[:200])
        keys = {self._tokenizer.key(word) for word in answer.query.words} - {()}
        if len(keys) > MAX_TERMS:
            assert any("rarest of" in note and "without" in note for note in answer.notes), text[:200]
            self.outcomes["too many words, and it said which were left out"] += 1

    def _stands(self, word: str) -> bool:
        key = self._tokenizer.key(word)
        return len(key) == 1 and key[0] in self._keys

    def _watch(self, conn: apsw.Connection) -> frozenset[str]:
        """Look on at what the store's one reader is asked from now on; and the words that it holds."""
        self._tokenizer = Tokenizer(conn)
        texts = [str(row[0]) for row in conn.execute("SELECT content FROM nodes")]
        conn.exec_trace = self._saw
        return frozenset(word for text in texts for word in self._tokenizer.words(text))

    def _saw(self, _: apsw.Cursor, sql: str, bindings: apsw.Bindings | None) -> bool:
        self._statements += 1
        if "MATCH" in sql and isinstance(bindings, Sequence):
            self._expressions.update(str(value) for value in bindings[:1])
        return True

    def _query(self) -> str:
        pieces = self._rng.choices((1, 2, 3, 5, 8, 20, 100, 3_000), (25, 20, 20, 15, 10, 8, 1.9, 0.1))[0]
        text = self._rng.choice(["", " ", " ", "\n"]).join(self._piece() for _ in range(pieces))
        if self._rng.random() < 0.0005:
            text *= 100_000 // max(1, len(text))
        return text[:100_000]

    def _piece(self) -> str:
        kind = self._rng.randrange(7)
        if kind == 0:
            return self._rng.choice(SYNTAX)
        if kind == 1:
            return self._rng.choice(self._words)
        if kind == 2:
            return "".join(self._rng.choices(PUNCTUATION, k=self._rng.randrange(1, 6)))
        if kind == 3:
            return self._unicode(self._rng.randrange(1, 8))
        if kind == 4:  # a word that stands there, with what may hide it
            signs = "".join(self._rng.choices(PUNCTUATION, k=2))
            word = self._rng.choice(self._words)
            return self._rng.choice(
                (signs + word, word + signs, f'"{word}"', f"{word}*", f"({word})", f"NOT {word}")
            )
        if kind == 5:
            return self._rng.choice(" ".join(MEMORIES).split())
        return "".join(self._rng.choices('abcXYZ09_- \0\t\n"', k=self._rng.randrange(1, 9)))

    def _unicode(self, length: int) -> str:
        return "".join(chr(self._rng.randint(*self._rng.choice(PLANES))) for _ in range(length))


def _storable(text: str) -> str:
    return "".join(char for char in text if not "\ud800" <= char <= "\udfff")
