"""`tierdeck import` and `export`: memories in and out, nothing lost and nothing overwritten."""

from __future__ import annotations

import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from tierdeck.errors import EXIT_PARTLY_DONE, InvalidValueError, TransferError
from tierdeck.model import NodeType, Tier
from tierdeck.store import Store, open_store
from tierdeck.transfer.family_import import import_store, preview_store_import
from tierdeck.transfer.import_report import ImportReport
from tierdeck.transfer.jsonl_export import export_jsonl
from tierdeck.transfer.jsonl_import import ImportOptions, import_jsonl, preview_import
from tierdeck.transfer.salvage import salvage
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import count, counted, size
from tierdeck_tui.view.masked import masked_form

_DEFAULTS = ImportOptions()
_MAX_REASONS_SAID = 20
_SQLITE_MAGIC = b"SQLite format 3\x00"
# What a kind of row in the file is to its reader, one and many.
_NOUNS = {
    "node": ("memory", "memories"),
    "edge": ("relation", "relations"),
    "member": ("end of a relation", "ends of relations"),
    "move": ("move between tiers", "moves between tiers"),
    "confidence": ("change of confidence", "changes of confidence"),
    "confidence_change": ("recorded confidence", "recorded confidences"),
    "access": ("access", "accesses"),
    "log": ("row of the promotion log", "rows of the promotion log"),
    "revision": ("change", "changes"),
    "no_embedding": ("memory not to be embedded", "memories not to be embedded"),
}


