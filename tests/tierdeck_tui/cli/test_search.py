"""search and show: the hits, their form for people, pipes and programs, and what never shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.other_program import other_program
from tests.tierdeck_tui.cli.conftest import Command
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.store import add_nodes, open_store

KEY = "sk-test-0000abcdefgh1234"
HOSTILE = (
    "\x1b]52;c;aGFja2Vk\x07 paste",
    "\x1b]0;pwned\x07 title",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[1;1H cleared",
    "\x9b2J \x9d0;t\x9c c1",
    "bell \x07 return \rover",
    "bidi \u202egnp.exe \u2066x\u2069",
    "zero\u200bwidth \U000e0041tag",
    "[OPS-1234] fix [/etc/app] a[0] [bold red]x [data: /m?id=1-]",
)


def is_safe(text: str) -> bool:
    hidden = {"\u202e", "\u2066", "\u2069", "\u200b", "\U000e0041"}
    return not any((ord(c) < 0x20 and c != "\n") or 0x7F <= ord(c) <= 0x9F or c in hidden for c in text)


def add(db: Path, *drafts: NodeDraft) -> list[str]:
    with open_store(db, create=True) as store:
        return add_nodes(store, drafts)


def hits(run: Command, *args: str) -> list[str]:
    found = json.loads(run("search", *args, "--alpha", "0", "--json").stdout)
    return [hit["id"] for hit in found["hits"]]


def test_a_word_finds_its_memory(run: Command, filled: list[str]) -> None:
    assert hits(run, "redis") == [filled[2]]


def test_words_are_searched_while_another_program_holds_the_index(
    run: Command, db: Path, filled: list[str]
) -> None:
    run("embed")
    with other_program(Path(f"{db}-index")) as holder:
        holder.do("conn.execute('PRAGMA locking_mode=exclusive').fetchall(); conn.execute('BEGIN EXCLUSIVE')")
        result = run("search", "redis", "--ids")
    assert (result.exit_code, result.stdout.split()) == (0, [filled[2]])
    assert "keyword only" in result.stderr
    assert "another program holds it" in result.stderr


def test_a_mistyped_word_is_named_with_the_word_that_was_meant(run: Command, db: Path) -> None:
    add(db, NodeDraft("idempotency keys"), NodeDraft("Redis", tier=Tier.ARCHIVE))
    result = run("search", "--alpha", "0", "idempotncy", "rediss")
    assert result.stdout == ""
    assert "in no memory: “idempotncy” (near: idempotency)" in result.stderr
    assert "“rediss” (near, but filtered out or archived: redis)" in result.stderr
    [first, second] = json.loads(run("search", "--alpha", "0", "idempotncy", "rediss", "--json").stdout)["missing"]
    assert first == {"word": "idempotncy", "near": ["idempotency"], "hidden": []}
    assert second == {"word": "rediss", "near": [], "hidden": ["redis"]}


def test_without_words_the_newest_come_first(run: Command, db: Path) -> None:
    old, new = add(db, NodeDraft("one", created_at_ms=1_000_000), NodeDraft("two", created_at_ms=2_000_000))
    assert hits(run) == [new, old]


def test_the_text_form_has_two_lines_a_hit_and_no_talk(run: Command, filled: list[str]) -> None:
    result = run("search", "redis", "--alpha", "0")
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert filled[2][:8] in lines[0]
    assert "redis holds the sessions" in lines[1]


def test_ids_are_full_and_alone_on_their_lines(run: Command, filled: list[str]) -> None:
    assert sorted(run("search", "deploy", "--alpha", "0", "--ids").stdout.split()) == filled[:2]
    nothing = run("search", "zzznonexistent", "--alpha", "0", "--ids")
    assert nothing.exit_code == 0
    assert nothing.stdout == ""
    assert "nothing found" in nothing.stderr


@pytest.mark.spec("SPEC-09.04")
def test_explain_says_the_sum_and_both_sides(run: Command, filled: list[str]) -> None:
    text = run("search", "redis", "--alpha", "0", "--explain").stdout
    assert "0×" in text
    assert "bm25" in text
    assert "terms 1/1" in text


@pytest.mark.case("S08")
@pytest.mark.parametrize("words", [("rm", "-rf"), ("rm -rf",), ("--", "rm", "-rf")])
def test_what_looks_like_a_short_option_is_a_word(run: Command, filled: list[str], words: tuple[str, ...]) -> None:
    assert filled[3] in [
        hit["id"] for hit in json.loads(run("search", "--alpha", "0", "--json", *words).stdout)["hits"]
    ]


@pytest.mark.parametrize("left_out", ["-chrome", "-switching", "-c++h", "-his-hers", "-half:time"])
def test_a_word_to_leave_out_may_hold_the_letter_of_an_option(run: Command, db: Path, left_out: str) -> None:
    add(db, NodeDraft(f"zeppelin {left_out[1:]}"))
    [kept] = add(db, NodeDraft("zeppelin alone"))
    result = run("search", "zeppelin", left_out, "--alpha", "0", "--ids")
    assert "Usage" not in result.stdout
    assert result.stdout.split() == [kept]


def test_help_is_still_asked_for_among_words_and_a_value_may_begin_with_a_dash(
    run: Command, filled: list[str]
) -> None:
    assert run("search", "redis", "-h").stdout.startswith("Usage")
    result = run("search", "redis", "--alpha", "-1")
    assert result.exit_code == 2
    assert "-1" in result.stderr


def test_a_long_option_that_is_none_is_refused_and_not_searched_for(run: Command, filled: list[str]) -> None:
    result = run("search", "redis", "--jsno")
    assert result.exit_code == 2
    assert "--jsno" in result.stderr


@pytest.mark.parametrize("alpha", ["nan", "inf", "-inf", "-0.1", "1.01", "half"])
@pytest.mark.spec("SPEC-09.05")
def test_an_alpha_that_is_none_is_refused(run: Command, filled: list[str], alpha: str) -> None:
    result = run("search", "redis", "--alpha", alpha)
    assert result.exit_code == 2
    assert "alpha" in result.stderr
    assert result.stdout == ""


@pytest.mark.case("E07")
def test_a_limit_is_capped_with_a_note_may_be_0_and_is_refused_below(run: Command, filled: list[str]) -> None:
    many = run("search", "deploy", "--alpha", "0", "--limit", "5000", "--ids")
    assert sorted(many.stdout.split()) == filled[:2]
    assert "1,000, not 5,000" in many.stderr
    assert hits(run, "deploy", "--limit", "0") == []
    for limit in ("-1", "x"):
        assert run("search", "redis", "--limit", limit).exit_code == 2


def test_the_limit_bounds_the_hits(run: Command, filled: list[str]) -> None:
    assert len(hits(run, "--limit", "3")) == 3


def test_the_alpha_of_the_settings_is_used_and_the_flag_beats_it(
    run: Command, filled: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[search]\nalpha = 0.0\nlimit = 1\n")
    found = json.loads(run("search", "deploy", "--config", str(file), "--json").stdout)
    assert (found["asked_alpha"], found["limit_rows"], len(found["hits"])) == (0.0, 1, 1)
    found = json.loads(run("search", "deploy", "--config", str(file), "--json", "--alpha", "0.25").stdout)
    assert found["asked_alpha"] == 0.25


@pytest.fixture
def varied(db: Path) -> dict[str, str]:
    """Memories that differ in one thing each, all with the word deploy."""
    drafts = {
        "plain": NodeDraft("deploy"),
        "longterm": NodeDraft("deploy", tier=Tier.LONGTERM),
        "archived": NodeDraft("deploy", tier=Tier.ARCHIVE),
        "decision": NodeDraft("deploy", type=NodeType.DECISION),
        "sure": NodeDraft("deploy", confidence=0.95),
        "tagged": NodeDraft("deploy", metadata={"tags": ["ops"]}),
        "ours": NodeDraft("deploy", metadata={"project": "x", "src": "a=b"}),
        "old": NodeDraft("deploy", created_at_ms=1_000_000_000_000),
    }
    return dict(zip(drafts, add(db, *drafts.values()), strict=True))


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("--tier", "longterm"), {"longterm"}),
        (("--tier", "longterm", "--tier", "archive"), {"longterm", "archived"}),
        (("--type", "decision"), {"decision"}),
        (("--min-confidence", "0.9"), {"sure"}),
        (("--tag", "ops"), {"tagged"}),
        (("--project", "x"), {"ours"}),
        (("--meta", "src=a=b"), {"ours"}),
        (("--meta", "src=a=b", "--meta", "project=y"), set()),
        (("--until", "2002-01-01"), {"old"}),
        (("--since", "7d", "--type", "decision"), {"decision"}),
        (("--archived", "--tag", "ops"), {"tagged"}),
        (("tier:longterm",), {"longterm"}),
        (("--type", "decision", "--tier", "longterm"), set()),
    ],
)
def test_a_filter_option_keeps_what_it_says(
    run: Command, varied: dict[str, str], args: tuple[str, ...], names: set[str]
) -> None:
    assert set(hits(run, "deploy", *args)) == {varied[name] for name in names}


@pytest.mark.spec("SPEC-03.19", "SPEC-03.20")
def test_archived_memories_show_only_when_asked_for(run: Command, varied: dict[str, str]) -> None:
    assert varied["archived"] not in hits(run, "deploy")
    assert varied["archived"] in hits(run, "deploy", "--archived")


@pytest.mark.parametrize(
    "args",
    [
        ("--tier", "forever"),
        ("--type", "idea"),
        ("--min-confidence", "nan"),
        ("--min-confidence", "2"),
        ("--since", "soon"),
        ("--meta", "novalue"),
        ("--meta", "=v"),
        ("--tag", ""),
    ],
)
def test_a_filter_value_that_is_none_is_refused_by_its_option(
    run: Command, filled: list[str], args: tuple[str, ...]
) -> None:
    result = run("search", "deploy", *args)
    assert result.exit_code == 2
    assert args[0] in result.stderr


@pytest.mark.case("D11")
@pytest.mark.parametrize("key", ["x') OR 1=1 --", "a.b", '"', "k" * 900], ids=lambda key: key[:20])
def test_a_metadata_key_is_data(run: Command, varied: dict[str, str], key: str) -> None:
    assert hits(run, "deploy", "--meta", f"{key}=v") == []


@pytest.mark.case("S21", "S22")
@pytest.mark.parametrize(
    "words",
    ["x", "", "   ", "👍", "what?", "a,b", "#tag", "(", "*", "AND", '"unclosed', "NEAR(a b,2)", "\ud800", "-"],
)
def test_no_query_is_an_error_in_an_empty_store(run: Command, db: Path, words: str) -> None:
    add(db)
    result = run("search", "--alpha", "0", "--", words)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "empty" in result.stderr


@pytest.mark.case("S22")
def test_a_raw_expression_that_is_wrong_is_an_error_and_not_no_results(run: Command, filled: list[str]) -> None:
    assert run("search", "--raw", "deploy AND key", "--alpha", "0", "--ids").stdout.split() == [filled[1]]
    result = run("search", "--raw", "deploy AND (", "--alpha", "0")
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.case("E17")
def test_without_key_model_or_index_words_are_found_and_meaning_is_said_to_be_off(
    run: Command, filled: list[str]
) -> None:
    result = run("search", "redis", "--alpha", "0.5")
    assert result.exit_code == 0
    assert "redis holds the sessions" in result.stdout
    assert "keyword only: " in result.stderr
    assert "tierdeck embed" in result.stderr


@pytest.mark.case("X01")
def test_a_search_for_a_key_finds_its_memory_and_prints_the_key_nowhere(run: Command, db: Path) -> None:
    [node_id] = add(db, NodeDraft(f"export OPENAI_API_KEY={KEY}", metadata={"token": KEY}))
    for args in (
        ("search", KEY, "--alpha", "0"),
        ("search", KEY, "--alpha", "0", "--explain"),
        ("search", KEY, "--alpha", "0", "--json"),
        ("search", KEY),
        ("search",),
        ("search", "--json"),
        ("show", node_id),
        ("show", node_id, "--json"),
    ):
        result = run(*args)
        assert result.exit_code == 0
        assert node_id[:8] in result.stdout
        assert "0000abcd" not in result.stdout + result.stderr, args
    assert KEY in run("search", KEY, "--alpha", "0", "--reveal").stdout
    assert KEY in run("show", node_id, "--reveal").stdout


@pytest.mark.case("X01")
def test_a_key_that_a_list_cuts_in_half_does_not_show_its_first_half(run: Command, db: Path) -> None:
    add(db, *(NodeDraft("word " * 76 + " " * pad + f"key={KEY}" + "tail" * 9) for pad in range(24)))
    for args in (("search", "word", "--alpha", "0", "--limit", "50"), ("search", "--json", "--limit", "50")):
        assert "0000ab" not in run(*args).stdout


@pytest.mark.case("U01", "U05", "T05")
def test_stored_text_never_drives_the_terminal(run: Command, db: Path) -> None:
    ids = add(
        db,
        *(
            NodeDraft(f"hostile {text}", subtype=text, provenance=text, metadata={text: text, "tags": [text]})
            for text in HOSTILE
        ),
    )
    for node_id in ids[1:]:
        run("relate", ids[0], node_id, "--label", HOSTILE[0])
    run("edit", ids[0], "--confidence", "0.9", "--reason", HOSTILE[1])
    run("archive", ids[1], "--reason", HOSTILE[2])
    for args in (
        ("search", "hostile", "--alpha", "0", "--explain", "--archived"),
        ("search",),
        ("search", *HOSTILE),
        ("show", *ids),
        ("show", ids[0], "--reveal"),
        ("show", HOSTILE[0]),
        ("search", "--tag", HOSTILE[1]),
    ):
        result = run(*args)
        assert is_safe(result.stdout), args
        assert is_safe(result.stderr), args
    assert "[OPS-1234] fix [/etc/app] a[0] [bold red]x [data: /m?id=1-]" in run("search", "OPS-1234").stdout


@pytest.mark.case("U05")
def test_json_gives_the_same_text_back_losslessly(run: Command, db: Path) -> None:
    ids = add(db, *(NodeDraft(f"hostile {text}") for text in HOSTILE))
    output = run("show", *ids, "--json").stdout
    assert output.isascii()
    assert is_safe(output)
    assert [each["memory"]["content"] for each in json.loads(output)["memories"]] == [
        f"hostile {t}" for t in HOSTILE
    ]


def test_show_has_everything_known_about_a_memory(run: Command, filled: list[str]) -> None:
    edge_id = run("relate", filled[0], filled[1], "--label", "same key").stdout.strip()
    run("edit", filled[0], "--confidence", "0.9", "--meta", "src=wiki", "--reason", "checked by hand")
    run("archive", filled[0], "--reason", "done")
    text = run("show", filled[0][:6]).stdout
    for fact in (
        filled[0],
        "archive",
        "90%",
        "src: wiki",
        "checked by hand",
        "same key",
        edge_id,
        filled[1][:8],
        "done",
    ):
        assert fact in text
    [shown] = json.loads(run("show", filled[0], "--json").stdout)["memories"]
    assert shown["memory"]["id"] == filled[0]
    assert [move["to_tier"] for move in shown["tier_moves"]] == ["archive"]
    assert [change["new"] for change in shown["confidence_changes"]] == [0.9]
    assert [edge["id"] for edge in shown["relations"]] == [edge_id]
    assert [revision["kind"] for revision in shown["revisions"]] == ["edit"]
    assert [(entry["kind"], entry["reason"]) for entry in shown["promotion_log"]] == [("override", "done")]


@pytest.mark.case("X03")
def test_the_short_id_of_a_list_is_taken_by_show(run: Command, filled: list[str]) -> None:
    short = run("search", "redis", "--alpha", "0").stdout.split("\n")[0].split()[-1]
    assert filled[2] in run("show", short).stdout
