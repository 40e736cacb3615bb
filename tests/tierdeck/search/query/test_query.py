"""What an operator types is taken apart without ever being an error."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tierdeck.model import NodeFilter, NodeType, Tier
from tierdeck.search.query.query import MAX_PHRASES, MAX_QUERY_BYTES, parse_query, with_as_words

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000


def test_filters_and_words_are_told_apart() -> None:
    query = parse_query("tier:longterm type:fact conf>0.6 session:s-41 since:7d blue deploys", now_ms=NOW_MS)
    assert query.words == ("blue", "deploys")
    assert query.filter.tiers == {Tier.LONGTERM}
    assert query.filter.types == {NodeType.FACT}
    assert query.filter.min_confidence is not None
    assert 0.6 < query.filter.min_confidence < 0.600001
    assert query.filter.session == "s-41"
    assert query.filter.since_ms == NOW_MS - 7 * DAY_MS
    assert [chip.text for chip in query.chips] == [
        "tier:longterm", "type:fact", "conf>0.6", "session:s-41", "since:7d",
    ]  # fmt: skip


@pytest.mark.case("S02")
@pytest.mark.parametrize("text", ["TODO: rotate", "user:alice", "content:alice", "http://x.example", "node_id:7"])
def test_an_unknown_key_is_words(text: str) -> None:
    query = parse_query(text)
    assert query.filter == NodeFilter()
    assert query.chips == ()
    assert len(query.words) >= 2


@pytest.mark.case("S02")
@pytest.mark.parametrize(
    "text",
    [
        "tier:gold",
        "type:facts",
        "conf>2",
        "conf:0.5",
        "conf>nan",
        "since:soon",
        "is:new",
        "meta:kv",
        "until:7y",
        "tag>x",
    ],
)
def test_a_known_key_with_a_value_it_does_not_take_is_words_and_a_note_says_why(text: str) -> None:
    query = parse_query(text)
    assert query.filter == NodeFilter()
    assert query.words
    assert text in query.notes[0]


@pytest.mark.parametrize("text", ["tier:", "session: x", "meta.k:", 'tag:"" y', "is:"])
def test_a_known_key_without_a_value_is_words(text: str) -> None:
    query = parse_query(text)
    assert query.filter == NodeFilter()
    assert query.words


def test_a_value_in_quotes_may_hold_spaces() -> None:
    query = parse_query('session:"s 41" meta:team="core infra" x')
    assert query.filter.session == "s 41"
    assert query.filter.metadata == (("team", "core infra"),)
    assert query.words == ("x",)


@pytest.mark.case("D11")
@pytest.mark.parametrize("key", ["x')", "a.b", "$.a", "k'--", "ü", "[0]", "k" * 900])
def test_a_metadata_key_is_data_whatever_it_looks_like(key: str) -> None:
    assert parse_query(f"meta.{key}=v").filter.metadata == ((key, "v"),)
    assert parse_query(f"meta:{key}=v").filter.metadata == ((key, "v"),)


@pytest.mark.case("D11")
def test_a_metadata_key_of_ten_kilobytes_is_refused_as_a_filter_and_read_as_words() -> None:
    query = parse_query("meta:" + "k" * 10_000 + "=v")
    assert query.filter == NodeFilter()
    assert "1 to 1,000 characters" in query.notes[0]


def test_more_metadata_pairs_than_sqlite_can_nest_are_words() -> None:
    query = parse_query(" ".join(f"meta.k{n}=v" for n in range(5_000)))
    assert len(query.filter.metadata) == 16
    assert len(query.notes) <= 7


def test_tiers_add_up_and_of_other_keys_the_last_one_holds() -> None:
    query = parse_query("tier:task tier:session,archive tag:a tag:b")
    assert query.filter.tiers == {Tier.TASK, Tier.SESSION, Tier.ARCHIVE}
    assert query.filter.tag == "b"


def test_a_day_as_an_end_includes_the_whole_day() -> None:
    query = parse_query("since:2026-01-31 until:2026-01-31")
    assert query.filter.since_ms is not None
    assert query.filter.until_ms == query.filter.since_ms + DAY_MS


def test_confidence_bounds_are_strict_only_where_they_were_typed_so() -> None:
    assert parse_query("conf>=0.6").filter.min_confidence == 0.6
    assert parse_query("conf<=0.6").filter.max_confidence == 0.6
    below = parse_query("conf<0.6").filter.max_confidence
    assert below is not None
    assert below < 0.6


def test_words_that_differ_only_by_case_are_one() -> None:
    query = parse_query("Redis redis REDIS " * 1_000 + "x")
    assert query.words == ("Redis", "x")
    assert query.repeats == (3_000, 1)


def test_a_quoted_phrase_is_kept_together_and_its_words_count() -> None:
    query = parse_query('"blue green" deploys')
    assert query.phrases == ("blue green",)
    assert query.words == ("blue", "green", "deploys")


def test_a_dash_excludes_only_after_another_word() -> None:
    assert parse_query("deploys -blue").excluded == ("blue",)
    assert parse_query("-blue deploys").excluded == ()
    assert parse_query('deploys -"blue green"').excluded == ("blue green",)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("-webhook payment", "-webhook"),
        ("tier:longterm -webhook", "-webhook"),
        ("-webhook tier:longterm conf>0.5", "-webhook"),
        ('-"blue green" deploys', '-"blue green"'),
        ('tier:task -"webhook"', '-"webhook"'),
    ],
)
def test_a_dash_before_the_first_word_keeps_nothing_out_and_it_is_said(text: str, typed: str) -> None:
    query = parse_query(text)
    assert query.excluded == ()
    assert query.notes == (f"looked for {typed} as it stands; only behind another word it is kept out",)


@pytest.mark.parametrize("text", ["--force it", "-rf", "-v2 payment", "-O2 build", "-- x", "a-b c", "->", "- x"])
def test_what_no_exclusion_looks_like_needs_no_word_about_it(text: str) -> None:
    assert parse_query(text).notes == ()


def test_more_exclusions_than_are_taken_are_looked_for_and_it_is_said() -> None:
    query = parse_query("x " + " ".join(f'-"a{n} b{n}"' for n in range(MAX_PHRASES + 1)))
    assert len(query.excluded) == MAX_PHRASES
    assert query.notes == (f'looked for -"a{MAX_PHRASES} b{MAX_PHRASES}" as it stands; at most 16 are kept out',)


def test_escape_sequences_of_a_terminal_are_no_part_of_what_is_looked_for() -> None:
    query = parse_query("\x1b[31merror\x1b[0m: it \x1b(Bbroke")
    assert query.words == ("error", "it", "broke")


@pytest.mark.case("S08")
@pytest.mark.parametrize(
    "text", ["rm -rf", "ls -l", "git push --force", "gcc -O2", "kill -9", "cut -d=", "docker run -it"]
)
def test_what_only_an_option_looks_like_excludes_nothing(text: str) -> None:
    query = parse_query(text)
    assert query.excluded == ()
    assert "as it stands" in query.notes[0]


def test_exclusions_can_be_read_as_words_instead() -> None:
    query = with_as_words(parse_query("tar -xzf -verbose"), ["xzf"])
    assert query.words == ("tar", "xzf")
    assert query.excluded == ("verbose",)
    assert len(query.repeats) == len(query.words)


def test_more_phrases_than_fts5_can_nest_are_read_as_words() -> None:
    query = parse_query(" ".join(f'"a{n} b{n}"' for n in range(500)))
    assert len(query.phrases) == MAX_PHRASES
    assert len(query.words) == 1_000


def test_what_the_embedder_gets_has_no_filters_and_no_exclusions() -> None:
    assert parse_query("how to deploy? tier:task -blue").words_text == "how to deploy?"


def test_only_the_beginning_of_a_very_long_text_is_used_and_it_is_said() -> None:
    query = parse_query("ä" * MAX_QUERY_BYTES)
    assert len(query.words_text.encode()) == MAX_QUERY_BYTES
    assert "first 100,000 of 200,000 bytes" in query.notes[0]


def test_a_raw_query_is_left_as_it_is() -> None:
    query = parse_query('tier:task AND "x', raw=True)
    assert query.is_raw
    assert query.words_text == 'tier:task AND "x'
    assert query.filter == NodeFilter()


@pytest.mark.case("S21")
@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\0", "\ud800", "tier:task"])
def test_a_text_without_anything_to_look_for_is_empty(text: str) -> None:
    assert parse_query(text).is_empty


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_gives_a_query(text: str) -> None:
    query = parse_query(text)
    assert query.text == text
    assert not any("\ud800" <= c <= "\udfff" or c == "\0" for c in query.words_text + "".join(query.words))


@given(st.text(max_size=100), st.sampled_from(["tier:task", "conf>0.5", "meta.a=b", "is:archived"]))
@example("\x1b", "tier:task")
@example("\x1b[", "tier:task")
@example("\x1b[1", "tier:task")
@example("\x9b", "tier:task")
@example("\x1b(", "tier:task")
def test_a_filter_at_the_end_is_found_after_any_text_without_an_open_quote(text: str, typed: str) -> None:
    query = parse_query(text.replace('"', "") + " " + typed)
    assert query.chips[-1].text == typed
