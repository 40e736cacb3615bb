"""Texts of any number, recombined from real documents, with the names that agents write sprinkled in.

A memory keeps to one document, with a sentence of another now and then; many sentences are two halves joined, so
that hardly any text comes twice. The same number gives the same text in every store.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

BLOCK_ROWS = 10_000
SEED = 20_260_901
MAX_TEXT_CHARS = 4_000
_SENTENCES = (1, 2, 3, 4, 6, 12)
_SENTENCES_SHARE = (35, 30, 18, 10, 5, 2)  # some 400 characters on average
_MIN_CHARS, _MAX_CHARS = 20, 600
_JOINED, _ELSEWHERE, _NAMED, _CODED, _CJK = 0.4, 0.2, 0.3, 0.04, 0.03
_SIGNS = ("C++", "C#", ".env", "F#", "node.js", ".gitignore", "std::vector", "->next", "R&D", "e2e", "k8s", "i18n")
_EXTENSIONS = ("py", "rs", "ts", "sql", "toml", "md")
_WHO = ("用户", "数据库", "搜索引擎", "缓存", "服务器", "配置文件", "検索", "設定", "会議", "검색", "메모리")
_WHAT = (
    "需要更新",
    "已经完成",
    "出现错误",
    "支持向量",
    "返回结果",
    "を確認する",
    "が失敗した",
    "개선이 필요",
    "저장했다",
)


class TextSource:
    """Recombines the documents of the collections in a folder (`*/docs.jsonl`, one {id, text} a line)."""

    def __init__(self, data: Path) -> None:
        self._documents = [
            sentences for path in sorted(data.glob("*/docs.jsonl")) for sentences in _documents(path)
        ]
        words = {
            word
            for document in self._documents
            for text in document
            for word in re.findall(r"\b[a-z]{4,9}\b", text)
        }
        self._words = sorted(words)
        if len(self._documents) < 2 or len(self._words) < 2:
            raise SystemExit(f"{data}: no folder in it has a docs.jsonl with sentences")

    def block(self, number: int) -> list[str]:
        """The texts `number * BLOCK_ROWS` and on; as many as `BLOCK_ROWS`."""
        rng = random.Random(f"{SEED}/text/{number}")
        return [self._text(rng) for _ in range(BLOCK_ROWS)]

    def name(self, rng: random.Random) -> str:
        """A name as programs and notes have it: camelCase, snake_case, a path, a ticket, a version, a sign."""
        first, second, third = (rng.choice(self._words) for _ in range(3))
        kinds: tuple[Callable[[], str], ...] = (
            lambda: f"{first}{second.capitalize()}{third.capitalize()}",
            lambda: f"{first}_{second}_{rng.randrange(100)}",
            lambda: f"src/{first}/{second}_{third}.{rng.choice(_EXTENSIONS)}",
            lambda: f"{first[:3].upper()}-{rng.randrange(10_000):04}",
            lambda: f"{second} v{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(20)}",
            lambda: f"{rng.getrandbits(40):010x}",
            lambda: rng.choice(_SIGNS),
        )
        return rng.choice(kinds)()

    def cjk(self, rng: random.Random) -> str:
        """A short sentence in Chinese, Japanese or Korean; what stands where may be of two of them."""
        return f"{rng.choice(_WHO)}{rng.choice(_WHAT)}"

    def _text(self, rng: random.Random) -> str:
        document = rng.choice(self._documents)
        pieces = [self._sentence(rng, document) for _ in range(rng.choices(_SENTENCES, _SENTENCES_SHARE)[0])]
        if rng.random() < _NAMED:
            pieces.insert(rng.randrange(len(pieces) + 1), f"See {self.name(rng)} and {self.name(rng)}.")
        if rng.random() < _CODED:
            pieces.append(f"`{self.name(rng)}({rng.choice(self._words)}={rng.randrange(1000)})`")
        if rng.random() < _CJK:
            pieces.append(f"{self.cjk(rng)}。")
        return " ".join(pieces)[:MAX_TEXT_CHARS].strip()

    def _sentence(self, rng: random.Random, document: list[str]) -> str:
        if rng.random() < _ELSEWHERE:
            document = rng.choice(self._documents)
        text = rng.choice(document)
        if rng.random() >= _JOINED:
            return text
        head, tail = text.split(" "), rng.choice(document).split(" ")
        return " ".join(head[: rng.randint(2, max(2, len(head)))] + tail[rng.randrange(len(tail)) :])


def _documents(path: Path) -> Iterator[list[str]]:
    """Each document's sentences; none of a document without any."""
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            text = re.sub(r"\s+", " ", str(json.loads(line)["text"]))
            found = [s for s in re.split(r"(?<=[.!?]) ", text) if _MIN_CHARS <= len(s) <= _MAX_CHARS]
            if found:
                yield found