@click.command("import", cls=Verb)
@click.argument("file", metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Only say what would come in; nothing is written.")
@click.option(
    "--source", metavar="NAME", help="What plain records' ids are unique in; else the file's folder and name."
)
@click.option(
    "--type",
    "node_type",
    type=click.Choice([each.value for each in NodeType]),
    default=_DEFAULTS.default_type.value,
    show_default=True,
    help="For plain records that don't say.",
)
@click.option(
    "--tier",
    type=click.Choice([each.value for each in Tier]),
    default=_DEFAULTS.default_tier.value,
    show_default=True,
    help="For plain records that don't say.",
)
@click.pass_obj
def import_verb(run: Run, /, file: str, dry_run: bool, source: str | None, node_type: str, tier: str) -> int:
    """Bring in memories from FILE: an export, plain JSONL records {"id": ..., "text": ...}, or another store.

    - reads JSONL from stdin. The store is made when there is none. What is there is never overwritten, and running
    it again brings in only what is new. Ctrl+C stops between batches. Ends with 10 when lines were skipped.
    """
    path = None if file == "-" else _existing(path_of(file))
    options = ImportOptions(source=source, default_type=NodeType(node_type), default_tier=Tier(tier))
    with _target(run, is_dry=dry_run) as store, stop_flag() as should_stop, ProgressBar("importing") as bar:
        if path is not None and _is_store(path):
            if dry_run:
                report = preview_store_import(store, path, on_progress=bar.show)
            else:
                report = import_store(store, path, on_progress=bar.show, should_stop=should_stop)
        else:
            rows = path or _stdin()
            if dry_run:
                report = preview_import(store, rows, options, on_progress=bar.show)
            else:
                report = import_jsonl(store, rows, options, on_progress=bar.show, should_stop=should_stop)
    _put_report(run, report, is_dry=dry_run)
    if not report.is_complete:
        return STOPPED
    return EXIT_PARTLY_DONE if report.skipped_count else 0


@click.command("export", cls=Verb)
@click.option("--out", metavar="FILE", help="The file to write (0600); without it stdout.")
@click.option("--force", is_flag=True, help="Let it take the place of a file that is there.")
@click.option("--salvage", "is_salvage", is_flag=True, help="From a damaged store, write what can still be read.")
@click.pass_obj
def export_verb(run: Run, /, out: str | None, force: bool, is_salvage: bool) -> int:
    """Write every row of the store as JSONL that `tierdeck import` takes back without loss.

    Secrets in it are not masked. Vectors are left out: `tierdeck embed` makes them again. --json needs --out, and
    gives the report. With --salvage it ends with 10 when something could not be read.
    """
    if run.is_json and out is None:
        raise click.UsageError("--json needs --out: without it stdout gets the export itself")
    target: Path | BinaryIO = path_of(out) if out is not None else _stdout()
    if is_salvage:
        return _salvage(run, target, overwrite=force)
    with run.open() as store, ProgressBar("exporting") as bar:
        report = export_jsonl(store, target, overwrite=force, on_progress=bar.show)
    if run.is_json:
        put_json({"export": report})
    elif report.path is not None:
        put(str(report.path))
    talk(f"exported {_by_kind(report.rows)}, {size(report.size_bytes)}")
    return 0


def _salvage(run: Run, target: Path | BinaryIO, *, overwrite: bool) -> int:
    report = salvage(run.store_path, target, overwrite=overwrite)
    if run.is_json:
        put_json({"salvage": report})
    elif isinstance(target, Path):
        put(str(target))
    talk(f"saved {_by_kind(report.rows)}")
    if report.from_index_count:
        saved = counted(report.from_index_count, "memory", "memories")
        talk(f"of {saved} only id, type and text, from the search index")
    if report.lost_count:
        talk(f"lost {counted(report.lost_count, 'memory', 'memories')}: {', '.join(report.lost[:5])}")
    for gap in report.gaps:
        talk(f"not read: {gap}")
    return EXIT_PARTLY_DONE if report.gaps or report.lost_count else 0


@contextmanager
def _target(run: Run, *, is_dry: bool) -> Iterator[Store]:
    """The store to import into. A preview for a store that is not there yet looks at an empty one instead."""
    if not is_dry or run.store_path.exists():
        with run.open(create=not is_dry) as store:
            yield store
        return
    with (
        tempfile.TemporaryDirectory(prefix="tierdeck-preview-") as folder,
        open_store(Path(folder) / "empty.db", create=True) as store,
    ):
        yield store


def _put_report(run: Run, report: ImportReport, *, is_dry: bool) -> None:
    if run.is_json:
        put_json(masked_form({"is_dry_run": is_dry, "import": report}, reveal=False))
    else:
        word = "would add" if is_dry else "added"
        put(f"{word} {count(report.added)} of {count(report.read)} from {report.source}")
    if report.rows and set(report.rows) != {"node"}:
        talk(_by_kind(report.rows))
    if report.unchanged:
        talk(f"{count(report.unchanged)} are there already")
    if report.skipped_count:
        talk(f"skipped {count(report.skipped_count)}:")
    for reason in report.reasons[:_MAX_REASONS_SAID]:
        where = ", ".join(str(line) for line in reason.lines)
        more = ", …" if reason.count > len(reason.lines) else ""
        talk(f"  {count(reason.count)} because {reason.reason} (line {where}{more})")
    for note in report.notes:
        talk(note)
    if not report.is_complete:
        talk("stopped; what is counted is in the store, and running it again does the rest")


def _by_kind(rows: Mapping[str, int]) -> str:
    named = [counted(number, *_NOUNS.get(kind, (kind,))) for kind, number in rows.items() if number]
    return ", ".join(named) or "nothing"


def _existing(path: Path) -> Path:
    """The file, so that no store is made for one that is not there; a pipe can be opened once only."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            path.open("rb").close()
    except OSError as e:
        raise TransferError(f"import {path}: {e.strerror}") from e
    return path


def _is_store(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError as e:
        raise TransferError(f"import {path}: {e.strerror}") from e


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise InvalidValueError("import: stdin is closed", hint="name a FILE")
    return sys.stdin.buffer


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise InvalidValueError("export: stdout is closed", hint="--out FILE")
    if sys.stdout.isatty():
        raise InvalidValueError(
            "export: stdout is a terminal, and the rows hold whatever agents wrote",
            hint="--out FILE, or pipe it into a program",
        )
    return sys.stdout.buffer
