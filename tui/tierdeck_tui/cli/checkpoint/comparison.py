"""`tierdeck checkpoint diff`: what changed between two checkpoints, and how one variable did."""

from __future__ import annotations

import click

from tierdeck.checkpoint import open_checkpoint
from tierdeck.checkpoint.folder.diff import diff
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, key_option, use_checkpoints, use_key
from tierdeck_tui.cli.checkpoint.sealed import seal_code
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.diff import diff_lines, value_diff_lines
from tierdeck_tui.view.checkpoint.form import diff_form
from tierdeck_tui.view.checkpoint.value_form import value_form
from tierdeck_tui.view.masked import masked_form


@click.command("diff", cls=Verb)
@click.argument("before")
@click.argument("after")
@click.option("--var", "name", metavar="NAME", help="Decode this variable in both, and say what changed in it.")
@click.option("--reveal", is_flag=True, help="With --var: show what looks like a secret.")
@key_option
@checkpoints_option
@click.pass_obj
def diff_verb(
    run: Run,
    /,
    before: str,
    after: str,
    name: str | None,
    reveal: bool,
    key_file: str | None,
    checkpoints: str | None,
) -> int:
    """Say what the checkpoint AFTER has that BEFORE lacks, what it lacks, and what is another value.

    The tables' digests are compared and nothing is decoded, unless --var asks for one variable. Ends with 11 when a
    key is set and one of them is not sealed with it.
    """
    root, key = use_checkpoints(run, checkpoints), use_key(run, key_file)
    paths = [named_checkpoint(root, text).listed.path for text in (before, after)]
    with open_checkpoint(paths[0]) as first, open_checkpoint(paths[1]) as second:
        found = diff(first, second)
        values = None if name is None else (first.variable(name), second.variable(name))
    if name is not None and values is not None:
        _put_values(run, name, *values, reveal=reveal)
    elif run.is_json:
        put_json(masked_form({"before": paths[0], "after": paths[1], **diff_form(found)}, reveal=False))
    else:
        put_lines(diff_lines(found, width_cells()))
    return max(seal_code(path, key) for path in paths)


def _put_values(run: Run, name: str, before: object, after: object, *, reveal: bool) -> None:
    if run.is_json:
        forms = [value_form(value) for value in (before, after)]
        document = {
            "name": name,
            "before": forms[0].form,
            "after": forms[1].form,
            "is_whole": all(form.is_whole for form in forms),
        }
        put_json(masked_form(document, reveal=reveal))
        return
    rows = value_diff_lines(before, after, reveal=reveal)
    put_lines(rows)
    if not rows:
        talk("both read the same, as far as rows show it; --json has all of both")
