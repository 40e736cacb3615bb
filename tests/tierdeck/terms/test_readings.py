from __future__ import annotations

import pytest

from tierdeck.terms.readings import readings


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", [("plain", None)]),
        ("用Go写", [("用Go写", None)]),
        ("Ｒｅｄｉｓ", [("Ｒｅｄｉｓ", None), ("Redis", "Ｒｅｄｉｓ")]),
    ],
)
def test_a_text_is_read_once_in_each_way_that_differs(text: str, found: list[tuple[str, str | None]]) -> None:
    assert list(readings(text)) == found


def test_the_normal_form_is_that_of_the_text_without_escape_sequences() -> None:
    as_written, without, normal = readings("\x1b[31mＲｅｄｉｓ\x1b[0m")
    assert as_written == ("\x1b[31mＲｅｄｉｓ\x1b[0m", None)
    assert "\x1b" not in without[0]
    assert normal == (without[0].replace("Ｒｅｄｉｓ", "Redis"), without[0])
