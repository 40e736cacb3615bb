"""`tierdeck completion SHELL`: the script that lets a shell complete verbs and options."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from tierdeck_tui.cli.output import put_json
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb

COMPLETE_VARIABLE = "_TIERDECK_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Verb)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion_verb(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  tierdeck completion bash > ~/.local/share/bash-completion/completions/tierdeck
    zsh:   tierdeck completion zsh > a folder in $fpath, as _tierdeck
    fish:  tierdeck completion fish > ~/.config/fish/completions/tierdeck.fish
    """
    script = _script(ctx.find_root().command, shell)
    if ctx.ensure_object(Run).is_json:
        put_json({"shell": shell, "script": script})
        return
    click.echo(script, nl=False)


def _script(root: click.Command, shell: str) -> str:
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"print completion: click knows no {shell}")
    # Not `.source()` of the subclass: bash's asks the installed bash for its version first, in a subprocess.
    return ShellComplete.source(found(root, {}, "tierdeck", COMPLETE_VARIABLE))
