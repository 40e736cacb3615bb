"""Words are split and stemmed as the store's own index does."""

from __future__ import annotations

import apsw
import pytest

from tierdeck.search.query.tokens import Tokenizer


def tokenizer(spelled: str) -> Tokenizer:
    conn = apsw.Connection(":memory:")
    conn.execute(f"CREATE VIRTUAL TABLE content_fts USING fts5(node_id UNINDEXED, content{spelled})")
    return Tokenizer(conn)


@pytest.mark.parametrize("spelled", [", tokenize='porter'", ', tokenize = "porter unicode61"', ", TOKENIZE=porter"])
def test_the_tokenizer_is_the_one_the_table_was_made_with(spelled: str) -> None:
    assert tokenizer(spelled).key("Running") == ("run",)


def test_without_a_tokenizer_named_fts5s_default_is_used() -> None:
    assert tokenizer("").key("Running") == ("running",)


def test_arguments_in_quotes_reach_the_tokenizer() -> None:
    assert tokenizer(""", tokenize = "unicode61 tokenchars '-_'" """).key("a-b_c") == ("a-b_c",)


def test_offsets_are_in_characters() -> None:
    text = "über 👍 设备 café"
    found = [text[t.start : t.end] for t in tokenizer(", tokenize='porter'").tokens(text)]
    assert found == ["über", "设备", "café"]


def test_a_text_without_words_has_an_empty_key() -> None:
    assert tokenizer("").key("-- ++ 👍") == ()
