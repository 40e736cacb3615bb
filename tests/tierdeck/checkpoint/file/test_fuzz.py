"""Two thousand changed files: an error of ours or the exact value, nothing imported, memory bounded."""

from __future__ import annotations

from tests.tierdeck.checkpoint.file.fuzzing import Fuzzer


def test_no_changed_file_is_taken_for_another_one_or_does_harm() -> None:
    fuzzer = Fuzzer(seed=20)
    fuzzer.run(2_000)
    assert sum(fuzzer.outcomes.values()) == 2_000
    assert fuzzer.outcomes["file: DamagedCheckpointError"] > 300
    assert fuzzer.outcomes["unit: DamagedCheckpointError"] > 50
    assert fuzzer.outcomes["made up: some value"] > 20
