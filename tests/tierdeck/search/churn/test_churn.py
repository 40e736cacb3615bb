"""Another process changes the store and two index it while searches run: every answer is of one moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.conftest import TEST_KEY
from tests.tierdeck.search.churn.trial import Trial, run_trial
from tests.tierdeck.vectors.few_bits import begin_early


@pytest.mark.spec("SPEC-09.04")
@pytest.mark.parametrize("way", ["own", "adopted"])
def test_every_answer_is_of_one_moment_and_the_index_is_in_step_afterwards(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    begin_early(monkeypatch)
    outcome = run_trial(Trial(way, changes=300, base_rows=150, seed=1), tmp_path)
    assert outcome.seen["vectors"] > 100
    assert outcome.seen["rows without a vector"] > 0
    assert outcome.seen["beacons together"] > 0
