"""Functions and modules from their descriptions: the only place that compiles and imports what a checkpoint names.

It runs in the agent's own process, and only when the host has opted in.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from types import FunctionType

from tierdeck.adapters.rlms.cell_sources import CellSources
from tierdeck.checkpoint import Inert

_MAIN = "__main__."  # the module of what a REPL's cells define
_NOTHING = object()


class Rebuilding:
    """Rebuilds what is inert in a REPL's variables, in one namespace: each function sees all the others.

    Args:
        namespace: the globals that rebuilt functions get: the engine's helpers, builtins, the variables.
        sources: learns the texts of what is rebuilt, so that the next checkpoint has them again.

    `rebuilt` counts what was rebuilt in each variable; `problems` says why something in it stayed a description.
    """

    def __init__(self, namespace: dict[str, object], sources: CellSources) -> None:
        self._namespace = namespace
        self._sources = sources
        self._made: dict[int, object] = {}
        self._whys: dict[int, str] = {}
        self.rebuilt: Counter[str] = Counter()
        self.problems: dict[str, str] = {}

    def run(self, variables: dict[str, object]) -> None:
        """Put what was rebuilt in its places: a variable's whole value, or in dicts and lists within it.

        Spec: SPEC-09.23
        """
        found = [(name, inert) for name, value in variables.items() for inert in _inert_in(value)]
        waiting = [inert for _, inert in found]
        while waiting:  # a default may call a function that is rebuilt after it
            left = [inert for inert in waiting if not self._rebuild(inert, variables)]
            if len(left) == len(waiting):
                break
            waiting = left
        for value in variables.values():
            self._put_into(value)
        for name, inert in found:
            if id(inert) in self._made:
                self.rebuilt[name] += 1
            else:
                self.problems[name] = self._whys[id(inert)]

    def _rebuild(self, inert: Inert, variables: dict[str, object]) -> bool:
        if id(inert) not in self._made:
            try:
                self._made[id(inert)] = self._remade(inert)
            except Exception as e:  # noqa: BLE001  # what a default or an import raises is for the note
                self._whys[id(inert)] = f"{type(e).__name__}: {e}"
                return False
        for name, value in variables.items():
            if value is inert:
                variables[name] = self._namespace[name] = self._made[id(inert)]
        return True

    def _remade(self, inert: Inert) -> object:
        if inert.kind == "module":
            return importlib.import_module(inert.name)
        if not inert.name.startswith(_MAIN):
            return pkgutil.resolve_name(inert.name if "." in inert.name else f"builtins.{inert.name}")
        if inert.source is None:
            raise ValueError("its text was not recorded")
        name = inert.name.rpartition(".")[2]
        function = self._lambda(inert.source) if name == "<lambda>" else self._function(inert.source, name)
        if not isinstance(function, FunctionType):
            raise TypeError("its text makes no function")
        self._sources.add(function.__code__, inert.source)
        return function

    def _lambda(self, text: str) -> object:
        # dont_inherit: or the `from __future__` of this file would hold in it.
        code = compile(f"(\n{text}\n)", "<rebuilt>", "eval", dont_inherit=True)
        return eval(code, self._namespace)  # noqa: S307  # opted in

    def _function(self, text: str, name: str) -> object:
        # Text that stood indented is put under an `if`: taking the indentation off would change strings within it.
        whole = f"if True:\n{text}" if text[:1].isspace() else text
        before = self._namespace.get(name, _NOTHING)
        exec(compile(whole, "<rebuilt>", "exec", dont_inherit=True), self._namespace)  # noqa: S102  # opted in
        made = self._namespace.pop(name, None)
        if before is not _NOTHING:  # by now the name may be another variable's
            self._namespace[name] = before
        return made

    def _put_into(self, root: object) -> None:
        for container in _containers(root):
            if isinstance(container, dict):
                container.update({key: self._now(value) for key, value in container.items()})
            else:
                container[:] = map(self._now, container)

    def _now(self, value: object) -> object:
        return self._made.get(id(value), value) if isinstance(value, Inert) else value


def _inert_in(value: object) -> Iterator[Inert]:
    if isinstance(value, Inert):
        yield value
    for container in _containers(value):
        children = container.values() if isinstance(container, dict) else container
        yield from (child for child in children if isinstance(child, Inert))


def _containers(root: object) -> Iterator[dict[object, object] | list[object]]:
    """All dicts and lists that can be reached through dicts and lists, each once."""
    todo, seen = [root], set()
    while todo:
        value = todo.pop()
        if isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            yield value
            todo += value.values() if isinstance(value, dict) else value
