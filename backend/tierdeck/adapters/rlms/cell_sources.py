"""The text of each function that a cell defines, by its code: what a checkpoint keeps of a function. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
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
        imports = list(_imports(tree))
        for node in ast.walk(tree):
            if isinstance(node, _Function) and (text := ast.get_source_segment(cell, node, padded=True)):
                self.by_code.update(dict.fromkeys(_own_code(node, imports), text))

    def add(self, code: CodeType, text: str) -> None:
        """Take in one function by its code."""
        self.by_code[code] = text


def _imports(tree: ast.AST) -> Iterator[ast.stmt]:
    """What the cell itself imports: calls of a method of an imported name are compiled in another way."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, _Function | ast.ClassDef):
            yield from _imports(node)


def _own_code(node: _Function, imports: Sequence[ast.stmt]) -> Iterator[CodeType]:
    """The code that the function has when it is compiled without its surroundings, where it stood."""
    statement = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    try:
        # dont_inherit: or the `from __future__` of this file would make it another code than the cell's.
        compiled = compile(ast.Module([*imports, statement], type_ignores=[]), _FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return  # a `nonlocal` that only its surroundings make sense of
    codes = [each for each in compiled.co_consts if isinstance(each, CodeType) and each.co_name == name]
    # Lambdas among its defaults or decorators come before it.
    yield from codes[-1:]
