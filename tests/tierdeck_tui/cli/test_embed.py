"""embed: what leaves the machine and what is asked first, how it stops and goes on, what it says."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.tierdeck.embed_server import EmbedServer, Fault, dead_url
from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import command_line, in_terminal, piped
from tierdeck.model import NodeDraft
from tierdeck.store import add_nodes, open_store

KEY = "sk-proj-abcd1234efgh5678"
REMOTE = ("--model", "m-1", "--dimensions", "8")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbedServer]:
    """An embeddings server, and the variables that point at it."""
    with EmbedServer() as server:
        monkeypatch.setenv("TIERDECK_EMBEDDING_BASE_URL", server.base_url)
        monkeypatch.setenv("TIERDECK_EMBEDDING_MAX_ATTEMPTS", "1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def sent(server: EmbedServer, words: str) -> bool:
    return any(words in text for text in server.inputs)


@pytest.mark.case("E18")
@pytest.mark.spec("SPEC-09.01")
def test_a_key_in_the_environment_sends_nothing(run: Command, filled: list[str], server: EmbedServer) -> None:
    result = run("embed", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["report"]["embedded"] == 4
    assert json.loads(result.stdout)["model"]["provider"] == "local"
    assert json.loads(run("search", "deploy", "--json").stdout)["degraded"] is None
    assert server.calls == []


def test_after_embedding_meaning_finds_what_no_word_does(run: Command, filled: list[str]) -> None:
    run("embed")
    found = json.loads(run("search", "rollout", "--alpha", "1", "--json").stdout)
    assert (found["alpha"], found["degraded"]) == (1.0, None)
    assert found["hits"]
    assert all(hit["keyword"] is None for hit in found["hits"])


def test_a_second_run_has_nothing_to_do(run: Command, filled: list[str]) -> None:
    run("embed")
    result = run("embed")
    assert (result.exit_code, result.stdout) == (0, "embedded 0 of 0 with wordllama-256\n")


def test_vectors_that_were_overwritten_are_told_though_nothing_is_to_be_embedded_and_rebuilding_mends_them(
    run: Command, db: Path, filled: list[str]
) -> None:
    run("embed")
    with closing(apsw.Connection(f"{db}-index")) as conn:
        conn.execute("UPDATE node_embeddings_vector_chunks00 SET vectors = randomblob(length(vectors))")
    result = run("embed")
    assert result.exit_code != 0
    assert "4 of 4 vectors in chunk 1 are not of length 1" in result.stderr
    assert "embed --rebuild" in result.stderr
    assert run("embed", "--rebuild", "--yes").exit_code == 0
    assert run("embed").exit_code == 0


def test_status_says_how_far_it_is_and_makes_nothing(run: Command, db: Path, filled: list[str]) -> None:
    before = json.loads(run("embed", "--status", "--json").stdout)["coverage"]
    assert (before["total"], before["embedded"], before["pending"]) == (4, 0, 4)
    assert not Path(f"{db}-index").exists()
    run("embed")
    run("edit", filled[0], "--content", "another text")
    after = json.loads(run("embed", "--status", "--json").stdout)["coverage"]
    assert (after["embedded"], after["stale"], after["by_model"]) == (3, 1, {"wordllama-256": 4})
    assert "1 of an older text" in run("embed", "--status").stdout


def test_without_a_terminal_and_without_yes_nothing_is_sent(
    run: Command, filled: list[str], server: EmbedServer
) -> None:
    result = run("embed", *REMOTE)
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert server.calls == []
    assert "local" in json.loads(run("embed", "--status", "--json").stdout)["model"]["provider"]


def test_the_question_says_where_to_how_much_and_for_what_price(
    db: Path, filled: list[str], server: EmbedServer, tmp_path: Path
) -> None:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    refused = in_terminal(db, "embed", *REMOTE, answers=[("[y/N]", "\n")])
    assert refused.exit_code == 130
    assert server.calls == []
    for fact in ("4 texts", "tokens", host, "m-1", "a price that is not in the settings"):
        assert fact in refused.shown
    file = tmp_path / "config.toml"
    file.write_text('[embedding]\nprices_usd = { "m-1" = 10000 }\n')
    agreed = in_terminal(db, "embed", *REMOTE, "--config", str(file), answers=[("[y/N]", "y\n")])
    assert agreed.exit_code == 0
    assert "at most $28." in agreed.shown  # the 64 fixed sentences of a model's first run are counted in
    assert sent(server, "blue green")


@pytest.mark.case("E17", "X01")
def test_a_confirmed_model_is_the_stores_own_from_then_on_and_the_key_is_never_shown(
    run: Command, filled: list[str], server: EmbedServer
) -> None:
    results = [
        run("embed", *REMOTE, "--yes"),
        run("embed", "--status"),
        run("config"),
        run("search", "deploy", "--json"),
    ]
    assert [result.exit_code for result in results] == [0, 0, 0, 0]
    assert json.loads(results[3].stdout)["model"] == "m-1"
    assert {call.model for call in server.calls} == {"m-1"}
    assert {call.authorization for call in server.calls} == {f"Bearer {KEY}"}
    assert server.inputs[-1] == "deploy"
    assert all("abcd1234" not in result.stdout + result.stderr for result in results)


@pytest.mark.case("E17")
def test_a_remote_model_without_a_key_is_refused_before_any_question(
    run: Command, filled: list[str], server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    result = run("embed", "--provider", "openai")
    assert result.exit_code == 6
    assert "OPENAI_API_KEY" in result.stderr
    assert server.calls == []


@pytest.mark.case("E12")
def test_one_refused_memory_is_named_and_the_rest_is_done(
    run: Command, filled: list[str], server: EmbedServer
) -> None:
    server.fault_for = lambda text: Fault(400, message="[red] no [/x] \x1b]0;x\x07") if "redis" in text else None
    result = run("embed", *REMOTE, "--yes")
    assert result.exit_code == 10
    assert result.stdout == "embedded 3 of 4 with m-1\n"
    assert "1 refused" in result.stderr
    assert filled[2][:8] in result.stderr
    assert "\x1b" not in result.stderr
    server.fault_for = lambda text: None
    assert run("embed", "--yes").stdout == "embedded 0 of 0 with m-1\n"
    assert run("embed", "--yes", "--retry-failed").stdout == "embedded 1 of 1 with m-1\n"


@pytest.mark.case("E17")
def test_a_dead_server_is_said_and_nothing_is_marked_done(
    run: Command, filled: list[str], server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERDECK_EMBEDDING_BASE_URL", dead_url())
    result = run("embed", *REMOTE, "--yes")
    assert result.exit_code == 6
    assert "Traceback" not in result.stderr
    status = json.loads(run("embed", "--status", "--json").stdout)["coverage"]
    assert (status["embedded"], status["pending"]) == (0, 4)
    assert run("search", "redis", "--ids").stdout.split() == [filled[2]]


@pytest.mark.case("X01")
def test_a_secret_is_not_sent_unless_allowed(
    run: Command, db: Path, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(db, create=True) as store:
        add_nodes(
            store, [NodeDraft("harmless"), NodeDraft("export TOKEN=ghp_abcdefghij0123456789abcdefghij012345")]
        )
    result = run("embed", *REMOTE, "--yes")
    assert "1 left out" in result.stderr
    assert sent(server, "harmless")
    assert not sent(server, "ghp_")
    monkeypatch.setenv("TIERDECK_EMBEDDING_SEND_SECRETS", "true")
    run("embed", "--yes")
    assert sent(server, "ghp_")


@pytest.mark.case("X01")
def test_a_typed_key_is_not_sent_either(run: Command, filled: list[str], server: EmbedServer) -> None:
    run("embed", *REMOTE, "--yes")
    result = run("search", "ghp_abcdefghij0123456789abcdefghij012345")
    assert "keyword only: the query looks like a secret" in result.stderr
    assert not sent(server, "ghp_")
    assert run("search", "redis").stderr == ""
    assert sent(server, "redis")


@pytest.mark.case("E09")
def test_another_model_is_said_and_not_compared_and_its_vectors_are_made_anew(
    run: Command, filled: list[str], server: EmbedServer
) -> None:
    run("embed")
    result = run("search", "redis", "--alpha", "0.5")
    assert result.stderr == ""
    other = {"TIERDECK_EMBEDDING_PROVIDER": "openai", "TIERDECK_EMBEDDING_MODEL": "m-2"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in other.items():
            patch.setenv(name, value)
        patch.setenv("TIERDECK_EMBEDDING_DIMENSIONS", "8")
        shown = run("search", "redis", "--alpha", "0.5")
        assert "redis holds" in shown.stdout
        assert "4 memories embedded by wordllama-256" in shown.stderr
        assert server.calls == []
        assert run("embed", "--yes").exit_code == 0
        assert json.loads(run("search", "redis", "--json").stdout)["model"] == "m-2"


def test_rebuild_asks_and_makes_every_vector_anew(run: Command, db: Path, filled: list[str]) -> None:
    run("embed")
    index = Path(f"{db}-index")
    index.write_bytes(b"\xa5" * 70_000)
    broken = run("search", "redis")
    assert "redis holds" in broken.stdout
    assert "--rebuild" in broken.stderr
    assert run("embed", "--rebuild").exit_code == 2
    assert run("embed", "--rebuild", "--yes").stdout == "embedded 4 of 4 with wordllama-256\n"


def test_ctrl_c_stops_it_and_another_run_goes_on(
    db: Path, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(db, create=True) as store:
        add_nodes(store, (NodeDraft(f"memory number {n}") for n in range(40)))
    monkeypatch.setenv("TIERDECK_EMBEDDING_BATCH_ROWS", "4")
    seen = threading.Event()
    server.on_request = lambda texts: seen.set() if any("memory number" in text for text in texts) else None
    server.delay_s = 0.2
    process = subprocess.Popen(
        command_line(db, "embed", *REMOTE, "--yes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert seen.wait(60)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out.startswith("embedded ")
    assert "the next run goes on" in err
    server.delay_s = 0.0
    done = int(out.split()[1])
    again = piped(db, "embed", "--yes")
    assert again.returncode == 0
    assert again.stdout.decode() == f"embedded {40 - done} of {40 - done} with m-1\n"


@pytest.mark.case("U04", "U05")
def test_the_bar_shows_texts_literally_and_only_in_a_terminal(db: Path) -> None:
    with open_store(db, create=True) as store:
        add_nodes(store, [NodeDraft("[data: /m?id=1-] [/x] \x1b]0;pwned\x07 \x9b2J")])
    shown = in_terminal(db, "embed").shown
    assert "embedding █" in shown
    assert "[data: /m?id=1-] [/x] ␛]0;pwned␇ ‹009B›" in shown
    assert "\x1b]0" not in shown
    assert piped(db, "embed", "--rebuild", "--yes").stderr.startswith(b"removed ")


@pytest.mark.spec("SPEC-09.06")
def test_a_memory_whose_flag_is_off_is_not_embedded(run: Command, server: EmbedServer) -> None:
    run("add", "for my eyes only", "--no-embedding")
    run("add", "for everybody")
    run("embed", *REMOTE, "--yes")
    assert sent(server, "everybody")
    assert not sent(server, "my eyes")
    assert run("search", "eyes", "--ids", "--alpha", "0").stdout != ""


@pytest.mark.parametrize(
    "args", [("--dimensions", "0"), ("--dimensions", "9000"), ("--model", ""), ("--provider", "x")]
)
def test_a_wrong_model_or_length_is_refused(run: Command, filled: list[str], args: tuple[str, ...]) -> None:
    assert run("embed", *args).exit_code == 2


@pytest.mark.parametrize("slip", ["wordlama-256", "Wordllama-256", "multilingual-e5-small-q"])
def test_a_slip_in_the_name_of_a_model_of_this_machine_sends_nothing(
    run: Command, filled: list[str], server: EmbedServer, slip: str
) -> None:
    found = run("embed", "--yes", "--model", slip)
    assert found.exit_code == 2
    assert f"embed with {slip}: this machine has no such model" in found.stderr
    assert "--provider openai" in found.stderr
    assert server.inputs == []


def test_a_foreign_store_is_embedded_into_the_cache_and_stays_as_it_is(
    family_store_path: Path, isolated_environment: Path
) -> None:
    before = sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir())
    assert piped(family_store_path, "embed").returncode == 0
    found = json.loads(piped(family_store_path, "search", "test", "--json").stdout)
    assert (found["model"], found["degraded"]) == ("wordllama-256", None)
    assert sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir()) == before
    assert list((isolated_environment / "cache").rglob("*-index"))
