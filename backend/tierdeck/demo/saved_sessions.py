"""The demo's checkpoints: three of its sessions as their agents saved them, and an operator's hand in two.

Files and journals are written by the library as any agent's are. Names, order, times, turns and values are the same
each time; ids and the names of branches are drawn anew, as they always are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from tierdeck.checkpoint.file.header import HEADER_BYTES, TRAILER_BYTES
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.running import fork, rewind
from tierdeck.checkpoint.version import MAJOR
from tierdeck.demo.event import at_ms
from tierdeck.demo.hand import OPERATOR
from tierdeck.session import Session, open_session

REFUNDS, NIGHTLY, NEXT_NIGHT = "s-14", "n-02", "n-03"
_MINUTE_NS = 60 * 10**9
_PACKAGES = ("httpx", "pydantic", "sqlalchemy", "stripe", "uvicorn", "orjson")
_LABEL = "before the schema change"


class _ProcessDied(BaseException):
    """The agent's process is gone in the middle of its work; no `Exception`, so that its call has not failed."""


class _Clock:
    """Nanoseconds since the epoch, a minute later at each look, so that no two checkpoints are of one moment."""

    def __init__(self, day: float, now_ms: int) -> None:
        self._at_ns = at_ms(day, now_ms) * 10**6

    def __call__(self) -> int:
        self._at_ns += _MINUTE_NS
        return self._at_ns


def save_sessions(root: Path, now_ms: int) -> None:
    """Make the checkpoints of three sessions in a folder that is not there yet.

    One was rewound and left a branch, and died with calls under way; one has values that can't be saved, a damaged
    file and one of a newer version; the last was forked from it.

    Raises:
        CheckpointError: the folder can't be written; what was written stands.
    """
    _nightly_check(root, _Clock(-6.15, now_ms))
    _next_night(root, _Clock(-3.15, now_ms))
    _partial_refunds(root, _Clock(-0.2, now_ms))


def _nightly_check(root: Path, clock: Callable[[], int]) -> None:
    """Six turns with an open report and pages still to be read, which can't be saved; then its folder got hurt."""
    pages = (f"page {number}" for number in range(1, 4))
    with (
        tempfile.TemporaryFile("w") as report,
        open_session(None, NIGHTLY, checkpoints=root, every=3, clock_ns=clock) as session,
    ):
        state: dict[str, object] = {"report": report, "pages": pages}
        for turn, package in enumerate(_PACKAGES, start=1):
            state |= {"checked": list(_PACKAGES[:turn]), "last": {"package": package, "is_outdated": turn % 2 == 0}}
            _end_turn(session, state, f"Check {package}.", 0.004, 900)
    folder = open_session_folder(root, NIGHTLY)
    first, last = folder.listed()
    folder.set_pin(last.file, is_pinned=True)
    _copy_half(first.path, folder, 3)
    _copy_of_newer_version(last.path, folder, 4)


def _next_night(root: Path, clock: Callable[[], int]) -> None:
    """The night after begins with what the last one knew."""
    last = next(each for each in open_session_folder(root, NIGHTLY).listed() if each.is_pinned)
    fork(root, last.path, as_=NEXT_NIGHT, clock_ns=clock)
    with open_session(None, NEXT_NIGHT, checkpoints=root, every=3, clock_ns=clock) as session:
        back = session.resume()
        state = dict(back.variables) if back is not None else {}
        state["advisories"] = {"orjson": "none known", "stripe": "deprecates charges.refund"}
        _end_turn(session, state, "Which of them have advisories?", 0.011, 2_400)


def _partial_refunds(root: Path, clock: Callable[[], int]) -> None:
    """A wrong turn, taken back; then it died while the ledger was being migrated."""
    state: dict[str, object] = {"currency": "EUR", "refunds": {}, "plan": ["read the ledger", "model a refund"]}
    with suppress(_ProcessDied), open_session(None, REFUNDS, checkpoints=root, every=2, clock_ns=clock) as session:
        for turn in range(1, 7):
            _design(session, state, turn)
        raise _ProcessDied
    folder = open_session_folder(root, REFUNDS)
    second = folder.listed()[1]
    folder.set_label(second.file, _LABEL)
    rewind(folder, second.file, by=OPERATOR, clock_ns=clock)
    with suppress(_ProcessDied), open_session(None, REFUNDS, checkpoints=root, every=2, clock_ns=clock) as session:
        back = session.resume()
        state = dict(back.variables) if back is not None else {}
        _migrate(session, state)


def _design(session: Session, state: dict[str, object], turn: int) -> None:
    numbers = range(1, turn + 1)
    state["refunds"] = {
        f"re_{number:03d}": {"amount_cents": 450 * number, "is_partial": True} for number in numbers
    }
    if turn > 4:
        state["schema"] = "ALTER TABLE payment ADD COLUMN refunded_cents bigint"
    if turn == 1:
        session.operation("model", "How are refunds booked today?", has_side_effects=False).run(
            lambda: "as one row"
        )
    _end_turn(session, state, "Model partial refunds.", 0.03, 5_200)


def _migrate(session: Session, state: dict[str, object]) -> None:
    """A table of its own instead; one call is interrupted, one only planned, and in a third the process dies."""
    state |= {"schema": "CREATE TABLE refund (payment_id, amount_cents, reason)", "tables": ("payment", "refund")}
    _end_turn(session, state, "A table of its own is simpler.", 0.03, 5_400)
    tell = session.operation("send mail", {"to": "finance@harbor.example", "subject": "refunds move"})
    session.plan(tell)
    with suppress(KeyboardInterrupt), session.operation("migrate", "alembic upgrade head"):
        raise KeyboardInterrupt
    _end_turn(session, state, "Migrate staging.", 0.02, 3_100)
    with session.operation("push", "git push origin partial-refunds"):
        raise _ProcessDied


def _end_turn(session: Session, state: dict[str, object], said: str, cost: float, tokens: int) -> None:
    session.turn(state, messages=[{"role": "user", "content": said}], cost=cost, tokens=tokens)
    session.flush()  # turns follow so fast here that one checkpoint would take the next one's place


def _copy_half(path: Path, folder: SessionFolder, sequence: int) -> None:
    """As a copy that ended when the disk was full."""
    data = path.read_bytes()
    _put(folder, sequence, 6, data[: len(data) // 2])


def _copy_of_newer_version(path: Path, folder: SessionFolder, sequence: int) -> None:
    """As a program of the next major version leaves it: whole, and its header says so (places as in FORMAT.md)."""
    data = bytearray(path.read_bytes())
    data[8:10] = (MAJOR + 1).to_bytes(2, "little")
    end = HEADER_BYTES + int.from_bytes(data[16:20], "little")
    data[32:HEADER_BYTES] = blake2b(data[:32] + data[HEADER_BYTES:end], digest_size=16).digest()
    data[-TRAILER_BYTES:] = blake2b(data[:-TRAILER_BYTES], digest_size=TRAILER_BYTES).digest()
    _put(folder, sequence, 6, bytes(data))


def _put(folder: SessionFolder, sequence: int, turn: int, data: bytes) -> None:
    path = folder.path / f"{sequence:08d}-{turn}-{sequence:08x}.rlmckpt"
    path.touch(mode=0o600)
    path.write_bytes(data)
