"""Queries behind fault reports of similar tools, and others of each kind: found, ranked, never an error."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tierdeck.model import NodeDraft, NodeFilter, NodeType
from tierdeck.search import hybrid_search
from tierdeck.store import Store


def words(store: Store, text: str, *, limit_rows: int = 20) -> list[str]:
    return texts(hybrid_search(store, text, alpha=0, limit_rows=limit_rows))


@pytest.mark.case("S01")
@pytest.mark.parametrize(
    "text",
    ["notes OR wrong-book OR mistakes", "wrong-book", "wrong-", "-wrong book", "NOT wrong-book", "(wrong-book)"],
)
def test_a_hyphenated_word_is_found_whatever_stands_around_it(store: Store, text: str) -> None:
    remember(store, "fix the wrong-book page")
    assert words(store, text) == ["fix the wrong-book page"]


@pytest.mark.case("S02")
@pytest.mark.parametrize(
    "text",
    ["TODO: rotate", "user:alice", "content:alice", "type:fact", "alice type:fact", "node_id:alice", "rowid:key"],
)
def test_a_colon_is_no_column(store: Store, text: str) -> None:
    remember(store, NodeDraft("TODO: rotate key for user alice", type=NodeType.FACT))
    assert words(store, text) == ["TODO: rotate key for user alice"]


@pytest.mark.case("S03")
@pytest.mark.parametrize("text", ["don't retry", "don’t retry", "agents' retry", "'retry'", '"don\'t retry"'])
def test_an_apostrophe_is_no_syntax(store: Store, text: str) -> None:
    remember(store, "agents don't retry", "something else")
    assert words(store, text)[0] == "agents don't retry"


@pytest.mark.case("S05")
@pytest.mark.parametrize(
    ("own", "other", "text"),
    [
        ("DEC-0054 chose SQLite", "DEC-0055 chose TUI", "DEC-0054"),
        ("DEC-0054 chose SQLite", "DEC-0055 chose TUI", '"DEC-0054"'),
        ("DEC-0054 chose SQLite", "0054 and DEC apart", "dec-0054"),
        ("bind to 10.0.0.1 only", "bind to 10.0.1.0 only", "10.0.0.1"),
        ("see src/app/main.py there", "see main/app/src.py there", "src/app/main.py"),
        ("issue #1234 is open", "issue 4321 is open", "#1234"),
        ("version v1.2.3 is out", "version v3.2.1 is out", "v1.2.3"),
        ("mail bob@h.example now", "mail h@bob.example now", "bob@h.example"),
        ("call std::vector here", "a vector of std here", "std::vector"),
        ("CVE-2025-8709 is fixed", "CVE-8709-2025 is fixed", "CVE-2025-8709"),
    ],
)
def test_an_identifier_finds_its_own_memory_first(store: Store, own: str, other: str, text: str) -> None:
    remember(store, other, own, other + " again")
    assert words(store, text)[0] == own


@pytest.mark.case("S07")
@pytest.mark.parametrize(
    "text",
    [
        "checkout",
        "shipping method",
        "getShippingMethodIdFromCheckout",
        "method id",
        "SHIPPING",
        "get_shipping_method",
    ],
)
def test_parts_of_a_compound_name_find_it(store: Store, text: str) -> None:
    remember(store, "getShippingMethodIdFromCheckout is slow", "an unrelated memory")
    assert words(store, text) == ["getShippingMethodIdFromCheckout is slow"]


@pytest.mark.case("S07")
def test_the_full_name_ranks_above_its_parts(store: Store) -> None:
    remember(store, "getShippingMethodIdFromCheckout", "getShippingMethod", "shipping method id from the checkout")
    found = words(store, "getShippingMethodIdFromCheckout")
    assert found[0] == "getShippingMethodIdFromCheckout"


@pytest.mark.case("S07")
def test_a_part_of_a_name_is_added_below_whole_words(store: Store) -> None:
    remember(store, *(f"filler number {n}" for n in range(30)), "the getCheckoutId call", "the checkout call is")
    answer = hybrid_search(store, "checkout", alpha=0)
    assert texts(answer) == ["the checkout call is", "the getCheckoutId call"]
    assert 0 < answer.hits[1].score < 1


@pytest.mark.case("S08")
@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("rm -rf", "user dislikes `rm -rf`"),
        ("C++", "port C++ module"),
        ("C#", "use C# client"),
        ("c++", "port C++ module"),
        (".NET", "the .NET runtime"),
        ("F#", "an F# script"),
        ("tar -xzf", "unpack with tar -xzf x.tgz"),
        ("git push --force", "never git push --force here"),
        ("=>", "arrow => function"),
        ("👍", "liked with 👍"),
        ("$HOME", "relative to $HOME"),
        ("@alice", "ask @alice first"),
    ],
)
def test_short_and_symbolic_words_find_their_own_memory(store: Store, text: str, own: str) -> None:
    remember(
        store,
        "user dislikes `rm -rf`",
        "port C++ module",
        "use C# client",
        "the .NET runtime",
        "an F# script",
        "unpack with tar -xzf x.tgz",
        "never git push --force here",
        "arrow => function",
        "liked with 👍",
        "relative to $HOME",
        "ask @alice first",
        "vitamin C and alice at home, by force",
    )
    assert words(store, text)[0] == own


@pytest.mark.case("S08")
def test_a_sign_outranks_any_number_of_its_bare_word(store: Store) -> None:
    remember(
        store, *(f"filler {n}" for n in range(40)), "C C C C C C", "a longer text that once names C++ in the middle"
    )
    assert words(store, "C++")[0] == "a longer text that once names C++ in the middle"


@pytest.mark.case("S10")
@pytest.mark.parametrize("text", ["设备", "清单", "NAS", "nas", "设备清单", "清单 设备", "在NAS上"])
def test_a_piece_of_chinese_finds_the_memory(store: Store, text: str) -> None:
    remember(store, "设备清单在NAS上", "无关的内容")
    assert words(store, text)[0] == "设备清单在NAS上"


@pytest.mark.case("S10")
@pytest.mark.parametrize(
    ("memory", "text"),
    [
        ("データベースの設定", "設定"),
        ("데이터베이스를설정", "설정"),
        ("ฐานข้อมูลหลัก", "ข้อมูล"),
        ("𠀀𠀁𠀂", "𠀁𠀂"),
    ],
)
def test_a_piece_of_any_script_without_spaces_finds_the_memory(store: Store, memory: str, text: str) -> None:
    remember(store, memory, "其他")
    assert words(store, text) == [memory]


@pytest.mark.case("S12")
def test_a_question_finds_what_holds_one_of_its_words_and_more_words_rank_higher(store: Store) -> None:
    remember(
        store, "deploys use blue green switching", "deploys of old", "the weather is what we do here", "nothing"
    )
    found = words(store, "how do we usually do the deploys here?")
    assert set(found[:2]) == {"deploys use blue green switching", "deploys of old"}
    assert found[2:] == ["the weather is what we do here"]
    assert words(store, "how do blue green deploys switch?")[0] == "deploys use blue green switching"


@pytest.mark.case("S13")
@pytest.mark.parametrize("others", [0, 200])
def test_more_occurrences_score_higher_and_the_best_is_one(store: Store, others: int) -> None:
    remember(store, *(" ".join(["redis"] * n + ["filler"] * (8 - n)) for n in range(1, 6)))
    remember(store, *(f"something else {n} of eight words in it" for n in range(others)))
    answer = hybrid_search(store, "redis", alpha=0)
    scores = [hit.keyword.score for hit in answer.hits if hit.keyword]
    assert len(set(scores)) == 5
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert [hit.row.excerpt.count("redis") for hit in answer.hits] == [5, 4, 3, 2, 1]


@pytest.mark.case("S13")
def test_thousands_of_repeats_in_the_query_change_no_score_of_one_word(store: Store) -> None:
    remember(store, "redis cache", "redis redis of another kind", "other")
    once, often = hybrid_search(store, "redis", alpha=0), hybrid_search(store, "redis " * 3_000, alpha=0)
    assert [hit.score for hit in often.hits] == pytest.approx([hit.score for hit in once.hits])


@pytest.mark.case("S15")
def test_a_word_hit_without_a_neighbour_stays_under_its_weight(store: Store) -> None:
    model = ChosenVectors({"A with redis": [0.0, 1.0], "B": [0.9, 0.436], "redis": [1.0]})
    remember(store, "A with redis", "B")
    with embed_all(store, model) as index:
        answer = hybrid_search(store, "redis", alpha=0.7, embedder=model, index=index)
    first, second = answer.hits
    assert (first.row.excerpt, second.row.excerpt) == ("B", "A with redis")
    assert second.semantic is not None
    assert second.score <= 0.3 + 0.7 * second.semantic.score + 1e-9


@pytest.mark.case("S16")
@pytest.mark.parametrize("store_rows", [3, 1_000])
def test_tiny_differences_of_meaning_stay_tiny(store: Store, store_rows: int) -> None:
    cosines = (0.81, 0.8101, 0.8102)
    near = {f"near {n}": [c, (1 - c * c) ** 0.5] for n, c in enumerate(cosines)}
    model = ChosenVectors({**near, "q": [1.0]})
    remember(store, *near, *(f"other {n}" for n in range(store_rows - 3)))
    with embed_all(store, model) as index:
        answer = hybrid_search(store, "q", alpha=1, embedder=model, index=index)
    scores = [hit.semantic.score for hit in answer.candidates if hit.row.excerpt in near and hit.semantic]
    assert len(scores) == 3
    assert max(scores) - min(scores) < 0.001


@pytest.mark.case("S18")
@pytest.mark.parametrize("text", ["zzznonexistentxyz", "zzz nonexistent", "👎", "龘靐"])
def test_by_words_alone_what_stands_nowhere_finds_nothing(store: Store, text: str) -> None:
    model = ChosenVectors({})
    remember(store, "blue", "green")
    with embed_all(store, model) as index:
        assert hybrid_search(store, text, alpha=0, embedder=model, index=index).hits == ()
    assert model.asked == []


@pytest.mark.case("S19")
def test_a_faint_likeness_is_shown_with_its_score_and_not_hidden(store: Store) -> None:
    model = ChosenVectors({"only": [0.18, 0.984], "q": [1.0]})
    remember(store, "only")
    with embed_all(store, model) as index:
        [hit] = hybrid_search(store, "q", embedder=model, index=index).hits
    assert hit.semantic is not None
    assert hit.semantic.cosine == pytest.approx(0.18, abs=0.001)


@pytest.mark.case("S21")
@pytest.mark.parametrize("text", ["x", "", "   ", "👍", "\0", "\ud800", "tier:task", '"', "-x", "a" * 100_000])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_an_empty_store_answers_with_nothing(store: Store, text: str, alpha: float) -> None:
    model = ChosenVectors({})
    answer = hybrid_search(store, text, alpha=alpha, embedder=model, query_vector=np.ones(8, np.float32))
    assert answer.hits == ()
    assert answer.store_rows == 0


_REALISTIC = [
    "what?", "a,b", "x=1", "#tag", "[x]", "u@h.example", "{a b}", "100%", "--", "NEAR(a b,2)", '"unclosed', "(",
    "*", "AND", "OR", "NOT", "a AND", "NOT NOT", "^start", "wild*", "col : x", "a + b", "a\\b", "C:\\Users\\x",
    "~/x", "it's", "«quoted»", "x;y", "a|b", "`code`", "<tag>", "$1", "é", "ß", "a\tb\nc", "\u200b", "\ufeffx",
]  # fmt: skip


@pytest.mark.case("S22")
@pytest.mark.parametrize("text", _REALISTIC)
def test_no_realistic_query_is_an_error(store: Store, text: str) -> None:
    remember(
        store, "what a day", "b and x is 1 with tag u at h example", "100 percent unclosed near AND start wild"
    )
    for is_typing in (False, True):
        answer = hybrid_search(store, text, alpha=0, is_typing=is_typing)
        assert all(0 < hit.score <= 1 for hit in answer.hits)


@pytest.mark.case("S22")
@pytest.mark.parametrize("text", [text for text in _REALISTIC if any(c.isalnum() for c in text)])
def test_the_literal_text_of_a_realistic_query_is_found(store: Store, text: str) -> None:
    remember(store, f"before {text} after", "none of these")
    assert words(store, text)[0] == f"before {text} after"


@pytest.mark.case("D11")
@pytest.mark.parametrize("key", ["x') OR 1=1 --", "a.b", '"', "$", "[0]", "%", "k" * 10_000])
def test_a_metadata_key_finds_only_what_holds_it(store: Store, key: str) -> None:
    [own, _] = remember(
        store, NodeDraft("blue own", metadata={key: "v"}), NodeDraft("blue other", metadata={"a": {"b": "v"}})
    )
    given = NodeFilter(metadata=((key, "v"),))
    assert [hit.row.id for hit in hybrid_search(store, "blue", alpha=0, node_filter=given).hits] == [own]
    assert [hit.row.id for hit in hybrid_search(store, "", node_filter=given).hits] == [own]


@pytest.mark.case("D07")
def test_a_tag_finds_nothing_after_it_was_changed_and_its_memory_deleted(store: Store) -> None:
    [node] = remember(store, NodeDraft("tagged blue", metadata={"tags": ["blue"]}))
    with store.writing() as conn:
        conn.execute(
            "UPDATE nodes SET content = 'tagged green', metadata = ? WHERE id = ?", ('{"tags": ["green"]}', node)
        )
    assert words(store, "blue") == words(store, "tag:blue") == []
    assert words(store, "green") == words(store, "tag:green") == ["tagged green"]
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node,))
    assert words(store, "green") == words(store, "tag:green") == words(store, "blue") == []
    with store.writing() as conn:
        conn.execute("INSERT INTO content_fts (content_fts) VALUES ('integrity-check')")
