"""The text of functions by their code: for each kind of place a function can stand in."""

from __future__ import annotations

import types

import pytest

import tests.tierdeck.adapters.rlms.adapter  # noqa: F401  # skips where rlms is missing
from tierdeck.adapters.rlms.cell_sources import CellSources


def made_by(cell: str) -> types.FunctionType:
    """The function `f` of a cell, run as a REPL runs it: in a module without `from __future__`."""
    space: dict[str, object] = {}
    exec(compile(cell, "<string>", "exec", dont_inherit=True), space)
    found = space["f"]
    assert isinstance(found, types.FunctionType)
    return found


@pytest.mark.case("K31")
@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param("x = 1\ndef f(a: int = 2):\n    return a", "def f(a: int = 2):\n    return a", id="def"),
        pytest.param(
            "if 1:\n    def f():\n        return '''\n a'''", "    def f():\n        return '''\n a'''", id="in-if"
        ),
        pytest.param("def same(g): return g\n@same\ndef f(): pass", "def f(): pass", id="decorated"),
        pytest.param("async def f(): pass", "async def f(): pass", id="async"),
        pytest.param("f, g = lambda: 1, lambda: 2", "lambda: 1", id="the-first-of-two-lambdas"),
        pytest.param("g, f = lambda: 1, lambda: 2", "lambda: 2", id="the-second-of-two-lambdas"),
        pytest.param("def f(a=lambda: 1): return a", "def f(a=lambda: 1): return a", id="a-lambda-as-default"),
        pytest.param(
            "def f():\n    def g(): return h\n    return g",
            "def f():\n    def g(): return h\n    return g",
            id="outer",
        ),
        pytest.param("import re\ndef f(): re.sub()", "def f(): re.sub()", id="it-calls-what-the-cell-imports"),
        pytest.param(
            "try:\n  import re\nfinally: f = lambda: re.sub()", "lambda: re.sub()", id="imported-in-a-block"
        ),
        pytest.param("from __future__ import annotations\ndef f(a: b): 1", "def f(a: b): 1", id="future"),
        pytest.param("é = 1; f = lambda: é", "lambda: é", id="columns-are-bytes"),
    ],
)
def test_a_function_has_its_own_text(cell: str, text: str) -> None:
    sources = CellSources()
    sources.learn(cell)
    assert sources.by_code[made_by(cell).__code__] == text


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param("def m(n):\n    def g(): return n\n    return g\nf = m(1)", id="it-uses-a-name-around-it"),
        pytest.param("class C:\n    def g(self): return __class__\nf = C.g", id="it-uses-its-class"),
    ],
)
def test_a_function_that_would_be_another_one_alone_has_no_text(cell: str) -> None:
    sources = CellSources()
    sources.learn(cell)
    assert made_by(cell).__code__ not in sources.by_code


@pytest.mark.parametrize("cell", ["def f(:", "x = '\0'", "(" * 500, ""], ids=["syntax", "nul", "deep", "empty"])
def test_a_cell_that_does_not_compile_defines_nothing(cell: str) -> None:
    sources = CellSources()
    sources.learn(cell)
    assert sources.by_code == {}
