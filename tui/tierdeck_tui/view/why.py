"""Why a memory came up where it did: the same sentences on the screen and from `tierdeck search --explain`."""

from __future__ import annotations

from tierdeck.search.answer.hit import Hit, SearchAnswer
from tierdeck_tui.view.format import NONE, score, short_number
from tierdeck_tui.view.sanitise import visible


def sum_line(hit: Hit, alpha: float) -> str:
    """The score as its sum, meaning first: `0.772 = 0.4×0.91 + 0.6×0.68`; a missing side is `–` and counts 0."""
    meaning = short_number(hit.semantic.score) if hit.semantic else NONE
    words = short_number(hit.keyword.score) if hit.keyword else NONE
    return f"{score(hit.score)} = {short_number(alpha)}×{meaning} + {short_number(1 - alpha)}×{words}"


def why_lines(hit: Hit, answer: SearchAnswer) -> tuple[str, ...]:
    """Everything that made the hit's place: the sum, the words' side, the meaning's side, what is special about it.

    Each is one line of safe text. Spec: SPEC-09.04
    """
    lines = [f"{sum_line(hit, answer.alpha)}  (meaning + words)"]
    lines += [f"words    {_words(hit, answer)}", f"meaning  {_meaning(hit, answer)}"]
    if hit.semantic is not None and answer.model:
        lines.append(f"model    {visible(answer.model, one_line=True)}")
    return (*lines, *_flag_lines(hit))


def _words(hit: Hit, answer: SearchAnswer) -> str:
    part = hit.keyword
    if part is None:
        return (
            f"{NONE}  not asked for at alpha 1" if answer.alpha == 1 else f"{NONE}  none of the words stands in it"
        )
    inside = f" + {_raw(part.inside)} inside words" if part.inside else ""
    facts = [
        f"bm25 {_raw(part.bm25)}{inside} of {_raw(part.best_bm25)}",
        f"terms {part.matched_terms}/{part.asked_terms}",
        f"rank {part.rank}",
    ]
    return f"{short_number(part.score)}  " + " · ".join(facts)


def _meaning(hit: Hit, answer: SearchAnswer) -> str:
    part = hit.semantic
    if part is None:
        return f"{NONE}  {_no_meaning(hit, answer)}"
    facts = [f"cosine {part.cosine:.3f}", f"centred {part.centred_cosine:.3f}", f"rank {part.rank}"]
    return f"{short_number(part.score)}  " + " · ".join(facts)


def _raw(bm25: float) -> str:
    """A raw score; in a store of a few rows it is some millionths."""
    return f"{bm25:.2f}" if bm25 >= 0.01 or bm25 == 0 else f"{bm25:.1e}"


def _no_meaning(hit: Hit, answer: SearchAnswer) -> str:
    if "embedding-off" in hit.flags:
        return "embedding is off for this memory: counts 0"
    if answer.degraded:
        return visible(answer.degraded, one_line=True)
    if answer.alpha == 0:
        return "not asked for at alpha 0"
    if "stale-vector" in hit.flags:
        return "its vector was made from an older text: counts 0 (`tierdeck embed` renews it)"
    return "no vector yet: counts 0 (`tierdeck embed` makes it)"


def _flag_lines(hit: Hit) -> tuple[str, ...]:
    lines = []
    if "archived" in hit.flags:
        lines.append("archived: shown because the archive was asked for")
    if "secret" in hit.flags:
        lines.append("holds what looks like a secret: masked in lists, not sent to a remote model")
    return tuple(lines)
