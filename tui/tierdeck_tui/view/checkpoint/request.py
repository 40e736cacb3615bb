"""What was asked of a running agent, and what became of it. Pure."""

from __future__ import annotations

from dataclasses import fields

from tierdeck.checkpoint.folder.names import parse_file_name
from tierdeck.checkpoint.folder.requested_decision import RequestedDecision
from tierdeck.checkpoint.folder.requests import Answer, Request
from tierdeck.checkpoint.journal import StoredValue
from tierdeck_tui.view.checkpoint.row import NS_PER_MS
from tierdeck_tui.view.checkpoint.value_form import stored_form
from tierdeck_tui.view.format import age, counted
from tierdeck_tui.view.line import Line, Piece, Role, line
from tierdeck_tui.view.safe_text import safe

_ROLES: dict[str, Role] = {"applied": "good", "refused": "error", "expired": "warning"}


def request_line(request: Request, now_ms: int, *, is_expired: bool = False) -> Line:
    """`requested 3m ago by ops: go back to checkpoint 3, turn 15`; of any length."""
    state = Piece("expired ", "warning") if is_expired else Piece("requested ", "warning")
    return line(
        state,
        Piece(f"{age(request.at_ns // NS_PER_MS, now_ms)} ago by {safe(request.by)}: ", "muted"),
        Piece(_what(request), "strong"),
        Piece(f"  {request.request_id}", "muted"),
    )


def answer_line(answer: Answer) -> Line:
    """`applied: 00000009-4-….rlmckpt`, `refused: why`; of any length."""
    told = answer.why or answer.file
    return line(
        Piece(answer.state, _ROLES.get(answer.state, "plain")),
        Piece(f": {safe(told)}" if told else ""),
        Piece(f"  {answer.request_id}", "muted"),
    )


def request_form(request: Request | None) -> dict[str, object] | None:
    """A request as a JSON object, what it decides about calls with it; None for none."""
    if request is None:
        return None
    decisions = [each._asdict() | {"value": _value(each)} for each in request.decisions]
    for each in decisions:
        del each["form"]
    return {field.name: getattr(request, field.name) for field in fields(request)} | {"decisions": decisions}


def _value(decision: RequestedDecision) -> object:
    return stored_form(None if decision.value is None else StoredValue(decision.value, decision.form))


def _what(request: Request) -> str:
    if request.kind == "checkpoint":
        return "save a checkpoint" + (f" “{safe(request.label)}”" if request.label else "")
    name = parse_file_name(request.file or "")
    decided = f", {counted(len(request.decisions), 'call')} decided" if request.decisions else ""
    # A file's name says the same, and takes forty cells for it.
    where = f"checkpoint {name.sequence}, turn {name.turn}" if name else safe(request.file)
    return f"go back to {where}{decided}"
