"""Texts measured and cut to what a model takes. Pure.

The bytes of a text are the upper bound of its tokens: no tokenizer makes more than one token of a byte.
"""

from __future__ import annotations

MAX_TEXT_TOKENS = 8_192  # of one input of the embeddings API


def token_bound(text: str) -> int:
    """How many tokens the text has at most."""
    return len(text.encode("utf-8", "replace"))


def fit_text(text: str) -> tuple[str, str | None]:
    """The part of the text that is embedded, and a note when that is not all of it.

    A cut never falls inside a character.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT_TOKENS:
        return text, None
    kept = raw[:MAX_TEXT_TOKENS].decode("utf-8", "ignore")
    return kept, f"embedded first {token_bound(kept):,} of {len(raw):,} bytes"


def first_fitting(bounds: list[int], max_tokens: int) -> int:
    """How many of the texts, from the first on, fit one request together; at least one."""
    total = 0
    for count, tokens in enumerate(bounds):
        total += tokens
        if total > max_tokens and count > 0:
            return count
    return len(bounds)
