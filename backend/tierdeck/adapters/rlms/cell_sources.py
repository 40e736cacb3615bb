"""The text of each function that a cell defines, by its code: what a checkpoint keeps of a function. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

_FILE = "<string>"  # what a REPL's `exec` calls a cell
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class CellSources:
    """Texts by code objects. Cells are compiled here, never run.

    A function that uses names of a function around it has no text: alone, it would be another one.
    """

    def __init__(self) -> None:
        self.by_code: dict[CodeType, str] = {}

    def learn(self, cell: str) -> None:
        """Take in a cell that was run; one that does not compile defines nothing."""
        try:
            tree = ast.parse(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, _Function) and (text := ast.get_source_segment(cell, node, padded=True)):
                self.by_code.update(dict.fromkeys(_own_code(node), text))

    def add(self, code: CodeType, text: str) -> None:
        """Take in one function by its code."""
        self.by_code[code] = text


def _own_code(node: _Function) -> Iterator[CodeType]:
    """The code that the function has when it is compiled by itself, where it stood."""
    whole = ast.Expression(node) if isinstance(node, ast.Lambda) else ast.Module([node], type_ignores=[])
    mode = "eval" if isinstance(node, ast.Lambda) else "exec"
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    try:
        # dont_inherit: or the `from __future__` of this file would make it another code than the cell's.
        compiled = compile(whole, _FILE, mode, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return  # a `return` or `nonlocal` that only its surroundings make sense of
    codes = [each for each in compiled.co_consts if isinstance(each, CodeType) and each.co_name == name]
    # Lambdas among its defaults or decorators come before it.
    yield from codes[-1:]
