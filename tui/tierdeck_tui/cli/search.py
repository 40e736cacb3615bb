"""`tierdeck search`: the same search as the console's, as rows, ids or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from tierdeck.config import checked_alpha
from tierdeck.search.answer.hit import Hit, SearchAnswer
from tierdeck.search.hybrid import hybrid_search
from tierdeck.search.query.query import Query
from tierdeck.secret_scan import find_secrets, has_secret, mask_secrets
from tierdeck.terms.words import split_words
from tierdeck.times import now_ms
from tierdeck_tui.cli.filter_options import filter_of, filter_options
from tierdeck_tui.cli.meaning import meaning_of
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.line import Line, line
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.memory_row import RowLook, hit_lines, node_lines
from tierdeck_tui.view.search_status import hidden_sentence, missing_sentence
from tierdeck_tui.view.why import why_lines

_INDENT = "    "
_WORD_MARK = "\0"  # no argument of a process can hold one


class SearchVerb(Verb):
    """Lets what looks like a short option be a word (`rm -rf`, `deploy -staging`), but no unknown long one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; a long option that is none is refused, so that a typing error never becomes a word."""
        rest = super().parse_args(ctx, self._words_marked(ctx, args))
        ctx.params["words"] = tuple(word.removeprefix(_WORD_MARK) for word in ctx.params["words"])
        return rest

    def _words_marked(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hide words with a dash from click, which reads `-chrome` as a bundle of short options with `-h` in it."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        with_value = {name for option in options if not option.is_flag for name in option.opts}
        marked: list[str] = []
        for at, arg in enumerate(args):
            if arg == "--":
                return marked + args[at:]
            is_value = bool(at) and args[at - 1] in with_value
            is_word = len(arg) > 1 and arg[0] == "-" and arg[1] != "-" and arg != "-h" and not is_value
            marked.append(_WORD_MARK + arg if is_word else arg)
        return marked


@click.command("search", cls=SearchVerb)
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option("--alpha", type=float, metavar="N", help="Weight of meaning: 0 is words only, 1 meaning only.")
@click.option("--limit", type=int, metavar="N", help="How many hits.")
@click.option("--explain", is_flag=True, help="Say of each hit why it stands there.")
@click.option("--raw", is_flag=True, help="The words are an FTS5 expression as it is.")
@filter_options
@click.option("--ids", "is_ids", is_flag=True, help="Full ids only, one a line.")
@click.option("--reveal", is_flag=True, help="Show what looks like a secret.")
@click.pass_obj
def search_verb(
    run: Run,
    /,
    words: tuple[str, ...],
    alpha: float | None,
    limit: int | None,
    explain: bool,
    raw: bool,
    is_ids: bool,
    reveal: bool,
    **filters: Any,
) -> None:
    """Find memories by word and by meaning; without WORDS the newest ones.

    Filters may also stand among the words: tier:longterm type:fact conf>0.6 session:s-41 since:7d tag:db. A -word
    is left out of the results; put -- before words that begin with two dashes.
    """
    run.use_flag("search.alpha", None if alpha is None else checked_alpha(alpha), "--alpha")
    chosen = filter_of(filters, now_ms())
    settings = run.settings
    text = " ".join(words)
    weight = settings.search.alpha
    with run.open() as store, meaning_of(store, settings.embedding, weight if words else 0) as meaning:
        answer = hybrid_search(
            store,
            text,
            alpha=weight,
            limit_rows=settings.search.limit_rows if limit is None else limit,
            node_filter=chosen,
            embedder=meaning.embedder,
            index=meaning.index,
            raw=raw,
            meaning_off_reason=meaning.off_reason,
            may_send_secrets=settings.embedding.send_secrets,
        )
    if run.is_json:
        put_json(_document(answer, reveal=reveal))
    elif is_ids:
        put("\n".join(hit.row.id for hit in answer.hits)) if answer.hits else None
    else:
        put_lines(_lines(answer, explain=explain, reveal=reveal))
    _say(answer)


def _lines(answer: SearchAnswer, *, explain: bool, reveal: bool) -> Iterator[Line]:
    look = RowLook(width_cells(), now_ms(), alpha=answer.alpha, reveal=reveal)
    for hit in answer.hits:
        yield from node_lines(hit.row, look) if answer.is_browse else hit_lines(hit, look)
        if explain and not answer.is_browse:
            for sentence in why_lines(hit, answer):
                yield line(f"{_INDENT}{sentence}")


def _say(answer: SearchAnswer) -> None:
    """What an operator has to know to trust the hits; on stderr, so that a pipe gets only hits."""
    if answer.degraded and not answer.is_browse:
        talk(f"keyword only: {answer.degraded}")
    for note in _safe_notes(answer):
        talk(note)
    if answer.missing and not has_secret(answer.query.text):
        talk(missing_sentence(answer.missing))
    for hidden in answer.hidden:
        talk(hidden_sentence(hidden))
    if not answer.hits:
        talk("nothing found" if answer.store_rows else "the store is empty; `tierdeck add` adds a memory")


def _document(answer: SearchAnswer, *, reveal: bool) -> object:
    document = {
        "query": answer.query if reveal else _safe_query(answer.query),
        "alpha": answer.alpha,
        "asked_alpha": answer.asked_alpha,
        "limit_rows": answer.limit_rows,
        "degraded": answer.degraded,
        "model": answer.model,
        "is_browse": answer.is_browse,
        "notes": answer.notes if reveal else _safe_notes(answer),
        "hidden": answer.hidden,
        "missing": answer.missing if reveal or not has_secret(answer.query.text) else (),
        "store_rows": answer.store_rows,
        "elapsed_ms": answer.elapsed_ms,
        "hits": [_hit(hit, answer, reveal=reveal) for hit in answer.hits],
    }
    return masked_form(document, reveal=reveal)


def _hit(hit: Hit, answer: SearchAnswer, *, reveal: bool) -> dict[str, object]:
    # Masking moves what stands behind it, and then the offsets of the matches say nothing.
    is_whole = reveal or not has_secret(hit.row.excerpt)
    return {
        "id": hit.row.id,
        "score": None if answer.is_browse else hit.score,
        "keyword": hit.keyword,
        "semantic": hit.semantic,
        "flags": hit.flags,
        "matches": hit.matches if is_whole else (),
        "row": hit.row,
    }


def _safe_query(query: Query) -> Query:
    """The query without the words that a typed key was split into; they no longer look like one."""
    if not has_secret(query.text):
        return query
    return replace(query, words=(), phrases=(), excluded=(), pieces=(), words_text=mask_secrets(query.words_text))


def _safe_notes(answer: SearchAnswer) -> tuple[str, ...]:
    text = answer.query.text
    parts = [word for start, end, _ in find_secrets(text) for word in split_words(text[start:end])]
    hidden = re.compile("|".join(re.escape(part) for part in parts if len(part) > 3), re.IGNORECASE)
    return tuple(hidden.sub("…", note) if hidden.pattern else note for note in answer.notes)
