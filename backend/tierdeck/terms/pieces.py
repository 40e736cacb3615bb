"""What a query asks for that the full-text index can't represent, and whether a text holds it. Pure.

FTS5's tokenizer makes one word of `getShippingMethodId` and of a whole run of Chinese, and drops what is no letter
in `C++`. Three kinds of piece are looked for in the text itself:

- part: a plain word as a part of a compound name (`checkout` in `getCheckoutId`, `NAS` in `清单在NAS上`);
- pair: two neighbouring characters of a script that is written without spaces;
- sign: what has signs in it (`C++`, `#tag`, `->`), as it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tierdeck.terms.words import is_letter, split_words

MAX_PIECES = 12
MAX_TYPED = 200
MIN_PART_CHARS = 3
MAX_PIECE_CHARS = 200  # SQLite refuses LIKE patterns of more than 50,000 bytes

# Scripts whose runs of letters are no words: Thai to Khmer, kana, Han, Hangul (whose particles cling to words).
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# What surrounds a piece in a sentence and is not meant.
_SIGNS_BEFORE = "\"'`“”‘’«»()[]{}<>,;:!?…、。，；：！？「」『』（）"
_SIGNS_AFTER = _SIGNS_BEFORE + ".-–—/|&=~"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to look for in the text itself.

    `term` is the number of the query's word that it belongs to, if any; `weight` the part of that word's worth that
    it earns, so that all pieces of a word together earn 1.
    """

    text: str
    kind: Literal["part", "pair", "sign"]
    term: int | None
    weight: float = 1.0
    is_prefix: bool = False


def pieces_of(
    words: Sequence[str], typed: Sequence[str], whole_text: str, *, prefix: int | None = None
) -> list[Piece]:
    """The pieces of a query, at most `MAX_PIECES`: signs, then those of each word.

    Args:
        words: the words that are looked for, in the order of their numbers.
        typed: the typed pieces that are more than one plain word.
        whole_text: what is looked for as it stands when there is no word at all.
        prefix: the number of the word that is not typed to its end.
    """
    signs = [piece for text in typed[:MAX_TYPED] if (piece := _sign(text, words))]
    if not words and not signs:
        signs = [Piece(text, "sign", None) for text in [whole_text.strip()[:MAX_PIECE_CHARS]] if text]
    inner = [piece for number, word in enumerate(words) for piece in _of_word(word, number, number == prefix)]
    return [*signs[: MAX_PIECES // 2], *inner][:MAX_PIECES]


def holds(piece: Piece, text: str) -> bool:
    """Whether the text holds the piece where one may begin and end."""
    return next(spans(piece, text), None) is not None


def spans(piece: Piece, text: str) -> Iterator[tuple[int, int]]:
    """Where the text holds the piece, as (start, end) in characters."""
    if piece.kind == "pair":
        at = text.find(piece.text)
        while at >= 0:
            yield at, at + len(piece.text)
            at = text.find(piece.text, at + 1)
        return
    for match in re.finditer(re.escape(piece.text), text, re.IGNORECASE):
        start, end = match.span()
        if _may_stand(piece, text, start, end):
            yield start, end


def camel_parts(word: str) -> list[str]:
    """The parts of a compound name: `getHTTPServer2` is get, HTTP, Server, 2."""
    parts: list[str] = []
    for at, char in enumerate(word):
        if at and not _is_boundary(word, at):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


def _sign(typed: str, words: Sequence[str]) -> Piece | None:
    bare = typed.strip().lstrip(_SIGNS_BEFORE).rstrip(_SIGNS_AFTER)
    inner = split_words(bare)
    if not bare or len(bare) > MAX_PIECE_CHARS or len(inner) > 1 or bare in inner:
        return None  # a plain word, or several, which the full-text index finds as a phrase
    lowered = [word.lower() for word in words]
    if inner:
        return Piece(bare, "sign", lowered.index(inner[0].lower()) if inner[0].lower() in lowered else None)
    # Beside words a dash or a slash is punctuation; a pictograph is meant.
    return Piece(bare, "sign", None) if any(unicodedata.category(c) == "So" for c in bare) or not words else None


def _of_word(word: str, number: int, is_prefix: bool) -> list[Piece]:
    if len(word) > MAX_PIECE_CHARS:
        return []
    pairs = dict.fromkeys(pair for run in UNSPACED.findall(word) for pair in _pairs_of(run))
    runs = [
        run
        for run in split_words(UNSPACED.sub(" ", word))
        if len(run) >= MIN_PART_CHARS or (run != word and len(run) > 1)
    ]
    weight = 1.0 / max(1, len(pairs) + len(runs))
    return [
        *(Piece(pair, "pair", number, weight) for pair in pairs),
        *(Piece(run, "part", number, weight, is_prefix) for run in runs),
    ]


def _pairs_of(run: str) -> list[str]:
    return [run] if len(run) < 3 else [run[at : at + 2] for at in range(len(run) - 1)]


def _may_stand(piece: Piece, text: str, start: int, end: int) -> bool:
    if piece.kind == "sign":
        # `-flow` is no part of `cross-flow`, but `.NET` is of `ASP.NET`.
        bound_before = is_letter(piece.text[0]) or (piece.text[0] == "-" and is_letter(piece.text[1:2] or " "))
        return not (
            (bound_before and start and is_letter(text[start - 1]))
            or (is_letter(piece.text[-1]) and end < len(text) and is_letter(text[end]))
        )
    return _is_boundary(text, start) and (piece.is_prefix or _is_boundary(text, end))


def _is_boundary(text: str, at: int) -> bool:
    """Whether a part of a compound name may begin at that character."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if not is_letter(before) or not is_letter(after):
        return True
    if before.isdigit() != after.isdigit() or bool(UNSPACED.match(before)) != bool(UNSPACED.match(after)):
        return True
    if after.isupper():
        next_is_lower = at + 1 < len(text) and text[at + 1].islower()
        return not before.isupper() or next_is_lower
    return False
