"""The facts of memories in SQL, written once: for one memory, for a list of candidates and for a whole sweep.

Two places to look at a memory from: `USED` begins at td_facts and finds what was ever pulled or moved, `ALL` begins
at nodes. Both know the memory as `n` and its facts as `f`, so that `columns` and every criterion mean the same.

In a store of ours triggers keep `td_facts.tier` and `conf_min` in step. In an adopted one another program changes
`nodes` unseen: there the tier is read from `nodes`, and the confidence held is worked out from its log each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tierdeck.migrate import StoreKind
from tierdeck.store import Store, time_ms_sql
from tierdeck.store.rows import as_bytes

# The confidence must have been held over the latest this many root sessions; a part of the rule, not a setting.
WINDOW_ROOTS = 3

USED = "td_facts f JOIN nodes n ON n.id = f.node_id"
ALL = "nodes n LEFT JOIN td_facts f ON f.node_id = n.id"

# `:now` in milliseconds. A hold ends at `until`; looked at when read, so that nothing must run to end it.
HELD = (
    "EXISTS (SELECT 1 FROM td_hold h WHERE h.node_id = n.id AND h.released_at IS NULL "
    "AND (h.until IS NULL OR h.until > :now))"
)
_LAST_ACCESSED = time_ms_sql("n.last_accessed")
# Last use as the memory's own columns tell it: where no time of use can be read, when it was made. The index
# `td_nodes_idle` is on it.
NODE_USE = f"coalesce(nullif({_LAST_ACCESSED}, 0), nullif({time_ms_sql('n.created_at')}, 0), 0)"
# Last use as td_facts tells it; the index `td_facts_longterm` is on it.
FACTS_USE = "max(coalesce(f.last_pull, 0), coalesce(f.moved_at, 0))"
TRACKING_SINCE = "coalesce((SELECT CAST(value AS INTEGER) FROM td_setting WHERE key = 'tracking_since'), 0)"
LAST_USE = f"max({NODE_USE}, {FACTS_USE}, {TRACKING_SINCE})"
# A dismissal lapses when the memory was pulled or moved since, or used as far as its own program tells; a time in
# the future tells nothing.
DISMISSED = (
    "EXISTS (SELECT 1 FROM td_dismissal d WHERE d.node_id = n.id AND d.tier = n.tier "
    f"AND d.last_pull_id >= coalesce(f.last_pull_id, 0) AND (d.at >= {_LAST_ACCESSED} OR {_LAST_ACCESSED} > :now))"
)


@dataclass(frozen=True, slots=True)
class FactsSQL:
    """What depends on the store: `held` is the confidence held, `history` whether a change is on record."""

    held: str
    history: str
    is_own: bool

    @property
    def columns(self) -> str:
        """The columns of `facts.facts_of_row`, in its order."""
        return _columns(self.held, self.history)

    def tier_hint(self, tier: str) -> str:
        """A condition that lets the planner use td_facts' index of a tier.

        "1" where td_facts does not know the tier for certain.
        """
        return f"f.tier = '{tier}'" if self.is_own else "1"


# Only where td_facts saw it come to the archive: an older pull must not call it back.
PULLS_SINCE = (
    "CASE WHEN f.tier = 'archive' AND n.tier = 'archive' AND f.last_pull_id > f.tier_after THEN "
    "(SELECT count(*) FROM td_access a WHERE a.node_id = n.id AND a.kind = 'pull' AND a.id > f.tier_after) "
    "ELSE 0 END"
)


def facts_sql(store: Store) -> FactsSQL:
    """The parts for this store."""
    return _form(has_confidence_log(store), store.kind is StoreKind.OWN)


def has_confidence_log(store: Store) -> bool:
    """Whether the store has the family's log of confidences; its oldest stores have none."""
    return store.has_table("confidence_updates")


@cache
def _form(logs_confidence: bool, is_own: bool) -> FactsSQL:
    held = "f.conf_min" if is_own else held_sql(logs_confidence=logs_confidence)
    return FactsSQL(held, f"EXISTS ({_history_sql(logs_confidence=logs_confidence)})", is_own)


# Made once for each kind of store: a pull reads them each time.
@cache
def _columns(held: str, history: str) -> str:
    # Other programs' ids and tiers may be no valid UTF-8, and one such row must not stop a whole sweep.
    return (
        f"{as_bytes('n.id')}, {as_bytes('n.tier')}, coalesce(f.max_in_root, 0), coalesce(f.roots, 0), "
        f"coalesce(f.ok, 0), coalesce(f.bad, 0), {as_bytes('n.confidence')}, "
        f"CASE WHEN f.roots > 0 THEN {held} END, {history}, {_LAST_ACCESSED}, "
        f"f.last_pull, f.moved_at, {LAST_USE}, {PULLS_SINCE}, {HELD}, {DISMISSED}"
    )


def held_sql(*, logs_confidence: bool) -> str:
    """The least confidence over the window of the latest root sessions, for a memory `n` with facts `f`.

    The window begins at the first pull of the oldest of them. In it count: today's value, what every recorded
    change replaced and set, and the value that stood when the window began. A change that nobody recorded shows in
    the old value of the next.
    """
    latest = (
        "SELECT u.first_at FROM td_use u WHERE u.node = f.node "
        f"ORDER BY u.last_at DESC, u.root DESC LIMIT {WINDOW_ROOTS}"
    )
    history = _history_sql(logs_confidence=logs_confidence)
    return f"""(
        SELECT min(n.confidence,
            coalesce((SELECT min(min(h.old), min(h.new)) FROM ({history}) h WHERE h.at > w.start), n.confidence),
            coalesce((SELECT h.new FROM ({history}) h WHERE h.at <= w.start ORDER BY h.at DESC, h.id DESC LIMIT 1),
                n.confidence))
        FROM (SELECT min(first_at) AS start FROM ({latest})) w)"""


def _history_sql(*, logs_confidence: bool) -> str:
    ours = (
        "SELECT c.at AS at, c.id AS id, c.old_confidence AS old, c.new_confidence AS new "
        "FROM td_confidence c WHERE c.node_id = n.id"
    )
    if not logs_confidence:
        return ours
    theirs = (
        f"SELECT {time_ms_sql('c.timestamp')}, c.id, c.old_confidence, c.new_confidence "
        "FROM confidence_updates c WHERE c.node_id = n.id"
    )
    return f"{ours} UNION ALL {theirs}"
