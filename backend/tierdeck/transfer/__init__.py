"""Memories in and out of a store: the lossless JSONL form, plain JSONL records, another family store, salvage."""

from tierdeck.transfer.family_import import import_store, preview_store_import
from tierdeck.transfer.import_report import ImportReport, Skipped, SkipReason
from tierdeck.transfer.jsonl_export import ExportReport, export_jsonl
from tierdeck.transfer.jsonl_import import ImportOptions, import_jsonl, preview_import
from tierdeck.transfer.salvage import SalvageReport, salvage

__all__ = [
    "ExportReport",
    "ImportOptions",
    "ImportReport",
    "SalvageReport",
    "SkipReason",
    "Skipped",
    "export_jsonl",
    "import_jsonl",
    "import_store",
    "preview_import",
    "preview_store_import",
    "salvage",
]
