from __future__ import annotations

from tierdeck.embed.coverage import Coverage
from tierdeck_tui.reading.console import MeaningState
from tierdeck_tui.view.overview_lines import meaning_lines


def test_what_has_no_vector_says_why() -> None:
    found = Coverage(1_418, embedded=400, pending=10, stale=1, failed=1_000, off=6, current_model="a-model")
    shown = {line.label: line.value for line in meaning_lines(MeaningState("ready", "a-model"), found)}
    assert shown["left out"] == "6 (embedding off, no text, or held back as a secret)"
    assert shown["embedded"] == "400 of 1,412"
    assert shown["waiting"] == "10"
    assert shown["refused"] == "1,000"


def test_what_is_not_there_takes_no_line() -> None:
    labels = [line.label for line in meaning_lines(MeaningState("ready", "a"), Coverage(3, 3, current_model="a"))]
    assert labels == ["state", "model", "embedded"]
