"""`tierdeck embed`: the vectors that search by meaning needs; nothing leaves this machine unasked."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from tierdeck.config import ENCODER_MODEL, LOCAL_MODEL, EmbeddingSettings
from tierdeck.embed import ModelChoice, chosen_model, make_embedder
from tierdeck.embed.make import DIMENSIONS_KEY, MODEL_KEY, PROVIDER_KEY
from tierdeck.errors import EXIT_PARTLY_DONE, EmbeddingError, IndexFileError, InvalidValueError
from tierdeck.index.path import index_path
from tierdeck.store import Store, get_setting, set_setting
from tierdeck.terms.fill import fill_terms
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.masked import masked_form

if TYPE_CHECKING:
    from tierdeck.embed.coverage import Coverage
    from tierdeck.embed.embed_report import EmbedReport
    from tierdeck.embed.estimate import EmbedEstimate

_MAX_FAULTS_SAID = 5
_PROVIDERS_HERE = {LOCAL_MODEL: "local", ENCODER_MODEL: "encoder"}


@click.command("embed", cls=Verb)
@click.option(
    "--provider",
    type=click.Choice(["local", "encoder", "openai"]),
    help="Who makes the vectors, this time and from now.",
)
@click.option(
    "--model", metavar="NAME", help=f"{LOCAL_MODEL}, {ENCODER_MODEL}, or a remote model: --provider openai."
)
@click.option("--dimensions", type=int, metavar="N", help="The length of its vectors; means --provider openai.")
@click.option("--status", is_flag=True, help="Only say how far the store is embedded.")
@click.option("--retry-failed", is_flag=True, help="Try again what was refused for good.")
@click.option("--rebuild", is_flag=True, help="Remove the index file and make every vector anew.")
@click.option("--yes", is_flag=True, help="Do not ask before anything is sent or removed.")
@click.pass_obj
def embed_verb(
    run: Run,
    /,
    provider: str | None,
    model: str | None,
    dimensions: int | None,
    status: bool,
    retry_failed: bool,
    rebuild: bool,
    yes: bool,
) -> int:
    """Make the vectors of memories that have none, or one of an older text or another model.

    Ctrl+C stops after the texts on their way; another run goes on from there. Before texts are sent to a remote
    model it says where to, how many and at most for how much, and asks. Ends with 10 when something is left.
    """
    if model in _PROVIDERS_HERE:
        provider, model = _provider_here(model, provider, dimensions), None
    if model is not None and provider is None:
        _check_is_no_slip(model)
    is_remote_meant = model is not None or dimensions is not None
    run.use_flag("embedding.provider", provider or ("openai" if is_remote_meant else None), "--provider")
    run.use_flag("embedding.model", model, "--model")
    run.use_flag("embedding.dimensions", dimensions, "--dimensions")
    with run.open() as store:
        settings = _with_own_model(run, store)
        if status:
            _put_status(run, store, settings)
            return 0
        return _embed(run, store, settings, retry_failed=retry_failed, rebuild=rebuild, is_sure=yes)


def _check_is_no_slip(model: str) -> None:
    """Nothing is sent anywhere for a letter that is missing in the name of a model of this machine."""
    for near in get_close_matches(model.lower(), _PROVIDERS_HERE, 1, cutoff=0.85):
        raise InvalidValueError(
            f"embed with {model}: this machine has no such model",
            hint=f"did you mean {near}? A remote model of that name needs --provider openai",
        )


def _provider_here(model: str, provider: str | None, dimensions: int | None) -> str:
    """Who makes vectors of a model of this machine; another provider or length beside it is refused."""
    meant = _PROVIDERS_HERE[model]
    if provider not in (None, meant):
        raise InvalidValueError(f"embed with {model}: it is of provider {meant}, not {provider}")
    if dimensions is not None:
        raise InvalidValueError(f"embed with {model}: its vectors have one length, --dimensions can't change it")
    return meant


def _with_own_model(run: Run, store: Store) -> EmbeddingSettings:
    """The settings with the store's own model where a provider is named nearer and a model is not."""
    settings, origins = run.settings.embedding, run.loaded.origins
    if origins["embedding.provider"].kind not in ("flag", "environment") or settings.provider != "openai":
        return settings
    own_model, own_dimensions = get_setting(store, MODEL_KEY), get_setting(store, DIMENSIONS_KEY)
    if own_model and origins["embedding.model"].kind in ("file", "default"):
        settings = replace(settings, model=own_model)
        if (
            own_dimensions
            and own_dimensions.isdigit()
            and origins["embedding.dimensions"].kind in ("file", "default")
        ):
            settings = replace(settings, dimensions=int(own_dimensions))
    return settings


