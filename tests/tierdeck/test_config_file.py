"""The settings file: what is read, what is refused and with which words, what a variable overrides."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path

import pytest

from tierdeck.config import DEFAULT_ORIGIN, Origin, Settings
from tierdeck.config_file import default_path, default_text, read_settings, write_default
from tierdeck.config_keys import KEYS, settings_of, values_of
from tierdeck.errors import ConfigError, InvalidValueError


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_every_setting_is_the_default_and_says_so() -> None:
    loaded = read_settings()
    assert loaded.settings == Settings()
    assert not loaded.has_file
    assert set(loaded.origins.values()) == {DEFAULT_ORIGIN}
    assert list(loaded.origins) == [key.name for key in KEYS]


def test_the_default_file_parses_back_to_the_defaults(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path, default_text())).settings == Settings()


def test_each_commented_default_says_the_true_default(tmp_path: Path) -> None:
    taken_in = re.sub(r"(?m)^#(?=\w)", "", default_text())
    parsed = tomllib.loads(taken_in)
    assert {f"{table}.{key}" for table, keys in parsed.items() for key in keys} == {key.name for key in KEYS}
    assert read_settings(written(tmp_path, taken_in)).settings == Settings()


def test_every_setting_of_the_dataclasses_has_a_key() -> None:
    values = values_of(Settings())
    assert settings_of(values) == Settings()
    settings = Settings()
    parts = (settings.search, settings.embedding, settings.promotion, settings.checkpoints, settings.console)
    assert len(values) == sum(len(part.__slots__) for part in parts) + 1  # and the store's path


def test_values_of_the_file_are_in_force_and_named_as_its(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '[store]\npath = "~/mem.db"\n[search]\nalpha = 1\nlimit = 7\n[embedding]\nprovider = "openai"\n'
        'base_url = "http://127.0.0.1:9/v1/"\nprices_usd = { mine = 1 }\n'
        '[console.keymap]\n"search.query" = "ctrl+f"\n',
    )
    loaded = read_settings(path)
    assert loaded.settings.store == "~/mem.db"
    assert loaded.settings.search.alpha == 1.0
    assert loaded.settings.search.limit_rows == 7
    assert loaded.settings.embedding.provider == "openai"
    assert loaded.settings.embedding.base_url == "http://127.0.0.1:9/v1"
    assert loaded.settings.embedding.prices_usd["mine"] == 1.0
    assert loaded.settings.embedding.prices_usd["text-embedding-3-small"] == 0.02
    assert loaded.settings.console.keymap == {"search.query": "ctrl+f"}
    assert loaded.origins["search.limit"] == Origin("file", str(path))
    assert loaded.origins["search.alpha"] == Origin("file", str(path))
    assert loaded.origins["console.theme"] == DEFAULT_ORIGIN


def test_a_variable_beats_the_file_and_a_flag_beats_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "[search]\nalpha = 0.1\n")
    monkeypatch.setenv("TIERDECK_SEARCH_ALPHA", "0.2")
    loaded = read_settings(path)
    assert loaded.settings.search.alpha == 0.2
    assert loaded.origins["search.alpha"] == Origin("environment", "TIERDECK_SEARCH_ALPHA")
    nearer = loaded.with_value("search.alpha", 0.3, Origin("flag", "--alpha"))
    assert nearer.settings.search.alpha == 0.3
    assert str(nearer.origins["search.alpha"]) == "flag --alpha"
    assert loaded.settings.search.alpha == 0.2


@pytest.mark.spec("SPEC-02.02", "SPEC-02.03")
def test_the_familys_variable_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLM_MEMORY_DB", "/data/agent.db")
    loaded = read_settings()
    assert loaded.settings.store == "/data/agent.db"
    assert loaded.origins["store.path"] == Origin("environment", "RLM_MEMORY_DB")


def test_a_path_may_hold_what_the_system_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/data/\x1b[31m\udcff\n.db"
    monkeypatch.setenv("RLM_MEMORY_DB", path)
    assert read_settings().settings.store == path
    with pytest.raises(InvalidValueError, match="a path of at most 4,096 characters"):
        read_settings().with_value("store.path", "a" * 5_000, Origin("flag", "--db"))


@pytest.mark.parametrize(("text", "value"), [("true", True), ("Yes", True), ("0", False), ("off", False)])
def test_a_switch_in_a_variable_reads_plain_words(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERDECK_EMBEDDING_SEND_SECRETS", text)
    assert read_settings().settings.embedding.send_secrets is value


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERDECK_SEARCH_ALPHA", "")
    assert read_settings().origins["search.alpha"] == DEFAULT_ORIGIN


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TIERDECK_SEARCH_ALPHA", "nan"),
        ("TIERDECK_SEARCH_ALPHA", "half"),
        ("TIERDECK_SEARCH_LIMIT", "1.5"),
        pytest.param("TIERDECK_SEARCH_LIMIT", "9" * 6000, id="6,000 digits"),
        ("TIERDECK_EMBEDDING_PROVIDER", "OPENAI"),
        ("TIERDECK_EMBEDDING_SEND_SECRETS", "maybe"),
    ],
)
def test_a_wrong_variable_is_refused_by_its_name(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigError, match=name) as caught:
        read_settings()
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[search]\nalpha = 1.5", "search.alpha = 1.5 is not a number from 0 to 1"),
        ("[search]\nalpha = nan", "search.alpha = nan is not a number from 0 to 1"),
        ("[search]\nalpha = inf", "search.alpha = inf is not a number"),
        ("[search]\nalpha = true", "search.alpha = True is not a number"),
        ('[search]\nalpha = "0.5"', "search.alpha = '0.5' is not a number"),
        ("[search]\nalpha = 2026-01-01", "search.alpha = datetime.date"),
        ("[search]\nlimit = 0", "search.limit = 0 is not a whole number from 1 to 1,000"),
        ("[search]\nlimit = 2.0", "search.limit = 2.0 is not a whole number"),
        pytest.param(f"[search]\nlimit = {'9' * 400}", "search.limit = 9999", id="400 digits"),
        (
            '[embedding]\nprovider = "cohere"',
            "embedding.provider = 'cohere' is not one of auto, local, encoder, openai, off",
        ),
        ("[embedding]\nbatch_rows = 4096", "embedding.batch_rows = 4096 is not a whole number from 1 to 2,048"),
        ("[embedding]\ndimensions = -1", "embedding.dimensions = -1 is not"),
        ("[embedding]\ntimeout_s = 0", "embedding.timeout_s = 0 is not a number from 0.1 to 600"),
        ('[embedding]\nsend_secrets = "no"', "embedding.send_secrets = 'no' is not true or false"),
        ('[embedding]\nmodel = ""', "embedding.model = '' is not one line of text"),
        ('[embedding]\nmodel = "a\\u001b[2J"', "embedding.model = 'a\\x1b[2J' is not one line"),
        (
            '[embedding]\nbase_url = "file:///etc/passwd"',
            "embedding.base_url = 'file:///etc/passwd' is not an http",
        ),
        ('[embedding]\nbase_url = "http://[::1"', "embedding.base_url = 'http://[::1' is not an http"),
        ("[embedding]\nprices_usd = 3", "embedding.prices_usd = 3 is not a table"),
        ("[embedding.prices_usd]\nm = -1", "embedding.prices_usd = -1 is not a number"),
        ('[console]\ntheme = "solarized"', "console.theme = 'solarized' is not one of dark, light, ansi"),
        ('[console]\nkeymap = ["a"]', "console.keymap = ['a'] is not a table of texts"),
        ("[console.keymap]\nx = 1", "console.keymap = 1 is not one line of text"),
        ("[search]\nbeta = 1", "search.beta is unknown; [search] takes alpha, limit"),
        (
            "[serach]\nalpha = 1",
            "[serach] is unknown; the tables are store, search, embedding, promotion, checkpoints, console",
        ),
        ("alpha = 1", "[alpha] is unknown"),
        ("search = 1", "search is not a table"),
        ("[search\nalpha = 1", "not TOML"),
        ("[search]\nalpha = 1\nalpha = 1", "not TOML"),
        pytest.param(f"x = {'[' * 5000}", "not TOML", id="nested too deeply"),
        pytest.param(f"[search]\nlimit = {'9' * 5000}", "not TOML", id="5,000 digits"),
    ],
)
def test_what_is_wrong_is_refused_with_file_key_value_and_what_is_allowed(
    text: str, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    assert caught.value.message.startswith(f"read {path}: ")
    assert said in caught.value.message
    assert caught.value.exit_code == 8


@pytest.mark.case("E17")
@pytest.mark.parametrize(
    "text",
    [
        '[embedding]\napi_key_env = "sk-proj-abc123"',
        '[embedding]\napi_key = "sk-proj-abc123"',
        '[embedding]\nopenai_token = "sk-proj-abc123"',
        'api_key = "sk-proj-abc123"',
        'embedding = "sk-proj-abc123"',
        '[embedding]\nbase_url = "https://me:sk-proj-abc123@host/v1"',
    ],
)
def test_a_key_written_into_the_file_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(written(tmp_path, text))
    assert "abc123" not in f"{caught.value.message} {caught.value.hint}"


def test_a_key_written_into_the_file_is_told_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(written(tmp_path, '[embedding]\napi_key = "sk"'))
    assert "embedding.api_key_env" in str(caught.value.hint)


def test_a_file_that_was_named_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "none.toml"
    with pytest.raises(ConfigError, match="no such file"):
        read_settings(missing)
    monkeypatch.setenv("TIERDECK_CONFIG", str(missing))
    assert default_path() == missing
    with pytest.raises(ConfigError, match="no such file"):
        read_settings()


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe[search]", b"[search]\nalpha = 0.5 # \xe9", b"#" * 1_000_001],
    ids=["UTF-16", "Latin-1", "1 MB"],
)
def test_a_file_that_is_no_utf8_text_of_its_size_is_refused(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(raw)
    with pytest.raises(ConfigError, match=re.escape(str(path))):
        read_settings(path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="directory"):
        read_settings(tmp_path)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[search]\nalpha = 0.25\n")
    assert read_settings(path).settings.search.alpha == 0.25


def test_a_flag_is_checked_by_the_same_rule() -> None:
    with pytest.raises(InvalidValueError, match="set --dimensions: 0 is not a whole number from 1 to 8,192"):
        read_settings().with_value("embedding.dimensions", 0, Origin("flag", "--dimensions"))


def test_the_default_file_is_written_once_for_its_owner_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    write_default(path)
    assert path.read_text("utf-8") == default_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("[search]\nalpha = 0.9\n")
    with pytest.raises(ConfigError, match="exists already"):
        write_default(path)
    assert read_settings(path).settings.search.alpha == 0.9
