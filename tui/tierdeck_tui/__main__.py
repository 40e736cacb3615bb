"""`python -m tierdeck_tui`, and the `tierdeck` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its exit code; the codes stand in `tierdeck --help`."""
    try:
        from tierdeck_tui.cli import cli
    except KeyboardInterrupt:  # the imports take a moment, and no traceback may show
        sys.exit(130)
    cli.main(prog_name="tierdeck")


if __name__ == "__main__":
    main()
