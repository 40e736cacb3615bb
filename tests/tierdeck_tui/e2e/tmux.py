"""A real terminal to run the console in: a tmux server of its own, on a private socket, without settings."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

WAIT_S = 20.0
POLL_S = 0.03


class Tmux:
    """One server with one pane. Leaving the block ends the server and all that runs in it."""

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self._folder = tempfile.mkdtemp(prefix="tierdeck-")  # a socket's path may hold 107 bytes only
        self._socket = str(Path(self._folder) / "s")
        self.width = width
        self.height = height

    def __enter__(self) -> Tmux:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run(self._command("kill-server"), capture_output=True, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self, command: str, **variables: str) -> None:
        """A shell that runs `command` and then stays, showing `exit=CODE`."""
        environment = {**os.environ, "TERM": "xterm-256color", "PS1": "$ ", **variables}
        environment.pop("TMUX", None)
        script = f"{command}; echo exit=$?; exec cat"
        self.run(
            *("-f", "/dev/null", "new-session", "-d", "-x", str(self.width), "-y", str(self.height), script),
            environment=environment,
        )
        self.run("set-option", "-g", "set-clipboard", "on")
        self.run("set-option", "-g", "default-terminal", "tmux-256color")
        self.run("set-option", "-g", "escape-time", "10")

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> str:
        """Run a tmux command and give what it prints."""
        done = subprocess.run(
            self._command(*arguments), capture_output=True, text=True, check=True, env=environment, timeout=WAIT_S
        )
        return done.stdout

    def send(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self.run("send-keys", *keys)

    def escape(self) -> None:
        """Press escape as a terminal with kitty's protocol sends it: no key that follows makes it alt and that key.

        The bare byte is told from alt by a pause only, and where the machine is busy the console reads it together
        with a key of 0.2 s later; `test_keys` presses it.
        """
        self.run("send-keys", "-l", "\x1b[27u")

    def type(self, text: str) -> None:
        """Type a text as it is."""
        self.run("send-keys", "-l", text)

    def screen(self) -> str:
        """What the pane shows now."""
        return self.run("capture-pane", "-p")

    def value(self, name: str) -> str:
        """A format variable of the pane: `alternate_on`, `mouse_any_flag`, `pane_title`, `pane_pid`."""
        return self.run("display-message", "-p", f"#{{{name}}}").rstrip("\n")

    def resize(self, width: int, height: int) -> None:
        """Make the terminal another size."""
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def buffers(self) -> str:
        """The paste buffers, by name and content."""
        return self.run("list-buffers", "-F", "#{buffer_name} #{buffer_sample}")

    def wait_for(self, text: str, *, without: str | None = None, seconds: float = WAIT_S) -> str:
        """Wait until the pane shows the text (and not the other) and give the screen; fails with the last one."""
        screen = ""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            screen = self.screen()
            if text in screen and (without is None or without not in screen):
                return screen
            time.sleep(POLL_S)
        raise AssertionError(f"{text!r} did not appear within {seconds:g} s; the screen was:\n{screen}")

    def child_pid(self) -> int:
        """The process that the pane's shell runs at this moment."""
        shell = self.value("pane_pid")
        found = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()
        return int(found[0])

    def _command(self, *arguments: str) -> list[str]:
        return ["tmux", "-S", self._socket, *arguments]


def console_command(store: Path, *flags: str) -> str:
    """The shell command that opens the console on a store."""
    return shlex.join([sys.executable, "-m", "tierdeck_tui", "--db", str(store), *flags])
