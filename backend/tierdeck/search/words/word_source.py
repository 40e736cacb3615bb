"""The store's own full-text index, asked: the best matches of a filter, and the exact score of any memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import cast

import apsw

from tierdeck.search.query.fts import Match
from tierdeck.search.rows.condition import Condition
from tierdeck.search.words.word_hit import WordHit
from tierdeck.store.rows import SQLValue, as_bytes, text_of

_HITS = "tierdeck_hits"
# So many times more matches than wanted are looked at before all of them are joined with their memories.
SLACK = 10


class WordSource:
    """The full-text index `content_fts` of one connection, inside one snapshot.

    Its rows are joined by `node_id`: the family's rebuild renumbers them, and a row may outlive its memory when
    somebody dropped the triggers; such a row is never shown.
    """

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn
        self._rowids: dict[str, list[int]] = {}
        conn.register_fts5_function(_HITS, _phrases_hit)

    def best(
        self,
        expression: str,
        condition: Condition,
        limit_rows: int,
        meeting: Callable[[list[int]], list[str]] | None = None,
    ) -> list[str]:
        """The ids of the best matches that meet the condition, best first.

        Without a join the index gives its best twice as fast (16 ms against 30 to 86 for 33,000 matches of 100,000
        memories), so more than needed are taken first and then checked: a fourth more where the condition lets most
        through, as putting ten times as many in order takes half as long again. The join comes only when too few of
        those meet the condition.

        Args:
            meeting: gives the ids of full-text rows' memories as `meeting` of this class does.
        """
        meeting = meeting or (lambda rowids: self.meeting(rowids, condition))
        page_rows, slack = limit_rows + limit_rows // 4, SLACK * limit_rows
        fetched, looked_at = page_rows if condition.keeps_most else slack, 0
        rowids = self._ranked(expression, fetched)
        ids: dict[str, None] = {}
        while looked_at < len(rowids) and len(ids) < limit_rows:
            ids.update(dict.fromkeys(meeting(rowids[looked_at : looked_at + page_rows])))
            looked_at, page_rows = looked_at + page_rows, 4 * page_rows
            if len(ids) < limit_rows and len(rowids) == fetched < slack:
                fetched = slack
                rowids = self._ranked(expression, slack)
        if len(ids) < limit_rows and len(rowids) == slack:
            return self._joined(expression, condition, limit_rows)
        return list(ids)[:limit_rows]

    def _ranked(self, expression: str, limit_rows: int) -> list[int]:
        """The full-text rows that match, best first."""
        found = self._conn.execute(
            "SELECT rowid, bm25(content_fts) AS s FROM content_fts WHERE content_fts MATCH ?"
            " ORDER BY s, rowid LIMIT ?",
            (expression, limit_rows),
        )
        return [cast("int", row[0]) for row in found]

    def _joined(self, expression: str, condition: Condition, limit_rows: int) -> list[str]:
        """The best of all matches that meet the condition."""
        rows = self._conn.execute(
            f"SELECT f.rowid, {as_bytes('n.id')}, bm25(content_fts) AS s FROM content_fts f"
            f" JOIN nodes n ON n.id = f.node_id WHERE f.content_fts MATCH ? AND {condition.sql}"
            " ORDER BY s, f.rowid LIMIT ?",
            (expression, *condition.params, limit_rows),
        )
        return self._note_rowids((int(row[0]), text_of(row[1])) for row in rows)[:limit_rows]

    def are_own(self, rowids: Sequence[int]) -> bool:
        """Whether each of those full-text rows has the number of its memory's own row, as in our stores."""
        rows = self._conn.execute(
            "SELECT 1 FROM json_each(?) j CROSS JOIN content_fts f ON f.rowid = j.value"
            " CROSS JOIN nodes n ON n.rowid = j.value WHERE n.id = f.node_id",
            (json.dumps(list(rowids)),),
        )
        return len(rows.fetchall()) == len(rowids)

    def hits(self, match: Match, ids: Collection[str]) -> dict[str, WordHit]:
        """The exact match of each of the memories; those that hold no word are left out."""
        owners = self._owners(match.scored, ids)
        # With the plus one pass over the matches (3 ms), without it a look-up for each rowid (190 ms).
        rows = self._conn.execute(
            f"SELECT rowid, bm25(content_fts), {_HITS}(content_fts) FROM content_fts"
            " WHERE content_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))",
            (match.scored, json.dumps(list(owners))),
        )
        found: dict[str, WordHit] = {}
        for rowid, score, phrases in rows:
            hit = _hit(match, float(score), str(phrases))
            node_id = owners[int(rowid)]
            if node_id not in found or hit.bm25 > found[node_id].bm25:
                found[node_id] = hit
        return found

    def meeting(self, rowids: list[int], condition: Condition) -> list[str]:
        """The ids of full-text rows' memories that meet the condition, in the order of the rows, each once."""
        owners = self._owners_by_number(rowids, condition)
        others = [rowid for rowid in rowids if rowid not in owners]
        if others:
            rows = self._conn.execute(
                f"SELECT f.rowid, {as_bytes('n.id')} FROM content_fts f JOIN nodes n ON n.id = f.node_id"
                f" WHERE f.rowid IN (SELECT value FROM json_each(?)) AND {condition.sql}",
                (json.dumps(others), *condition.params),
            )
            owners.update((int(row[0]), text_of(row[1])) for row in rows)
        return self._note_rowids((rowid, owners[rowid]) for rowid in rowids if rowid in owners)

    def _owners_by_number(self, rowids: list[int], condition: Condition) -> dict[int, str]:
        """The memories that meet the condition and have their full-text rows' own numbers, as in our stores.

        Looked up by number they take half as long as by id.
        """
        numbers = json.dumps(rowids)
        named = self._conn.execute(
            f"SELECT f.rowid, {as_bytes('f.node_id')} FROM content_fts f"
            " WHERE f.rowid IN (SELECT value FROM json_each(?))",
            (numbers,),
        )
        names = {row[0]: row[1] for row in named}
        rows = self._conn.execute(
            f"SELECT n.rowid, {as_bytes('n.id')} FROM json_each(?) j CROSS JOIN nodes n ON n.rowid = j.value"
            f" WHERE {condition.sql}",
            (numbers, *condition.params),
        )
        return {int(row[0]): text_of(row[1]) for row in rows if names.get(row[0]) == row[1]}

    def _note_rowids(self, pairs: Iterable[tuple[int, str]]) -> list[str]:
        ids: dict[str, None] = {}
        for rowid, node_id in pairs:
            ids[node_id] = None
            known = self._rowids.setdefault(node_id, [])
            if rowid not in known:
                known.append(rowid)
        return list(ids)

    def _owners(self, expression: str, ids: Collection[str]) -> dict[int, str]:
        """The full-text rows of the memories: seen, else under the row's own number, else searched."""
        self._guess_rowids([node_id for node_id in ids if node_id not in self._rowids])
        unknown = [node_id for node_id in ids if node_id not in self._rowids]
        if unknown:
            rows = self._conn.execute(
                "SELECT rowid, node_id FROM content_fts WHERE content_fts MATCH ?"
                " AND node_id IN (SELECT value FROM json_each(?))",
                (expression, json.dumps(unknown)),
            )
            self._note_rowids((int(row[0]), str(row[1])) for row in rows)
        return {rowid: node_id for node_id in ids for rowid in self._rowids.get(node_id, ())}

    def _guess_rowids(self, ids: list[str]) -> None:
        if ids:
            rows = self._conn.execute(
                "SELECT f.rowid, n.id FROM nodes n JOIN content_fts f ON f.rowid = n.rowid"
                " WHERE n.id IN (SELECT value FROM json_each(?)) AND f.node_id = n.id",
                (json.dumps(ids),),
            )
            self._note_rowids((int(row[0]), str(row[1])) for row in rows)


def _phrases_hit(api: apsw.FTS5ExtensionApi, /, *_: SQLValue) -> str:
    """An FTS5 function: how many phrases were asked, and which stand in the row, as bits (there may be over 64)."""
    bits = 0
    for number in range(api.phrase_count):
        if api.phrase_columns(number):
            bits |= 1 << number
    return f"{api.phrase_count:x} {bits:x}"


def _hit(match: Match, score: float, phrases: str) -> WordHit:
    count, bits = (int(number, 16) for number in phrases.split())
    asked = count if match.words is None else match.words
    bits >>= match.first_word
    return WordHit(max(-score, 0.0), frozenset(n for n in range(asked) if bits >> n & 1), asked)
