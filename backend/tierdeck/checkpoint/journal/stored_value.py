"""A value as it lies in a journal: its bytes, and whether they are all of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.checkpoint.limits import AGENT_LIMITS, MB, Limits
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_unit
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source
from tierdeck.checkpoint.values.preview import preview

SHORT_BYTES = 4_096
MAX_VALUE_BYTES = 64 * MB  # of one value: a call that gives more is asked about when it comes again
_NAME = "value"


@dataclass(frozen=True, slots=True)
class StoredValue:
    """`why` says what of the value is missing; None when what is read is exactly what was written."""

    raw: bytes
    form: int
    why: str | None = None

    def value(self, limits: Limits = AGENT_LIMITS) -> object:
        """The value; what could not be saved in it is an `Unsaved`.

        Raises:
            DamagedCheckpointError, CheckpointLimitError: as `decode_unit`.
        """
        return decode_unit(self.raw, form=self.form, budget=Budget(limits.memory_bytes))


def shortened(stored: StoredValue) -> StoredValue:
    """A long value as one line about it, where nobody will need the value itself; a short one as it is."""
    if len(stored.raw) <= SHORT_BYTES:
        return stored
    if len(stored.raw) > MAX_VALUE_BYTES:
        return without_value(stored, MAX_VALUE_BYTES)
    line = store_value(preview(stored.value()))
    return StoredValue(line.raw, line.form, f"{len(stored.raw):,} bytes, of which the journal has one line")


def without_value(stored: StoredValue, limit_bytes: int) -> StoredValue:
    """None in the place of a value that is too large, and why; nothing is decoded."""
    none = store_value(None)
    why = f"it takes {len(stored.raw):,} bytes, the journal keeps {limit_bytes:,} of one value"
    return StoredValue(none.raw, none.form, why)


def store_value(value: object) -> StoredValue:
    """The value's bytes; never fails for a value."""
    encoded = encode_units([Source(_NAME, value, is_part=True)])
    why = None
    if encoded.losses:
        loss = encoded.losses[0]
        why = f"{loss.path.removeprefix(_NAME) or 'it'}: {loss.type_name}: {loss.reason}"
    if not encoded.units:
        [unit] = encode_units([Source(_NAME, None, is_part=True)]).units
        return StoredValue(unit.raw, unit.form, why or "it can't be saved")
    [unit] = encoded.units
    return StoredValue(unit.raw, unit.form, why)
