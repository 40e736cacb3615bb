"""The command line: one file for each group of verbs, imported only when one of its verbs is called.

stdout is data, stderr is talk. Every verb takes `--json` and then writes one JSON document to stdout. Errors are
text on stderr in any case; under `--json` the last line of stderr is the error as a JSON document too:
`{"error": {"kind", "message", "hint", "exit_code"}}`, with `matches` where a short id fits several memories.
"""

from tierdeck_tui.cli.group import cli
from tierdeck_tui.cli.verb_table import verbs

__all__ = ["cli", "verbs"]
