"""A checkpoint's variables in a new REPL, and what the agent is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlm.environments import LocalREPL

from tierdeck.adapters.rlms.cell_sources import CellSources
from tierdeck.adapters.rlms.rebuilding import Rebuilding
from tierdeck.adapters.rlms.repl_state import put_variables
from tierdeck.adapters.rlms.restore_note import restore_note
from tierdeck.adapters.rlms.run_record import RunRecord
from tierdeck.checkpoint import Inert, with_classes
from tierdeck.checkpoint.running import Resumed


@dataclass(frozen=True, slots=True)
class RestoreRules:
    """What the host allows. `classes` are those that records become instances of again, by `module.Class`."""

    rebuild_functions: bool = False
    classes: Mapping[str, type] | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """What was left out, by name, for the next checkpoint to carry on; and what the agent is told."""

    left_out: dict[str, object]
    note: str


def restore_repl(
    environment: LocalREPL, back: Resumed, record: RunRecord, rules: RestoreRules, sources: CellSources
) -> Restored:
    """Put the variables into a new REPL; what they hold is not to be used elsewhere any more.

    Args:
        sources: learns the texts of rebuilt functions.

    Raises:
        Exception: what the hash or equality of a class of the host's raises.
    """
    variables = back.variables if rules.classes is None else with_classes(back.variables, rules.classes)
    left_out = put_variables(environment, variables, record.order)
    rebuilding = Rebuilding({**environment.globals, **environment.locals}, sources)
    if rules.rebuild_functions:
        everything = {**environment.locals, **left_out}
        rebuilding.run(everything)
        environment.locals.update(
            {name: value for name, value in everything.items() if name in left_out and not isinstance(value, Inert)}
        )
        left_out = {name: value for name, value in left_out.items() if name not in environment.locals}
    note = restore_note(back, record, left_out, rebuilt=rebuilding.rebuilt, problems=rebuilding.problems)
    return Restored(left_out, note)
