"""What people ask of the agent that runs a session, and its answers: small files in the session's folder.

    request          what is asked; linked, so a second one does not take its place
    claim            the same file, renamed by the agent that does it now
    answer-<id>      what became of it

The order is: link the request, rename it to the claim, switch HEAD (which then carries the request's id), link
the answer, unlink the claim. Wherever a crash falls, the next holder of the lease can tell whether it was done. All
of it happens under the session's lock; the agent that only looks for a request makes one `stat`.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from tierdeck.checkpoint.file.publish import TEMP_PREFIX, publish
from tierdeck.checkpoint.file.summary import MAX_LABEL_CHARS
from tierdeck.checkpoint.folder.disk import as_json, disk_errors, flush_folder, read_json
from tierdeck.checkpoint.folder.names import parse_file_name
from tierdeck.checkpoint.folder.requested_decision import (
    MAX_REQUESTED,
    RequestedDecision,
    decisions_as_json,
    decisions_from_json,
)
from tierdeck.errors import ConflictError, DamagedCheckpointError, InvalidValueError, NotFoundError

REQUEST_FILE = "request"
CLAIM_FILE = "claim"
ANSWER_PREFIX = "answer-"
EXPIRY_NS = 15 * 60 * 1_000_000_000
MAX_WHY_CHARS = 1_000
_MAX_TEXT = 200
_UNSEEN = "no agent took it up within 15 minutes"
_ID = re.compile(r"[0-9a-f]{16}")

RequestKind = Literal["rewind", "checkpoint"]
AnswerState = Literal["applied", "refused", "expired"]


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks of the agent of a session.

    `rewind` wants HEAD at `file` and the agent's state with it, when HEAD is still in `expected_generation`;
    `checkpoint` wants a manual one at the next turn, with `label`. `by` is who asks, `at_ns` when. `request_id` is
    given by `ask`. `decisions` belong to a rewind: what is to be done about calls when the agent comes to them.
    """

    kind: RequestKind
    file: str | None
    mode: str
    expected_generation: int
    by: str
    at_ns: int
    label: str | None = None
    request_id: str = ""
    decisions: tuple[RequestedDecision, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request. `file` is the checkpoint it led to, when there is one."""

    request_id: str
    state: AnswerState
    why: str | None
    at_ns: int
    file: str | None = None


def is_expired(request: Request, now_ns: int) -> bool:
    """Whether it was asked more than 15 minutes ago, or by a clock that is as far ahead."""
    return abs(now_ns - request.at_ns) > EXPIRY_NS


def put_request(folder: Path, request: Request, now_ns: int) -> str:
    """Leave a request; returns its id. For who holds the lock.

    Raises:
        InvalidValueError: something in it is wrong.
        ConflictError: another one waits, which is not expired; it is as it was.
        CheckpointError: the disk refuses; nothing is left.
    """
    _check_given(request)
    waiting = _waiting(folder)
    if waiting is not None and not is_expired(waiting, now_ns):
        raise ConflictError(
            f"ask for {request.kind}: {waiting.by[:80]} asked for {waiting.kind} before, and that still waits",
            hint="wait for its answer, or take it back",
        )
    if waiting is not None:
        expire(folder, waiting, now_ns)
    given = replace(request, request_id=secrets.token_hex(8))
    document = {"format": 1, **asdict(given), "decisions": decisions_as_json(given.decisions)}
    publish(folder / REQUEST_FILE, [as_json(document)])
    return given.request_id


def read_request(folder: Path, file: str = REQUEST_FILE) -> Request | None:
    """The request, or the claimed one; None when there is none.

    Raises:
        DamagedCheckpointError: it is none.
        CheckpointError: it can't be read.
    """
    found = read_json(folder / file)
    if found is None:
        return None
    values = {field.name: found.get(field.name) for field in fields(Request)}
    values["decisions"] = decisions_from_json(found.get("decisions"))
    request = Request(**values)  # type: ignore[arg-type]  # checked in the next line
    try:
        _check_given(request)
        _check_id(request.request_id)
    except InvalidValueError as e:
        raise DamagedCheckpointError(f"read {folder / file}: it is no request ({e.message})") from e
    return request


def set_aside(folder: Path, file: str = REQUEST_FILE) -> None:
    """Rename what is no request to a name that is swept. For who holds the lock."""
    with disk_errors(f"set {file} aside in {folder}"):
        os.replace(folder / file, folder / f"{TEMP_PREFIX}{secrets.token_hex(8)}")


def claim_request(folder: Path, request_id: str) -> Request:
    """Make it the one that is done now. For who holds lock and lease.

    Raises:
        NotFoundError: it is not there any more: taken back, or expired.
        ConflictError: another one is being done.
    """
    waiting = _waiting(folder)
    if waiting is None or waiting.request_id != request_id:
        raise NotFoundError(f"claim request {request_id}: it is not there any more", hint="it was taken back")
    if os.path.lexists(folder / CLAIM_FILE):
        raise ConflictError(f"claim request {request_id}: another one is being done")
    with disk_errors(f"claim request {request_id}"):
        os.rename(folder / REQUEST_FILE, folder / CLAIM_FILE)
        flush_folder(folder)
    return waiting


def put_answer(folder: Path, answer: Answer) -> None:
    """Link an answer, then unlink the claim it is of; harmless when that was done before. For who holds the lock.

    Raises:
        InvalidValueError: the id is none.
        CheckpointError: the disk refuses; the claim is there still.
    """
    _check_id(answer.request_id)
    why = None if answer.why is None else answer.why[:MAX_WHY_CHARS]
    with suppress(ConflictError):  # answered before a crash
        publish(
            _answer_path(folder, answer.request_id), [as_json({"format": 1, **asdict(replace(answer, why=why))})]
        )
    claimed = _readable(folder, CLAIM_FILE)
    if claimed is not None and claimed.request_id == answer.request_id:
        with disk_errors(f"answer request {answer.request_id}"):
            os.unlink(folder / CLAIM_FILE)


def read_answer(folder: Path, request_id: str) -> Answer | None:
    """The answer to a request; None when there is none yet.

    Raises:
        DamagedCheckpointError: it is none.
        InvalidValueError: the id is none.
    """
    _check_id(request_id)
    found = read_json(_answer_path(folder, request_id))
    if found is None:
        return None
    state, why, file, at_ns = found.get("state"), found.get("why"), found.get("file"), found.get("at_ns")
    if (
        state not in ("applied", "refused", "expired")
        or not (why is None or type(why) is str)
        or not (file is None or type(file) is str)
        or type(at_ns) is not int
    ):
        raise DamagedCheckpointError(f"read answer to {request_id}: it is none")
    return Answer(request_id, state, why, at_ns, file)


def list_answers(folder: Path) -> list[Answer]:
    """The answers that are there, the newest first; they are swept after an hour. Nothing is changed.

    Raises:
        CheckpointError: the folder can't be read. What is no answer is passed over.
    """
    with disk_errors(f"list answers in {folder}"):
        names = [name for name in os.listdir(folder) if name.startswith(ANSWER_PREFIX)]
    found = []
    for name in names:
        with suppress(InvalidValueError, DamagedCheckpointError):
            found.append(read_answer(folder, name.removeprefix(ANSWER_PREFIX)))
    return sorted((each for each in found if each is not None), key=lambda each: each.at_ns, reverse=True)


def answer_to(
    folder: Path, request_id: str, last_request: str | None, now_ns: int, is_live: Callable[[], bool]
) -> Answer | None:
    """What became of a request; None while it waits or is being done. Takes no lock and changes nothing.

    Args:
        last_request: the one HEAD carries.
        is_live: whether an agent runs.
    """
    # In this order: a request becomes a claim, which may be put back; an answer comes before either goes.
    files = (REQUEST_FILE, CLAIM_FILE, REQUEST_FILE)
    waiting, claimed, put_back = (_readable(folder, file) for file in files)
    answer = read_answer(folder, request_id)
    if answer is not None:
        return answer
    if request_id == last_request:
        return Answer(request_id, "applied", None, now_ns)
    for asked in (waiting, claimed, put_back):
        if asked is not None and asked.request_id == request_id:
            is_over = is_expired(asked, now_ns) and (asked is not claimed or not is_live())
            why = "the agent ended while it was doing it" if asked is claimed else _UNSEEN
            return Answer(request_id, "expired", why, now_ns) if is_over else None
    return Answer(request_id, "expired", "nothing is known of it any more", now_ns)


def expire(folder: Path, request: Request, now_ns: int) -> None:
    """Say of the waiting request that nobody saw it in time, and take it away. For who holds the lock."""
    put_answer(folder, Answer(request.request_id, "expired", _UNSEEN, now_ns))
    _unlink_request(folder)


def withdraw(folder: Path, request_id: str) -> bool:
    """Take the waiting request back; False when it is not the one, or not there. For who holds the lock."""
    waiting = _waiting(folder)
    if waiting is None or waiting.request_id != request_id:
        return False
    _unlink_request(folder)
    return True


def settle_claim(folder: Path, last_request: str | None, now_ns: int) -> None:
    """Finish what an agent that crashed had claimed. For who holds lock and lease.

    When HEAD carries its id it was done, and is answered so; else it waits again, unless another one does by now or
    its time is over.
    """
    if not os.path.lexists(folder / CLAIM_FILE):
        return
    claimed = _readable(folder, CLAIM_FILE)
    if claimed is None:
        set_aside(folder, CLAIM_FILE)
        return
    answered = read_answer(folder, claimed.request_id)
    if answered is not None:
        put_answer(folder, answered)
    elif claimed.request_id == last_request:
        put_answer(folder, Answer(claimed.request_id, "applied", None, now_ns, claimed.file))
    elif is_expired(claimed, now_ns):
        put_answer(folder, Answer(claimed.request_id, "expired", "the agent ended while it was doing it", now_ns))
    elif os.path.lexists(folder / REQUEST_FILE):
        why = "the agent ended while it was doing it, and another request came"
        put_answer(folder, Answer(claimed.request_id, "refused", why, now_ns))
    else:
        with disk_errors(f"put request {claimed.request_id} back"):
            os.rename(folder / CLAIM_FILE, folder / REQUEST_FILE)
            flush_folder(folder)


def _waiting(folder: Path) -> Request | None:
    """The waiting request; what is none is set aside."""
    try:
        return read_request(folder)
    except DamagedCheckpointError:
        set_aside(folder)
        return None


def _readable(folder: Path, file: str) -> Request | None:
    try:
        return read_request(folder, file)
    except DamagedCheckpointError:
        return None


def _unlink_request(folder: Path) -> None:
    with disk_errors(f"take request back in {folder}"):
        (folder / REQUEST_FILE).unlink(missing_ok=True)
        flush_folder(folder)


def _answer_path(folder: Path, request_id: str) -> Path:
    return folder / f"{ANSWER_PREFIX}{request_id}"


def _check_id(request_id: str) -> None:
    if type(request_id) is not str or _ID.fullmatch(request_id) is None:
        raise InvalidValueError(f"find request {str(request_id)[:40]!r}: an id has 16 hex digits")


def _check_given(request: Request) -> None:
    for name, is_right in _rules(request).items():
        if not is_right:
            given = str(getattr(request, name))[:40]
            raise InvalidValueError(f"ask for {str(request.kind)[:40]}: {name} can't be {given!r}")


def _rules(request: Request) -> Mapping[str, bool]:
    file, label = request.file, request.label
    decisions: object = request.decisions
    return {
        "kind": request.kind in ("rewind", "checkpoint"),
        "file": (type(file) is str and parse_file_name(file) is not None)
        if request.kind == "rewind"
        else file is None,
        "mode": type(request.mode) is str and len(request.mode) <= _MAX_TEXT,
        "expected_generation": type(request.expected_generation) is int,
        "by": type(request.by) is str and 0 < len(request.by.strip()) <= len(request.by) <= _MAX_TEXT,
        "at_ns": type(request.at_ns) is int,
        "decisions": type(decisions) is tuple
        and len(decisions) <= (MAX_REQUESTED if request.kind == "rewind" else 0)
        and all(each.is_right for each in decisions),
        "label": label is None or (type(label) is str and 0 < len(label.strip()) <= len(label) <= MAX_LABEL_CHARS),
    }