def _embed(
    run: Run, store: Store, settings: EmbeddingSettings, *, retry_failed: bool, rebuild: bool, is_sure: bool
) -> int:
    from tierdeck.embed.estimate import estimate
    from tierdeck.embed.indexer import run_indexer

    choice = chosen_model(settings, store)
    try:  # before any question: without key or package there is none to ask
        embedder = make_embedder(settings, store)
    except EmbeddingError:
        fill_terms(store)  # needs no model, and search by word is better for it
        raise
    if rebuild:
        _remove_index(store, choice, is_sure=is_sure)
    planned = estimate(store, settings)
    if choice.is_remote and planned.texts:
        confirm("embed memories", _question(planned), is_sure=is_sure)
    _remember(run, store, choice)
    with stop_flag() as should_stop, ProgressBar("embedding") as bar:
        report = run_indexer(
            store,
            embedder,
            settings,
            on_progress=lambda p: bar.show(p.done, p.total, p.text),
            should_stop=should_stop,
            retry_failed=retry_failed,
        )
    _put_report(run, choice, planned, report)
    if should_stop():
        return STOPPED
    _check_index(store)
    return _exit_code(report)


def _check_index(store: Store) -> None:
    """Refuse to end well beside an index that search can't use."""
    from tierdeck.maintenance.index_checks import check_index_file

    found = check_index_file(store, is_thorough=False)
    if found.state == "bad":
        hint = f"`{found.fix}` makes it anew; search by word works without it"
        raise IndexFileError(f"use index {found.text}: {found.details[0]}", hint=hint)


def _remove_index(store: Store, choice: ModelChoice, *, is_sure: bool) -> None:
    from tierdeck.index.file import rebuild_index

    path = index_path(store)
    again = f"; making it anew sends texts to {choice.name}" if choice.is_remote else ""
    confirm("remove index file", f"remove {path}? The store stays as it is{again}", is_sure=is_sure)
    existed = path.exists()
    aside = rebuild_index(store)  # a file that is no index of ours is never removed
    if aside is not None:
        talk(f"moved {path} to {aside}: it is not an index of ours")
    elif existed:
        talk(f"removed {path}")


def _question(planned: EmbedEstimate) -> str:
    cost = "for a price that is not in the settings" if planned.usd is None else f"for at most ${planned.usd:.4f}"
    what = f"{counted(planned.texts, 'text')} (at most {count(planned.tokens_upper)} tokens)"
    return f"send {what} to {planned.where} for {planned.model}, {cost}?"


def _remember(run: Run, store: Store, choice: ModelChoice) -> None:
    """Keep the model that was named or confirmed as the store's own, so that search uses it from now on."""
    is_named = run.loaded.origins["embedding.provider"].kind == "flag"
    if store.read_only or not is_named:
        return
    set_setting(store, PROVIDER_KEY, choice.provider)
    if choice.is_remote:
        set_setting(store, MODEL_KEY, choice.name)
        set_setting(store, DIMENSIONS_KEY, str(choice.dimensions))


def _put_report(run: Run, choice: ModelChoice, planned: EmbedEstimate, report: EmbedReport) -> None:
    if run.is_json:
        put_json(masked_form({"model": choice, "estimate": planned, "report": report}, reveal=False))
    else:
        put(f"embedded {count(report.embedded)} of {count(report.asked)} with {choice.name}")
    for number, word in ((report.pending, "still to do"), (report.failed, "refused"), (report.skipped, "left out")):
        if number:
            talk(f"{count(number)} {word}")
    for fault in report.errors[:_MAX_FAULTS_SAID]:
        talk(f"  {fault.node_id[:8]} {'refused' if fault.is_permanent else 'not yet'}: {fault.error}")
    if len(report.errors) > _MAX_FAULTS_SAID:
        talk(f"  and {len(report.errors) - _MAX_FAULTS_SAID} more; --json lists them")
    if report.stopped:
        talk(report.stopped)


def _exit_code(report: EmbedReport) -> int:
    if not report.pending and not report.failed:
        return 0
    return EXIT_PARTLY_DONE if report.embedded or not report.stopped else EmbeddingError.exit_code


def _put_status(run: Run, store: Store, settings: EmbeddingSettings) -> None:
    from tierdeck.embed.coverage import coverage

    choice = chosen_model(settings, store)
    found = coverage(store, settings)
    if run.is_json:
        put_json({"coverage": found, "model": choice, "index": index_path(store)})
        return
    put("\n".join(_status_lines(found, choice)))
    if found.foreign_model_note:
        talk(found.foreign_model_note)


def _status_lines(found: Coverage, choice: ModelChoice) -> list[str]:
    parts = [("embedded", found.embedded), ("to do", found.pending), ("of an older text", found.stale)]
    parts += [("refused", found.failed), ("left out", found.off)]
    return [
        f"model  {choice.reason}",
        f"{count(found.total)} memories",
        *(f"  {count(number):>9} {word}" for word, number in parts if number or word == "embedded"),
        *(f"  {count(number):>9} vectors by {name}" for name, number in found.by_model.items()),
    ]
