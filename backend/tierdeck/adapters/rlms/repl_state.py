"""What of a LocalREPL is the agent's, read for a checkpoint and put into a new one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rlm.environments import LocalREPL, extract_tool_value

from tierdeck.checkpoint import Inert, Placeholder
from tierdeck.checkpoint.kinds.instances import inert_of

_ANSWER = "answer"
_HISTORY = "history"
_MAX_FILES = 100


def variables_of(environment: LocalREPL) -> dict[str, object]:
    """Its variables; the engine's own helpers stand in its globals, and are not among them.

    Constants that the host hands over at each start, such as a key, are left out as long as they are what it gave.
    """
    found = {
        name: value for name, value in environment.locals.items() if not _is_given_again(environment, name, value)
    }
    if isinstance(found.get(_ANSWER), dict):
        # The engine's subclass holds a callback, and would be lost as a whole.
        found[_ANSWER] = dict(found[_ANSWER])
    return found


def put_variables(
    environment: LocalREPL, variables: Mapping[str, object], order: Sequence[str]
) -> dict[str, object]:
    """Put saved variables into a new REPL, beside what its own set-up has put there.

    Args:
        order: the names as they stood, which the agent is shown.

    Returns:
        What was left out: descriptions under whose names the agent would take them for the thing itself.
    """
    names = list(dict.fromkeys((*(name for name in order if name in variables), *variables)))
    left_out = {name: variables[name] for name in names if isinstance(variables[name], Inert | Placeholder)}
    own = dict(environment.locals)
    environment.locals.clear()
    for name in names:
        if name in left_out:
            continue
        environment.locals[name] = _placed(environment, own, name, variables[name])
    for name, value in own.items():
        if name not in left_out or _is_described(value, left_out[name]):
            environment.locals.setdefault(name, value)
    return {name: value for name, value in left_out.items() if name not in environment.locals}


def files_of(environment: LocalREPL) -> list[str]:
    """The files that the agent has written to its working folder, at most 100; they are not saved."""
    try:
        names = sorted(os.listdir(environment.temp_dir))
    except OSError:
        return []
    return [name for name in names if not name.startswith("context_")][:_MAX_FILES]


def _placed(environment: LocalREPL, own: Mapping[str, object], name: str, value: object) -> object:
    """What stands under the name in the new REPL."""
    answer = own.get(name)
    if name == _ANSWER and isinstance(answer, dict) and isinstance(value, dict):
        dict.update(answer, value)  # past its `__setitem__`, which would tell the engine that the run is over
        return answer
    if name == _HISTORY and environment.compaction and isinstance(value, list):
        environment._compaction_history = value
    return value


def _is_described(value: object, description: object) -> bool:
    """Whether the set-up of the new REPL has made the very thing: a module, say, that it imports."""
    found = inert_of(value, None)
    if found is None or not isinstance(description, Inert):
        return False
    return (found.kind, found.name) == (description.kind, description.name)


def _is_given_again(environment: LocalREPL, name: str, value: object) -> bool:
    if name not in environment.custom_tools:
        return False
    return value is extract_tool_value(environment.custom_tools[name]) and isinstance(
        value, str | bytes | int | float | None
    )
