"""An RLM that is saved by a session at each turn, and goes on from a checkpoint.

The package's loop keeps its turn number and its messages to itself. So a run that goes on is gone through again
from its first turn: what was done is given from the record, without a call and without running a cell, until the
turn after the checkpoint. With that, limits, counts and the package's own logger are as they would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rlm.core.lm_handler import LMHandler
from rlm.core.types import RLMChatCompletion, RLMIteration
from rlm.environments import LocalREPL
from rlm.utils.parsing import format_iteration

from tierdeck.adapters.rlms.cell_sources import CellSources
from tierdeck.adapters.rlms.journalled_rlm import JournalledRLM
from tierdeck.adapters.rlms.model_calls import ModelCalls
from tierdeck.adapters.rlms.past_turn import PastTurn
from tierdeck.adapters.rlms.repl_state import files_of, variables_of
from tierdeck.adapters.rlms.restored_repl import RestoreRules, restore_repl
from tierdeck.adapters.rlms.run_record import Messages, RunRecord, messages_of
from tierdeck.adapters.rlms.went_back import WentBackError
from tierdeck.checkpoint.journal import call_digest
from tierdeck.checkpoint.running import Resumed
from tierdeck.errors import ConflictError, InvalidValueError
from tierdeck.session import Session


class SavedRLM(JournalledRLM):
    """One run of `rlms`, kept by a session; it takes one call of `completion`.

    Each turn ends with `Session.turn`: a checkpoint when it is time, and what an operator asked for. Every model
    call, also from a cell and from a run that a cell starts, is a `Session.operation`: one that was done is given
    again after a crash, and not paid again. The cells of a turn that was not over are run again. A tool that must
    not do its work twice is given as `session.journalled("mail")(send)` in `custom_tools`.

    Not saved: files in the REPL's working folder, which the agent is told; what a run that a cell started had in
    variables, since it is gone through again; the time that counts for `max_timeout`, which begins anew.

    Args:
        session: with checkpoints; no turn was made in it.
        resumed: what its `resume` gave; None begins anew.
        rebuild_functions: functions that cells defined are made again from their text in the checkpoint, and what
            was imported is imported again; such a function sees the variables as the checkpoint has them. Whoever
            can write the checkpoint then decides what runs here. Without it they are missing, which it is told.
        classes: those that records become instances of again, by `module.Class`; see `with_classes`.
        settings: as `rlm.RLM` takes them; `environment` is `local`, and the run not `persistent`.

    Raises:
        InvalidValueError: the variables of such an environment can't be saved from here.
        ConflictError: the session is in another turn than what was resumed, or that is of another program.
        DamagedCheckpointError: what was resumed holds no whole record of a run.

    Spec: SPEC-09.23, SPEC-09.24
    """

    def __init__(
        self,
        session: Session,
        *,
        resumed: Resumed | None = None,
        rebuild_functions: bool = False,
        classes: Mapping[str, type] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(ModelCalls(session), **settings)
        if self.environment_type != "local" or self.persistent:
            raise InvalidValueError(
                f"save a run of rlms: environment {self.environment_type!r}, persistent {self.persistent}: only "
                "'local' and not persistent keeps its variables where they can be saved",
                hint="one session for each completion",
            )
        self._session = session
        self._rules = RestoreRules(rebuild_functions, classes)
        self._sources = CellSources()
        self._has_begun = False
        self._take_up(resumed)
        self._usage.take_up(self._record.usage)

    @property
    def note(self) -> str | None:
        """What the agent is told after the latest restore; None without one, or before its variables are back."""
        return self._note

    def completion(self, prompt: Any, root_prompt: str | None = None) -> RLMChatCompletion:
        """The run to its end, from where it stands; see `RLM.completion`, whose errors it raises too.

        Raises:
            ConflictError: it was called before, or what was resumed is about another prompt or has more turns than
                `max_iterations`. No call was made.
        """
        if self._has_begun:
            raise ConflictError(
                "complete prompt: this run has begun already", hint="open its session again, and resume"
            )
        self._has_begun = True
        digest = call_digest("prompt", [prompt, root_prompt])
        while True:
            self._check_run(digest)
            try:
                return super().completion(prompt, root_prompt)
            except WentBackError as e:
                self._take_up(e.resumed)

    def _take_up(self, back: Resumed | None) -> None:
        """Stand at the beginning of a pass through the run."""
        record = RunRecord("") if back is None else RunRecord.read(back.checkpoint)
        if self._session.turns != record.length:
            raise ConflictError(
                f"go on with session {self._session.external_id[:80]}: it made {self._session.turns} turns, and "
                f"what was resumed {record.length}",
                hint="give what its `resume` gave",
            )
        self._back = back
        self._record = record
        self._calls.notes = list(record.notes)
        self._turns_seen = 0
        self._compactions_seen = 0
        self._left_out: dict[str, object] = {}
        self._note: str | None = None

    def _check_run(self, digest: str) -> None:
        if self._back is None:
            self._record = replace(self._record, prompt_digest=digest)
        elif self._record.prompt_digest != digest:
            raise ConflictError(
                f"complete prompt: session {self._session.external_id[:80]} is about another prompt",
                hint="give the prompt that it began with, or open another session",
            )
        done, limit = len(self._record.turns), self.max_iterations
        if done > limit:
            raise ConflictError(f"complete prompt: {done} turns are done, and max_iterations is {limit}")

    @contextmanager
    def _spawn_completion_context(self, prompt: Any) -> Iterator[tuple[LMHandler, LocalREPL]]:
        with super()._spawn_completion_context(prompt) as (handler, environment):
            self._environment = environment
            yield handler, environment

    def _completion_turn(self, prompt: Messages, lm_handler: LMHandler, environment: LocalREPL) -> RLMIteration:
        number, self._turns_seen = self._turns_seen, self._turns_seen + 1
        if number < len(self._record.turns):
            return self._past_turn(number, prompt, environment)
        self._tell(prompt)
        iteration: RLMIteration = super()._completion_turn(prompt, lm_handler, environment)
        turn = PastTurn.of(number + 1, iteration)
        for cell in turn.cells:
            self._sources.learn(cell.code)
        self._record = replace(self._record, turns=(*self._record.turns, turn))
        self._end_turn([*prompt, *format_iteration(iteration)])
        return iteration

    def _past_turn(self, number: int, prompt: Messages, environment: LocalREPL) -> RLMIteration:
        """A turn from the record; with the last one the REPL and the messages become what they were after it."""
        iteration = self._record.turns[number].iteration(prompt)
        if self._back is not None and number + 1 == len(self._record.turns):
            messages = messages_of(self._back.checkpoint)
            added_after = len(format_iteration(iteration)) + (self._record.default_answer is not None)
            prompt[:] = messages[: len(messages) - added_after]
            restored = restore_repl(environment, self._back, self._record, self._rules, self._sources)
            self._left_out, self._note = restored.left_out, restored.note
            self._back = None
        return iteration

    def _tell(self, prompt: Messages) -> None:
        if self._note is not None and self._note not in self._calls.notes:
            self._calls.notes.append(self._note)
            prompt.insert(len(prompt) - 1, {"role": "user", "content": self._note})

    def _end_turn(self, messages: Messages) -> None:
        variables = {**self._left_out, **variables_of(self._environment)}
        self._record = replace(
            self._record,
            usage=self._usage.stored(),
            notes=tuple(self._calls.notes),
            order=tuple(variables),
            files=tuple(files_of(self._environment)),
        )
        cost, tokens = self._calls.take_turn()
        back = self._session.turn(
            variables,
            messages=messages,
            working_memory=self._record.working_memory(),
            trajectory=self._record.trajectory(),
            cells=self._record.cells,
            source_text=self._sources.by_code,
            cost=cost,
            tokens=tokens,
        )
        if back is not None:
            raise WentBackError(back)

    def _default_answer(self, message_history: Messages, lm_handler: LMHandler) -> str:
        if self._record.default_answer is not None:
            return self._record.default_answer
        answer: str = super()._default_answer(message_history, lm_handler)
        self._record = replace(self._record, default_answer=answer)
        self._end_turn([*message_history, {"role": "assistant", "content": answer}])
        return answer

    def _get_compaction_status(self, message_history: Messages) -> tuple[int, int, int]:
        if self._turns_seen < len(self._record.turns):
            # Gone through as often as it was made: the package counts, and tells the model.
            return int(self._compactions_seen < self._record.compactions), 1, 1
        found: tuple[int, int, int] = super()._get_compaction_status(message_history)
        return found

    def _compact_history(
        self, lm_handler: LMHandler, environment: LocalREPL, message_history: Messages, compaction_count: int = 1
    ) -> Messages:
        if self._turns_seen < len(self._record.turns):
            self._compactions_seen += 1
            return message_history
        found: Messages = super()._compact_history(lm_handler, environment, message_history, compaction_count)
        self._record = replace(self._record, compactions=self._record.compactions + 1)
        return found
