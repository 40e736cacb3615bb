"""Run by a test in tmux: shows the names of the keys that Textual gets, one a line, `done` after ctrl+q."""

from __future__ import annotations

from pathlib import Path
from sys import argv

from textual.app import App
from textual.events import Key


class EchoKeys(App[None]):
    """Writes every key it gets into the file that it was given."""

    BINDINGS = []  # noqa: RUF012 - as Textual types it
    ENABLE_COMMAND_PALETTE = False

    async def on_event(self, event: object) -> None:
        if isinstance(event, Key) and not event.is_forwarded:
            with Path(argv[1]).open("a", encoding="utf-8") as file:
                file.write(f"{event.key}\n")
            return
        await super().on_event(event)  # type: ignore[arg-type]

    def on_ready(self) -> None:
        Path(argv[1]).touch()


if __name__ == "__main__":
    EchoKeys().run()
