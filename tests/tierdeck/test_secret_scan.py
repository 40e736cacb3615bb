from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.secret_scan import find_secrets, has_secret, mask_secrets

SECRETS = {
    "OpenAI key": ("sk-test-0000000000000000", "{}"),
    "OpenAI project key": ("sk-proj-AbCdEf123456_-x9", "use {} for now"),
    "key in an export line": ("sk-test-0000…", "export OPENAI_API_KEY={}"),
    "Anthropic key": ("sk-ant-api03-Zm9vYmFyMTIz-AA", "({})"),
    "GitHub token": ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "git clone https://{}@github.com/a/b"),
    "GitHub fine-grained token": ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstu", "{}"),
    "GitLab token": ("glpat-abcDEF123456_7890xyz", "token is {}"),
    "Slack token": ("xoxb-123456789012-abcdefGHIJ", "{}"),
    "Amazon access id": ("AKIAIOSFODNN7EXAMPLE", "id {}"),
    "Amazon secret": ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = {}"),
    "Google key": ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "{}"),
    "Hugging Face token": ("hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345", "{}"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "cookie {}"),
    "bearer token": ("abcdef123456.xyz", "Authorization: Bearer {}"),
    "basic credentials": ("dXNlcjpwYXNzd29yZDE=", "authorization: basic {}"),
    "Telegram bot": ("123456789:AAabcdefghijklmnopqrstuvwxyz01", "{}"),
    "URL password": ("s3cret!", "postgres://app:{}@db.example.com:5432/x"),
    "URL password without user": ("hunter2", "redis://:{}@localhost"),
    "URL password with an at sign": ("p@ss", "amqp://u:{}@mq/"),
    "JSON password": ("hunter2", '{{"user": "bob", "password": "{}"}}'),
    "YAML password": ("hunter2x", "db:\n  password: {}\n"),
    "plain word as a password": ("correcthorse", "DB_PASSWORD={}"),
    "flag": ("hunter2!", "mysql --password {} -u root"),
    "query parameter": ("abc123def456", "https://api.example.com/v1?api_key={}&page=2"),
    "dict entry": ("f00ba7f00ba7", "conf['client_secret'] = '{}'"),
}


@pytest.mark.case("X01")
@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_whole_and_what_stands_around_it_stays(name: str) -> None:
    secret, frame = SECRETS[name]
    text = frame.format(secret)
    masked = mask_secrets(text)
    assert secret not in masked
    assert has_secret(text)
    before, after = frame.replace("{{", "{").replace("}}", "}").split("{}")
    assert masked.startswith(before)
    assert masked.endswith(after)
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize("kind", ["RSA ", "OPENSSH ", "EC ", "", "ENCRYPTED "])
def test_a_private_key_is_masked_from_its_first_to_its_last_line(kind: str) -> None:
    text = f"before\n-----BEGIN {kind}PRIVATE KEY-----\nMIIEow\nabc=\n-----END {kind}PRIVATE KEY-----\nafter"
    assert mask_secrets(text) == "before\n[hidden: private key]\nafter"


def test_two_private_keys_leave_what_stands_between_them() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
    assert mask_secrets(f"{key}\nbetween\n{key}") == "[hidden: private key]\nbetween\n[hidden: private key]"


def test_a_public_key_is_no_secret() -> None:
    assert not has_secret("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----")


@pytest.mark.case("X01")
@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_cut_off_by_a_list_shows_fewer_than_twenty_of_its_letters(name: str) -> None:
    secret, frame = SECRETS[name]
    start = frame.format(secret).index(secret)
    for kept in range(20, len(secret)):
        shown = mask_secrets(frame.format(secret)[: start + kept])
        assert secret[:kept] not in shown, shown


def test_a_private_key_cut_off_by_a_list_is_masked_to_the_end() -> None:
    assert mask_secrets("x -----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAK") == "x [hidden: private key]"


@pytest.mark.parametrize(
    "text",
    [
        "the token expires after five days",
        "password required",
        "The password must be changed once a year.",
        "secret: something nice",
        "max_tokens=4096",
        "token = tokenizer.encode(text)",
        "api_key=settings.api_key",
        "API_KEY=$OPENAI_API_KEY",
        "password: <your password>",
        "PASSWORD=${DB_PASSWORD}",
        "http://localhost:8080/x and ws://host:80",
        "see http://127.0.0.1:5432",
        "hf_hub_download fetches a file",
        "scikit-learn 1.5.2 and task-force",
        "primary_key=node_id",
        "commit 3f2a9c1b7d5e4f60718293a4b5c6d7e8f9012345",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "12:30:45 user:name",
        "basic understanding of bearer bonds",
        "",
    ],
)
def test_ordinary_text_holds_no_secret(text: str) -> None:
    assert find_secrets(text) == []
    assert mask_secrets(text) == text


@given(st.text(alphabet="sk-=:/@ \n\"'abctoenpwrdyA1ghp_BEGIN.{}$", max_size=300))
def test_what_is_found_is_in_order_apart_and_inside_the_text(text: str) -> None:
    end = 0
    for start, stop, kind in find_secrets(text):
        assert end <= start < stop <= len(text)
        assert kind
        end = stop
    assert has_secret(text) == bool(find_secrets(text))


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY----- ",
        "://a:b",
        "token",
        "token=",
        "sk-",
        'password="',
        "://:a",
        "sk-aaaaaaaa.",
        "A",
        "bearer ",
    ],
)
def test_the_time_grows_with_the_length_of_the_text_and_not_its_square(unit: str) -> None:
    """Four times the text: a quadratic pattern would take sixteen times as long. The best of five runs counts."""
    short = unit * (60_000 // len(unit))

    def best_s(text: str) -> float:
        times = []
        for _ in range(5):
            begun = time.process_time()
            find_secrets(text)
            times.append(time.process_time() - begun)
        return min(times)

    assert best_s(short * 4) < 10 * best_s(short) + 0.01
