"""What a query asks for that the full-text index can't represent. Pure.

FTS5's tokenizer makes one word of `getShippingMethodId` and of a whole run of Chinese, and drops what is no letter
in `C++`. Five kinds of piece are looked for in the text itself:

- part: a plain word as a part of a compound name (`checkout` in `getCheckoutId`, `NAS` in `清单在NAS上`);
- pair: two neighbouring characters of a script that is written without spaces;
- sign: what has signs in it (`C++`, `#tag`, `->`), as it stands;
- name: several words joined by signs (`v2.0`), as they stand glued to another script (`升级到v2.0以后`);
- whole: what the index tears into several words (`foo(bar)`, `R&D`, `हिन्दी`), as it was typed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tierdeck.terms.hashes import may_begin_hash
from tierdeck.terms.scripts import UNSPACED, changes_script, script_runs
from tierdeck.terms.words import is_letter, split_words

MAX_PIECES = 12
MAX_TYPED = 200
MAX_NAMES = 3
MAX_WHOLE_WORDS = 12
MIN_PART_CHARS = 3
MAX_PIECE_CHARS = 200  # SQLite refuses LIKE patterns of more than 50,000 bytes

# As `is_part_boundary` has it, in a thirtieth of the time.
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
NAME = re.compile(r"[0-9A-Za-z]+(?:[-._/\\:@#$+~]{1,2}[0-9A-Za-z]+)+")
# Signs that no prose puts between two letters, as it does `-`, `/` and `'`.
_CODE = re.compile(r"\w[^\w\s]*[&|<(\[{][^\w\s]*\w")
# What surrounds a piece in a sentence and is not meant.
_SIGNS_BEFORE = "\"'`“”‘’«»()[]{}<>,;:!?…、。，；：！？「」『』（）"
_SIGNS_AFTER = _SIGNS_BEFORE + ".-–—/|&=~"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to look for in the text itself.

    `term` is the number of the query's word that it belongs to, if any; `weight` the part of that word's worth that
    it earns, so that all pieces of a word together earn 1; of a whole it is how many words that has.
    """

    text: str
    kind: Literal["part", "pair", "sign", "name", "whole"]
    term: int | None
    weight: float = 1.0
    is_prefix: bool = False

    @property
    def may_begin_hash(self) -> bool:
        """Whether the text may hold it as the beginning of a hash."""
        return self.kind == "part" and may_begin_hash(self.text)

    @property
    def may_be_word(self) -> bool:
        """Whether a text may hold it as words of its own, which only the full-text index knows."""
        return self.kind == "whole" or (self.kind == "part" and self.weight < 1 and not self.is_short)

    @property
    def is_short(self) -> bool:
        """Whether it is a word of a letter or two, which is a part only where it is glued to another script."""
        return self.kind == "part" and len(self.text) < MIN_PART_CHARS


def pieces_of(
    words: Sequence[str], typed: Sequence[str], whole_text: str, *, prefix: int | None = None
) -> list[Piece]:
    """The pieces of a query, at most `MAX_PIECES`: signs, then wholes and names, then those of each word.

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
    inner.sort(key=lambda piece: piece.is_short)
    names = [Piece(name, "name", None) for text in typed[:MAX_TYPED] if (name := _name(text))]
    wholes = [piece for text in typed[:MAX_TYPED] if (piece := _whole(text))]
    return [*signs[: MAX_PIECES // 2], *wholes[:MAX_NAMES], *names[:MAX_NAMES], *inner][:MAX_PIECES]


def camel_parts(word: str) -> list[str]:
    """The parts of a compound name: `getHTTPServer2` is get, HTTP, Server, 2."""
    if word.isascii() and word.isalnum():
        return _ASCII_PART.findall(word)
    parts: list[str] = []
    for at, char in enumerate(word):
        if at and not is_part_boundary(word, at):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


def is_part_boundary(text: str, at: int) -> bool:
    """Whether a part of a compound name may begin at that character."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if not is_letter(before) or not is_letter(after):
        return True
    if before.isdigit() != after.isdigit() or changes_script(before, after):
        return True
    if after.isupper():
        next_is_lower = at + 1 < len(text) and text[at + 1].islower()
        return not before.isupper() or next_is_lower
    return False


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


def _name(typed: str) -> str:
    bare = typed.strip().lstrip(_SIGNS_BEFORE).rstrip(_SIGNS_AFTER)
    return bare if len(bare) <= MAX_PIECE_CHARS and NAME.fullmatch(bare) else ""


def _whole(typed: str) -> Piece | None:
    bare = typed.strip().lstrip(_SIGNS_BEFORE).rstrip(_SIGNS_AFTER)
    count = len(split_words(bare))
    if not 1 < count <= MAX_WHOLE_WORDS or len(bare) > MAX_PIECE_CHARS:
        return None
    return Piece(bare, "whole", None, float(count)) if _CODE.search(bare) or _is_torn(bare) else None


def _is_torn(text: str) -> bool:
    """Whether it has signs of vowels, which FTS5 takes for the end of a word."""
    return not text.isascii() and any(
        unicodedata.category(char)[0] == "M" and not "\u0300" <= char <= "\u036f" for char in text
    )


def _of_word(word: str, number: int, is_prefix: bool) -> list[Piece]:
    if len(word) > MAX_PIECE_CHARS:
        return []
    pairs = dict.fromkeys(pair for run in UNSPACED.findall(word) for pair in _pairs_of(run))
    parts = [run for run in script_runs(word) if not UNSPACED.match(run)]
    weight = 1.0 / max(1, len(pairs) + len(parts))
    return [
        *(Piece(pair, "pair", number, weight) for pair in pairs),
        *(Piece(run, "part", number, weight, is_prefix) for run in parts),
    ]


def _pairs_of(run: str) -> list[str]:
    return [run] if len(run) < 3 else [run[at : at + 2] for at in range(len(run) - 1)]
