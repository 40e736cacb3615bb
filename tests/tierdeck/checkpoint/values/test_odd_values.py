"""Values that somebody made odd, on purpose or not: each is saved exactly or listed, and costs no other one."""

from __future__ import annotations

import dataclasses
import enum
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta, timezone
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.tierdeck.checkpoint.sample import opened, sample
from tierdeck.checkpoint import Checkpoint, Inert, Placeholder, Record, Unsaved, load_checkpoint, pack, seal
from tierdeck.checkpoint.file.snapshot import take_snapshot
from tierdeck.checkpoint.limits import AGENT_LIMITS


class Text(str):
    """Text whose own code must not run."""

    def __str__(self) -> str:
        raise ZeroDivisionError("the agent's code was run")

    __format__ = __repr__ = __str__  # type: ignore[assignment]


class Touchy(dict[str, object]):
    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError("the agent's code was run")

    items = keys = values = __iter__  # type: ignore[assignment]


def saved(checkpoint: Checkpoint) -> Checkpoint:
    packed = pack(take_snapshot(checkpoint, limits=AGENT_LIMITS))
    return load_checkpoint(opened(b"".join(seal(packed).pieces), AGENT_LIMITS))


def saved_with(**variables: object) -> Checkpoint:
    return saved(sample(repl_state={**variables, "ok": [1]}, losses=()))


def placeholder(**changes: Any) -> Placeholder:
    return dataclasses.replace(Placeholder(99, (), "?", None, 200), **changes)


@pytest.mark.spec("SPEC-09.21")
@pytest.mark.parametrize(
    "value",
    [
        Fraction(np.int64(1), 3), timezone(timedelta(0), Text("x")), Inert("module", None),  # type: ignore[arg-type,call-overload]
        Inert("nokind", "n"), Inert("module", ["n"]), Inert("module", "n", Text("s")),  # type: ignore[arg-type]
        Unsaved(5, "r"), Unsaved("t", Text("r")), Record("weird", "X"),  # type: ignore[arg-type]
        Record("dataclass", Text("X")), Record("dataclass", "X", {1: 2}),  # type: ignore[dict-item]
        Record("dataclass", "X", None), Record("dataclass", "X", []),  # type: ignore[arg-type]
        Record("dataclass", "X", Touchy(a=1)), placeholder(tag="x"), placeholder(minor=0), placeholder(minor="x"),
        placeholder(fixed=3), placeholder(operands={}), placeholder(tag=True), placeholder(tag=-1),
    ],
    ids=[str(number) for number in range(21)],
)  # fmt: skip
def test_what_no_checkpoint_gives_back_is_lost_alone_or_shared_and_nothing_with_it(value: object) -> None:
    found = saved_with(alone=value)
    assert dict(found.repl_state) == {"ok": [1]}
    assert [(loss.path, loss.kind) for loss in found.losses] == [("alone", "lost")]
    inside = [value]
    found = saved_with(one=inside, two={"x": inside}, three=[inside, inside])
    assert dict(found.repl_state) == {"ok": [1]}
    assert {loss.variable for loss in found.losses} == {"one", "two", "three"}


def test_a_fraction_made_unsound_is_lost_too() -> None:
    for parts in ((1, -2), (True, 3), (1.5, 2), (1, 0)):
        unsound = Fraction(1, 3)
        for slot, part in zip(("_numerator", "_denominator"), parts, strict=True):
            object.__setattr__(unsound, slot, part)
        assert [loss.path for loss in saved_with(unsound=unsound).losses] == ["unsound"]


@pytest.mark.parametrize("length", [4_000, 5_000, 100_000])
def test_a_class_with_a_very_long_name_costs_no_file(length: int) -> None:
    made = dataclasses.make_dataclass("C" * length, ["a"])
    wide = enum.Enum("é" * length, {"A": 1})  # type: ignore[misc]
    found = saved_with(one=made(1), two=wide.A)  # type: ignore[attr-defined]
    assert found.repl_state["one"].type_name.endswith("C" * length)  # type: ignore[attr-defined]
    assert set(found.repl_state) == {"one", "two", "ok"}


def test_no_code_of_a_name_or_a_class_is_run() -> None:
    class Key:
        armed = False

        def __hash__(self) -> int:
            return hash("ok")

        def __eq__(self, other: object) -> bool:
            if self.armed:
                raise ZeroDivisionError("the agent's code was run")
            return self is other

    class Meta(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]
            raise ZeroDivisionError("the agent's code was run")

    class Named(metaclass=Meta):
        pass

    class Odd:
        pass

    Odd.__qualname__ = Text("Odd")
    state = {Key(): 1, Named(): 2, "odd": Odd(), "ok": [1]}
    Key.armed = True
    found = saved(sample(repl_state=state, losses=()))
    assert dict(found.repl_state) == {"ok": [1]}
    assert len(found.losses) == 3


@pytest.mark.spec("SPEC-09.21")
def test_a_variable_that_shares_with_messages_what_they_could_not_keep_is_listed() -> None:
    with open(__file__, encoding="utf-8") as file:
        messages: list[Any] = [{"f": file, "text": "x"}, {"text": "y"}]
        around = {"messages": messages}
        found = saved(
            sample(
                messages=messages,
                repl_state={"all": messages, "bad": messages[0], "around": [around], "good": messages[1]},
                losses=(),
            )
        )
    assert {loss.path for loss in found.losses} == {"messages[0].f", "all", "bad", "around"}
    assert dict(found.repl_state) == {"good": {"text": "y"}}
    assert found.repl_state["good"] is found.messages[1]
    assert type(found.messages[0]["f"]) is Unsaved  # type: ignore[index]


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("rows", [False, True], ids=["one dict", "a dict in a long list"])
def test_a_dict_that_another_thread_reorders_is_saved_whole(rows: bool) -> None:
    moving = {f"k{number}": number for number in range(2_000)}
    value: object = [moving, *range(40)] if rows else moving
    is_over = threading.Event()

    def reorder() -> None:
        number = 0
        while not is_over.is_set():
            key = f"k{number % 2_000}"
            moving[key] = moving.pop(key)
            number += 1

    thread = threading.Thread(target=reorder)
    with switching_often():
        thread.start()
        try:
            found = [saved_with(moving=value) for _ in range(20)]
        finally:
            is_over.set()
            thread.join()
    whole = 0
    for each in found:
        if "moving" in each.repl_state:
            back: Any = each.repl_state["moving"]
            keys = set(back[0] if rows else back)
            assert len(keys) >= 1_999, "the key on its way may be missing, and no other"
            whole += 1
        else:
            assert [loss.path for loss in each.losses] == ["moving"]
    assert whole > 0
