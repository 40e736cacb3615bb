"""The ways in which a reader takes a text: as it is written, and without what he does not see. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tierdeck.terms.escapes import veiled
from tierdeck.terms.normal_form import normal_form


def readings(text: str) -> Iterator[tuple[str, str | None]]:
    """The text as written, without escape sequences, and that in normal form; each only where it is another one.

    Beside the normal form stands what it is the form of, beside the others None.
    """
    yield text, None
    without = veiled(text)
    if without != text:
        yield without, None
    normal = normal_form(without)
    if normal is not without:
        yield normal, without
