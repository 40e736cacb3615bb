"""One search, through its public face: the edges of hybrid retrieval, each stated and none hidden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tierdeck.errors import InvalidValueError
from tierdeck.model import NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.search import SearchAnswer, hybrid_search, parse_query, rerank
from tierdeck.search.answer.hit import KeywordPart, SemanticPart
from tierdeck.store import Store, open_store

EAST = [1.0]


def keyword(answer: SearchAnswer, text: str) -> KeywordPart:
    [part] = [hit.keyword for hit in answer.candidates if hit.row.excerpt == text]
    assert part is not None
    return part


def semantic(answer: SearchAnswer, text: str) -> SemanticPart:
    [part] = [hit.semantic for hit in answer.candidates if hit.row.excerpt == text]
    assert part is not None
    return part


@pytest.fixture
def three(store: Store) -> ChosenVectors:
    """Three memories: one near by meaning, one by word, one by both."""
    remember(store, "lorem ipsum", "blue deploys elsewhere", "blue deploys")
    return ChosenVectors({"lorem ipsum": [0.9, 0.4], "blue deploys": [0.8, 0.6], "blue": EAST})


@pytest.mark.spec("SPEC-09.04")
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
def test_every_score_is_the_weighted_sum_of_its_parts(store: Store, three: ChosenVectors, alpha: float) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "blue", alpha=alpha, embedder=three, index=index)
    assert answer.alpha == alpha
    assert answer.hits
    for hit in answer.hits:
        words = hit.keyword.score if hit.keyword else 0.0
        meaning = hit.semantic.score if hit.semantic else 0.0
        assert hit.score == pytest.approx(alpha * meaning + (1 - alpha) * words)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


@pytest.mark.spec("SPEC-09.05")
def test_the_default_weighs_both_sides_the_same(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        assert hybrid_search(store, "blue", embedder=three, index=index).alpha == 0.5


@pytest.mark.spec("SPEC-09.05")
@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan"), float("inf")])
def test_an_alpha_outside_its_bounds_is_refused(store: Store, alpha: float) -> None:
    with pytest.raises(InvalidValueError, match="alpha"):
        hybrid_search(store, "blue", alpha=alpha)


def test_both_sides_of_every_candidate_are_exact_wherever_it_came_from(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "blue", embedder=three, index=index)
    assert semantic(answer, "blue deploys").cosine == pytest.approx(0.8, abs=1e-6)
    assert keyword(answer, "blue deploys").score == 1.0
    assert semantic(answer, "blue deploys elsewhere").rank == 3
    assert [hit.keyword for hit in answer.candidates if hit.row.excerpt == "lorem ipsum"] == [None]


@pytest.mark.spec("SPEC-09.04")
def test_without_a_keyword_hit_the_order_is_that_of_meaning_and_it_is_said(
    store: Store, three: ChosenVectors
) -> None:
    with embed_all(store, three) as index:
        vector = np.array([1, *[0] * 7], np.float32)
        answer = hybrid_search(store, "zzz", index=index, query_vector=vector)
        narrowed = hybrid_search(store, "zzz conf>0", index=index, query_vector=vector)
    assert texts(answer)[0] == "lorem ipsum"
    assert answer.hits[0].score == pytest.approx(0.5 * semantic(answer, "lorem ipsum").score)
    assert answer.notes == ("no memory holds a word of the query: in order of meaning alone",)
    by_words = rerank(answer, 0.0)
    assert by_words is not None
    assert (by_words.hits, by_words.notes) == ((), ("no memory holds a word of the query",))
    back = rerank(by_words, 0.5)
    assert back is not None
    assert back.notes == answer.notes
    assert narrowed.notes == (
        "no memory that passes the filters holds a word of the query: in order of meaning alone",
    )


@pytest.mark.spec("SPEC-09.05")
def test_without_meaning_alpha_is_zero_and_the_reason_is_shown(store: Store) -> None:
    remember(store, "blue deploys")
    answer = hybrid_search(store, "blue", alpha=0.7, meaning_off_reason="no model here")
    assert (answer.alpha, answer.asked_alpha, answer.degraded) == (0.0, 0.7, "no model here")
    assert answer.hits[0].score == 1.0


def test_a_memory_without_a_vector_is_flagged_and_nothing_is_scaled_up(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        remember(store, "blue later", NodeDraft("blue silent", compute_embedding=False))
        answer = hybrid_search(store, "blue", embedder=three, index=index)
    found = {hit.row.excerpt: hit for hit in answer.hits}
    assert found["blue later"].semantic is None
    assert found["blue later"].flags == {"no-vector"}
    assert found["blue silent"].flags == {"no-vector", "embedding-off"}
    assert found["blue later"].score <= 0.5


def test_a_vector_of_an_older_text_counts_as_none_and_is_flagged(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET content = 'blue, changed' WHERE content = 'blue deploys'")
        answer = hybrid_search(store, "blue", embedder=three, index=index)
    [hit] = [hit for hit in answer.hits if hit.row.excerpt == "blue, changed"]
    assert hit.semantic is None
    assert hit.flags == {"stale-vector"}


@pytest.mark.case("E09")
def test_vectors_of_another_model_are_not_compared_and_words_still_find(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "blue", embedder=ChosenVectors({}, name="other"), index=index)
    assert answer.alpha == 0.0
    assert answer.degraded is not None
    assert "3 memories embedded by chosen" in answer.degraded
    assert len(answer.hits) == 2


@pytest.mark.case("E05")
def test_a_memory_whose_vector_was_refused_is_still_found_by_its_words(store: Store) -> None:
    model = ChosenVectors(
        {"blue zero": [0.0], "blue nan": [float("nan")], "blue inf": [float("inf")], "blue": EAST}
    )
    remember(store, "blue zero", "blue nan", "blue inf", "unrelated but embedded")
    with embed_all(store, model) as index:
        answer = hybrid_search(store, "blue", embedder=model, index=index)
        by_meaning = hybrid_search(store, "blue", alpha=1, embedder=model, index=index)
    assert {"blue zero", "blue nan", "blue inf"} <= set(texts(answer))
    assert all(hit.semantic is None for hit in answer.hits if hit.row.excerpt.startswith("blue"))
    assert not {"blue zero", "blue nan", "blue inf"} & set(texts(by_meaning))


def test_one_hit_scores_one_by_its_words(store: Store) -> None:
    remember(store, "blue deploys")
    [hit] = hybrid_search(store, "blue", alpha=0).hits
    assert hit.score == 1.0


def test_identical_texts_stand_in_the_same_order_every_time(store: Store) -> None:
    ids = remember(store, *["blue deploys"] * 8)
    orders = {tuple(hit.row.id for hit in hybrid_search(store, "blue", alpha=0).hits) for _ in range(20)}
    assert orders == {tuple(sorted(ids))}


def test_archived_memories_are_in_neither_leg_nor_the_maximum_unless_asked(store: Store) -> None:
    model = ChosenVectors({"blue blue blue": EAST, "blue and some more": [0.5, 0.8], "blue": EAST})
    remember(store, NodeDraft("blue blue blue", tier=Tier.ARCHIVE), "blue and some more")
    with embed_all(store, model) as index:
        for alpha in (0.0, 0.5, 1.0):
            assert texts(hybrid_search(store, "blue", alpha=alpha, embedder=model, index=index)) == [
                "blue and some more"
            ]
        assert hybrid_search(store, "blue", alpha=0).hits[0].score == 1.0
        asked = hybrid_search(store, "blue is:archived", embedder=model, index=index)
    assert texts(asked) == ["blue blue blue", "blue and some more"]
    assert "archived" in asked.hits[0].flags


def test_what_each_filter_hides_is_said_when_too_little_is_left(store: Store) -> None:
    remember(
        store,
        NodeDraft("blue one", tier=Tier.SESSION),
        NodeDraft("blue two", tier=Tier.SESSION, type=NodeType.DECISION),
        NodeDraft("blue three", tier=Tier.ARCHIVE),
        NodeDraft("blue four", type=NodeType.DECISION),
    )
    answer = hybrid_search(store, "blue tier:task type:decision", alpha=0)
    assert texts(answer) == ["blue four"]
    assert {(hidden.filter_text, hidden.rows) for hidden in answer.hidden} == {("tier:task", 1)}
    plain = hybrid_search(store, "blue", alpha=0)
    assert [(hidden.filter_text, hidden.rows) for hidden in plain.hidden] == [("is:archived", 1)]


def test_nothing_is_said_of_filters_when_enough_is_found(store: Store) -> None:
    remember(store, "blue", NodeDraft("blue", tier=Tier.ARCHIVE))
    assert hybrid_search(store, "blue", alpha=0, limit_rows=1).hidden == ()


def test_an_empty_query_browses_the_newest_first(store: Store) -> None:
    remember(store, *(NodeDraft(f"m{n}", created_at_ms=1_700_000_000_000 + n) for n in range(30)))
    answer = hybrid_search(store, "  ", limit_rows=3)
    assert answer.is_browse
    assert texts(answer) == ["m29", "m28", "m27"]
    assert answer.store_rows == 30


def test_a_query_of_filters_alone_browses_what_they_let_through(store: Store) -> None:
    remember(store, "a", NodeDraft("b", tier=Tier.SESSION))
    assert texts(hybrid_search(store, "tier:session")) == ["b"]
    assert [h.filter_text for h in hybrid_search(store, "tier:longterm").hidden] == ["tier:longterm"]


@pytest.mark.spec("SPEC-09.05")
def test_moving_alpha_ranks_the_same_candidates_as_a_new_search(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        begun = hybrid_search(store, "blue", embedder=three, index=index)
        asked_before = len(three.asked)
        for alpha in (0.0, 0.2, 0.9, 1.0):
            moved = rerank(begun, alpha)
            assert moved is not None
            assert len(three.asked) == asked_before
            anew = hybrid_search(store, "blue", alpha=alpha, embedder=three, index=index)
            three.asked.clear()
            asked_before = 0
            assert [hit.row.id for hit in moved.hits] == [hit.row.id for hit in anew.hits]
            assert [hit.score for hit in moved.hits] == pytest.approx([hit.score for hit in anew.hits])


@pytest.mark.spec("SPEC-09.05")
def test_moving_alpha_to_an_end_and_back_needs_no_new_query(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        begun = hybrid_search(store, "blue", embedder=three, index=index)
    at_end = rerank(begun, 1.0)
    assert at_end is not None
    back = rerank(at_end, 0.5)
    assert back is not None
    assert back.hits == begun.hits


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_search_begun_at_an_end_needs_a_new_query_to_leave_it(
    store: Store, three: ChosenVectors, end: float
) -> None:
    with embed_all(store, three) as index:
        begun = hybrid_search(store, "blue", alpha=end, embedder=three, index=index)
    assert rerank(begun, 0.5) is None
    assert rerank(begun, end) == begun


def test_moving_alpha_without_meaning_keeps_the_words_and_the_reason(store: Store) -> None:
    remember(store, "blue")
    moved = rerank(hybrid_search(store, "blue", meaning_off_reason="off"), 0.9)
    assert moved is not None
    assert (moved.alpha, moved.asked_alpha, moved.degraded) == (0.0, 0.9, "off")


@pytest.mark.case("S18")
def test_at_alpha_zero_the_embedder_is_not_called(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "zzznonexistentxyz", alpha=0, embedder=three, index=index)
    assert answer.hits == ()
    assert three.asked == []


def test_at_alpha_one_no_word_is_looked_up(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "blue", alpha=1, embedder=three, index=index)
    assert all(hit.keyword is None for hit in answer.candidates)
    assert texts(answer)[0] == "lorem ipsum"


@pytest.mark.case("E07")
def test_more_rows_than_there_can_be_are_capped_with_a_note(store: Store, three: ChosenVectors) -> None:
    with embed_all(store, three) as index:
        answer = hybrid_search(store, "blue", limit_rows=5_000, embedder=three, index=index)
    assert len(answer.hits) == 3
    assert answer.limit_rows == 1_000
    assert "shows the best 1,000, not 5,000" in answer.notes


@pytest.mark.case("E07")
def test_no_rows_are_none_and_fewer_are_refused(store: Store) -> None:
    remember(store, "blue")
    assert hybrid_search(store, "blue", limit_rows=0).hits == ()
    with pytest.raises(InvalidValueError, match="-1"):
        hybrid_search(store, "blue", limit_rows=-1)


def test_a_filter_of_the_caller_and_typed_ones_hold_together(store: Store) -> None:
    remember(
        store,
        NodeDraft("blue a", tier=Tier.SESSION, type=NodeType.FACT),
        NodeDraft("blue b", tier=Tier.SESSION, type=NodeType.DECISION),
        NodeDraft("blue c", tier=Tier.TASK, type=NodeType.DECISION),
    )
    given = NodeFilter(types=frozenset({NodeType.DECISION}))
    assert texts(hybrid_search(store, "blue tier:session", alpha=0, node_filter=given)) == ["blue b"]


def test_a_query_parsed_before_is_taken_as_it_is(store: Store) -> None:
    remember(store, "blue")
    assert texts(hybrid_search(store, parse_query("blue"), alpha=0)) == ["blue"]


def test_while_typing_all_words_narrow_and_the_last_may_grow(store: Store) -> None:
    remember(store, *(f"blue deploys {n}" for n in range(30)), *(f"blue checks {n}" for n in range(30)))
    assert all(
        text.startswith("blue dep") for text in texts(hybrid_search(store, "blue dep", alpha=0, is_typing=True))
    )
    assert not any("deploys" in text for text in texts(hybrid_search(store, "dep", alpha=0)))


def test_while_typing_too_few_hits_bring_any_word_back(store: Store) -> None:
    remember(store, "blue deploys", "blue checks")
    assert set(texts(hybrid_search(store, "blue dep", alpha=0, is_typing=True))) == {"blue deploys", "blue checks"}


@pytest.mark.parametrize("text", ["AND", '"', "content:", "NEAR(", "nosuch: x", "a OR"])
def test_a_fault_in_a_raw_query_is_shown_as_such(store: Store, text: str) -> None:
    remember(store, "blue")
    with pytest.raises(InvalidValueError, match="FTS5 syntax") as caught:
        hybrid_search(store, text, alpha=0, raw=True)
    assert text in caught.value.message


def test_a_raw_query_is_fts5s_own_language(store: Store) -> None:
    remember(store, "blue green deploys", "green", "blue only")
    answer = hybrid_search(store, "blue NOT green", alpha=0, raw=True)
    assert texts(answer) == ["blue only"]
    assert keyword(answer, "blue only").asked_terms == 2


def test_a_hit_explains_itself(store: Store) -> None:
    remember(store, "blue deploys of the shop", "blue blue", "red")
    answer = hybrid_search(store, "blue shop window", alpha=0)
    part = keyword(answer, "blue deploys of the shop")
    assert (part.matched_terms, part.asked_terms, part.rank) == (2, 3, 1)
    assert part.score == pytest.approx((part.bm25 + part.inside) / part.best_bm25)
    assert [answer.hits[0].row.excerpt[a:b] for a, b in answer.hits[0].matches] == ["blue", "shop"]


def test_matches_are_the_words_that_the_index_matched(store: Store) -> None:
    remember(store, "Deploying über 👍 Café: deployed, redeploy")
    [hit] = hybrid_search(store, "deploys cafe", alpha=0).hits
    assert [hit.row.excerpt[a:b] for a, b in hit.matches] == ["Deploying", "Café", "deployed"]


@pytest.mark.case("X01")
def test_a_hit_whose_text_holds_a_secret_is_flagged(store: Store) -> None:
    remember(store, "blue " + "x " * 300 + "AKIAIOSFODNN7EXAMPL9", "blue harmless")
    flags = {hit.row.excerpt[:8]: hit.flags for hit in hybrid_search(store, "blue", alpha=0).hits}
    assert "secret" in flags["blue x x"]
    assert "secret" not in flags["blue har"]


def test_a_family_store_is_searched_as_it_is(family_store_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in family_store_path.parent.iterdir()}
    with open_store(family_store_path) as store:
        [row] = store.read(
            lambda conn: conn.execute("SELECT content FROM nodes WHERE tier <> 'archive' LIMIT 1").fetchall()
        )
        word = max(str(row[0]).split(), key=len)
        assert hybrid_search(store, word, alpha=0).hits
        assert hybrid_search(store, "").hits
    assert {path.name: path.read_bytes() for path in family_store_path.parent.iterdir()} == before


def test_search_by_word_imports_neither_numpy_nor_openai(store: Store) -> None:
    remember(store, "blue")
    code = (
        "import sys; from tierdeck.store import open_store; from tierdeck.search import hybrid_search\n"
        f"with open_store({str(store.path)!r}) as s: assert len(hybrid_search(s, 'blue', alpha=0).hits) == 1\n"
        "print({'numpy', 'openai', 'textual', 'wordllama'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
