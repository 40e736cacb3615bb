"""Every error a caller can see, in one tree; each class has its exit code.

    TierdeckError                 1   the root; also anything unforeseen
    |- InvalidValueError          2   a value from outside is wrong: names it, and the limit
    |- StoreError                 3
    |  |- StoreNotFoundError      3   no file there
    |  |- NotAStoreError          3   a file, but not a memory store
    |  |- DamagedStoreError       3   SQLite finds it malformed
    |  |- StoreBusyError          3   another program held it longer than the timeout
    |  |  `- IndexBusyError       3   held the index file; that may well be sound
    |  |- ReadOnlyStoreError      3   a write on a store opened for reading
    |  `- SchemaVersionError      3   made by a newer tierdeck
    |- NotFoundError              4   no memory (revision, file) by that name
    |  `- AmbiguousIdError        4   a short id that fits several: `.matches`
    |- ConflictError              5   it is no longer what the caller saw
    |  `- UndecidedOperationError 5   a call may have been made already: a person has to say: `.op_id`
    |- EmbeddingError             6
    |  |- ProviderError           6   the provider refused or failed: `.is_retryable`, `.stops_run`
    |  |- ModelUnavailableError   6   no model, key or package for what is configured
    |  `- VectorRefusedError      6   zero, NaN, infinite, or of the wrong length
    |- IndexFileError             7   the index file is damaged, foreign, or of other dimensions
    |  `- IndexBusyError          3   another program held it
    |- ConfigError                8   the settings file: names file, key and value
    |- TransferError              9   an import or export can't go on
    |- CheckpointError           11   a checkpoint can't be written or read
    |  |- DamagedCheckpointError 11   it is not what was written, or no checkpoint at all
    |  |- NewerCheckpointError   11   made by a newer tierdeck: says which, and what this one reads
    |  |- CheckpointKeyError     11   the key is missing, another one, or demanded of a file made without one
    |  `- CheckpointLimitError   11   reading it would take more than a limit allows: names the limit
    `- StoppedError             130   the caller asked for an end

Exit code 10 is not an error class: the command did part of what was asked and says which part.
The message reads `verb object: why, with the value and the limit`; `hint` says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence

EXIT_PARTLY_DONE = 10


class TierdeckError(Exception):
    """The root of the tree."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidValueError(TierdeckError):
    """A value from outside is wrong."""

    exit_code = 2


class StoreError(TierdeckError):
    """The store can't be used as asked."""

    exit_code = 3


class StoreNotFoundError(StoreError):
    """No file at the path."""


class NotAStoreError(StoreError):
    """The file is not a memory store."""


class DamagedStoreError(StoreError):
    """SQLite finds the file malformed."""


class StoreBusyError(StoreError):
    """Another program held the store longer than the timeout; nothing was changed."""


class ReadOnlyStoreError(StoreError):
    """A write on a store that was opened for reading; nothing was changed."""


class SchemaVersionError(StoreError):
    """The store's schema is newer than this program."""


class NotFoundError(TierdeckError):
    """Nothing by that name."""

    exit_code = 4


class AmbiguousIdError(NotFoundError):
    """A short id that fits several memories; `matches` holds the full ids, at most 20."""

    def __init__(self, message: str, *, matches: Sequence[str], hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.matches = tuple(matches)


class ConflictError(TierdeckError):
    """The thing is no longer what the caller saw; nothing was changed."""

    exit_code = 5


class UndecidedOperationError(ConflictError):
    """A call of an agent's may have been made before; it was not made again. `op_id` is what to decide about."""

    def __init__(self, message: str, *, op_id: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.op_id = op_id


class EmbeddingError(TierdeckError):
    """Embedding can't be done as asked."""

    exit_code = 6


class ProviderError(EmbeddingError):
    """The embedding provider refused or failed.

    `is_retryable` says whether the same request may work later (429, 5xx, connection); `retry_after_s` is what
    the provider asked for, if it did. `stops_run` says that no other text would fare better now: the key, the
    address or the model is wrong, or the provider can't be reached.
    """

    def __init__(
        self,
        message: str,
        *,
        is_retryable: bool,
        retry_after_s: float | None = None,
        stops_run: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.stops_run = stops_run


class ModelUnavailableError(EmbeddingError):
    """The configured model can't run here: package, key or setting is missing."""


class VectorRefusedError(EmbeddingError):
    """A vector that must not enter the index: zero, NaN, infinite, or of the wrong length."""


class IndexFileError(TierdeckError):
    """The index file can't be used; the store is untouched and keyword search works without it.

    `remedy` is what mends it, a command or a deed; None where nobody can say. It is to make the index anew only
    where nothing else helps: of what the disk refuses the vectors may be sound, and have cost money.
    """

    exit_code = 7

    def __init__(self, message: str, *, remedy: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.remedy = remedy


class IndexBusyError(StoreBusyError, IndexFileError):
    """Another program held the index file longer than the timeout; nothing was changed, and it may be sound."""


class ConfigError(TierdeckError):
    """The settings file holds something that can't be used."""

    exit_code = 8


class TransferError(TierdeckError):
    """An import or export can't go on."""

    exit_code = 9


class CheckpointError(TierdeckError):
    """A checkpoint can't be written or read; those already on disk are as they were."""

    exit_code = 11


class DamagedCheckpointError(CheckpointError):
    """The file is not what was written: cut, changed, or never a checkpoint. Nothing of it was taken over."""


class NewerCheckpointError(CheckpointError):
    """The file is of a newer major version than this program reads; it may well be sound."""


class CheckpointKeyError(CheckpointError):
    """A checkpoint's seal can't be checked with the key at hand: none, another one, or none in the file.

    It does not say that the file is damaged.
    """


class CheckpointLimitError(CheckpointError):
    """Reading it would take more than a limit allows; nothing was allocated for it. A limit is a setting."""


class StoppedError(TierdeckError):
    """Work ended because its caller asked it to; there is no result, and what was not committed stays as it was."""

    exit_code = 130
