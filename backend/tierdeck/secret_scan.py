"""Text that looks like a secret: private keys, tokens, passwords in URLs and in assignments. Pure.

A list shows memories masked, and nothing that looks like a secret goes to a remote model unless it was allowed.
Rather too much is found than too little: a wrongly masked word costs a key press, a leaked key costs the key. The
least lengths are short because a list shows cut text, and of a key that is cut off at most 19 letters may show.

Linear in the length of the text: every pattern begins with a literal or a keyword, and its repeats are bounded or
can't cross the next possible beginning: 0.2 to 0.5 s for a million characters, 0.1 ms for a row of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

KIND_PRIVATE_KEY = "private key"
KIND_TOKEN = "token"  # noqa: S105 - the name of a kind, not a secret
KIND_URL_PASSWORD = "password in a URL"  # noqa: S105
KIND_ASSIGNED = "assigned secret"

Span = tuple[int, int, str]

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")

# Beginnings that providers give their keys so that scanners find them; what follows is checked by `_is_random`.
_PREFIXES = (
    "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_",  # OpenAI, Anthropic and alike; Stripe
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-",  # GitHub, GitLab
    "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-",  # Slack
    "AIza", "ya29.", "GOCSPX-", "hf_", "gsk_", "xai-", "pplx-", "r8_", "nvapi-", "tgp_v1_", "jina_", "tvly-",
    "lsv2_", "npm_", "pypi-", "rubygems_", "dckr_pat_", "dop_v1_", "doo_v1_", "hvs.", "hvb.", "dp.pt.", "SG.",
    "shpat_", "shpss_", "shpca_", "sq0atp-", "sq0csp-", "lin_api_", "ntn_", "ATATT", "sntrys_", "sntryu_", "nfp_",
    "glsa_", "NRAK-", "PMAK-", "figd_", "sbp_", "AGE-SECRET-KEY-", "eyJ",  # the last begins every JSON web token
)  # fmt: skip
# By a sign that a text needs to hold one of them at all: most texts have no `_` and many no `-`.
_BY_SIGN = {
    sign: tuple(prefix for prefix in _PREFIXES if next((s for s in "_-." if s in prefix), "") == sign)
    for sign in ("_", "-", ".", "")
}
_PREFIXED = re.compile(
    rf"(?<![A-Za-z0-9_])(?:{'|'.join(re.escape(p) for p in _PREFIXES)})"
    r"([A-Za-z0-9_\-]{8,}(?:[.~+/=]+[A-Za-z0-9_\-]+){0,8})"
)
_ACCESS_ID = re.compile(r"(?<![A-Za-z0-9_])(?:AKIA|ASIA)[A-Z0-9]{8,}")  # Amazon
_BOT_TOKEN = re.compile(r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_\-]{8,}")  # Telegram
_WEBHOOK = re.compile(r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[A-Za-z0-9_/\-]{8,}")
_NEEDING = (
    (_ACCESS_ID, ("AKIA", "ASIA")),
    (_BOT_TOKEN, (":AA",)),
    (_WEBHOOK, ("hooks.slack.com/", "/api/webhooks/")),
)
_AUTHORIZATION = re.compile(r"(?i)\b(?:bearer|basic)[ \t]{1,4}([A-Za-z0-9_\-.~+/]{8,}={0,2})")
# The end of the text counts as the end of a password: a list may have cut it off. A port is no password.
_URL = re.compile(
    r"://[^\s/?#@:\"'<>]*:(?![0-9]{1,5}(?:[/?#\s]|\Z))([^\s/\"'<>]+(?=@)|[^\s/?#@\"'<>]+(?=\Z))",
)
_PASSWORD = r"passphrase|password|passwd|passwort|pwd|(?<![a-z])pass(?![a-z])"  # noqa: S105 - a pattern
_ASSIGNED = re.compile(
    rf"(?i)(?:({_PASSWORD})|(?:api|access|account|secret|private|encryption|signing|auth|client)[_\- ]?key|secret"
    r"|token|credential)[A-Za-z0-9_\-]{0,24}[\"']?\]?(?:[ \t]{0,8}(=>|:=|==?|:)[ \t]{0,8}|[ \t]{1,4}(?=[^\s:=]))"
    r"(?:([\"'`])([^\"'`\n]{4,1024})|([^\s\"'`,;&|<>(){}\[\]]{6,}))"
)
_ASSIGNED_WORDS = ("pass", "pwd", "key", "secret", "token", "credential")  # one is in each of its keywords
_ODD_LETTERS = "\u017f\u212a\u0131\u0130"  # all that a pattern takes for s, k or i, and that are none
_PLACEHOLDER = re.compile(
    r"(?i)[$<{%*.\[(]|x{3}|\u2022|your|example|change|redacted|masked|hidden|placeholder|none\b|null\b|undefined"
)
_NAME = re.compile(r"[A-Za-z]+(?:[.\-/_]+[A-Za-z]+)*[.:!?]?")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_WORD = re.compile(r"[A-Za-z]+")
_TYPE_WORDS = frozenset({"string", "required", "optional", "password", "secret", "prompt", "missing", "invalid"})


def find_secrets(text: str) -> list[Span]:
    """Where the text looks like it holds a secret.

    Returns:
        (start, end, kind) in characters, in order, never overlapping; of an assignment or a URL only the value, so
        that what is left still says what was hidden. The kinds are the `KIND_...` constants.
    """
    found: list[Span] = []
    for start, end, kind in sorted(_spans(text), key=lambda s: (s[0], -s[1])):
        if found and start < found[-1][1]:
            before = found[-1]
            found[-1] = (before[0], max(before[1], end), before[2])
        else:
            found.append((start, end, kind))
    return found


def mask_secrets(text: str) -> str:
    """The text with every secret replaced by `[hidden: its kind]`; the same text when there is none."""
    spans = find_secrets(text)
    if not spans:
        return text
    parts, at = [], 0
    for start, end, kind in spans:
        parts += [text[at:start], f"[hidden: {kind}]"]
        at = end
    return "".join([*parts, text[at:]])


def has_secret(text: str) -> bool:
    """Whether anything in the text looks like a secret."""
    return next(_spans(text), None) is not None


def _spans(text: str) -> Iterator[Span]:
    yield from _private_keys(text)
    for match in _PREFIXED.finditer(text) if _has_prefix(text) else ():
        if _is_random(match.group(1)):
            yield *match.span(), KIND_TOKEN
    for pattern, needs in _NEEDING:
        for match in pattern.finditer(text) if any(part in text for part in needs) else ():
            yield *match.span(), KIND_TOKEN
    may_assign, may_authorize = _keywords_in(text)
    for match in _AUTHORIZATION.finditer(text) if may_authorize else ():
        if _is_random(match.group(1)):
            yield *match.span(1), KIND_TOKEN
    for match in _URL.finditer(text) if "://" in text else ():
        if not _PLACEHOLDER.match(match.group(1)):
            yield *match.span(1), KIND_URL_PASSWORD
    for match in _ASSIGNED.finditer(text) if may_assign else ():
        if _is_secret_value(match):
            yield *match.span(4 if match.group(3) else 5), KIND_ASSIGNED


def _has_prefix(text: str) -> bool:
    """Whether a key's beginning stands in the text at all: looking for each takes a fifth of the pattern's time."""
    return any(sign in text and any(prefix in text for prefix in prefixes) for sign, prefixes in _BY_SIGN.items())


def _keywords_in(text: str) -> tuple[bool, bool]:
    """Whether the slow patterns, for assignments and for authorizations, can match: they took 2/3 of the time.

    Of a text with an odd letter nothing is said: `re.IGNORECASE` takes an `ſ` for an `s`.
    """
    if not text.isascii() and any(letter in text for letter in _ODD_LETTERS):
        return True, True
    lower = text.lower()
    return any(word in lower for word in _ASSIGNED_WORDS), "bearer" in lower or "basic" in lower


def _private_keys(text: str) -> Iterator[Span]:
    """From BEGIN to END; without an END, which a list may have cut off, to the end of the text."""
    at = 0
    while begin := _PEM_BEGIN.search(text, at):
        end = _PEM_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at, KIND_PRIVATE_KEY


def _is_random(body: str) -> bool:
    """A key has digits, or capitals inside words, or one long run of letters; `hf_hub_download` has none."""
    if any(c.isdigit() for c in body) or _INNER_CAPITAL.search(body):
        return True
    return any(len(run) >= 16 for run in re.split(r"[_\-.]", body))


def _is_secret_value(match: re.Match[str]) -> bool:
    is_password, sign, quote = match.group(1) is not None, match.group(2), match.group(3)
    value = match.group(4) if quote else match.group(5)
    if _PLACEHOLDER.match(value) or value.lower().rstrip(".:!?") in _TYPE_WORDS:
        return False
    has_digit = any(c.isdigit() for c in value)
    has_letter = any(c.isalpha() for c in value)
    if not sign:  # `--token abc1`, "the password hunter2": only what no word looks like
        return has_digit and has_letter and " " not in value
    if is_password and (quote or sign != ":"):
        return " " not in value and (_WORD.fullmatch(value) is not None or _NAME.fullmatch(value) is None)
    if " " in value or _NAME.fullmatch(value):
        return len(value) >= 20 and _WORD.fullmatch(value) is not None
    return has_letter and len(value) >= 6
