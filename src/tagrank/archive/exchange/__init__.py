"""Decisions on their way out of an archive and into one: lists as CSV and JSON lines, and XMP sidecars."""

from tagrank.archive.exchange.lists import FORMATS, decided_rows, export_lines, list_lines
from tagrank.archive.exchange.reading import Import, import_answers
from tagrank.archive.exchange.sidecars import SidecarExport, export_sidecars

__all__ = [
    "FORMATS",
    "Import",
    "SidecarExport",
    "decided_rows",
    "export_lines",
    "export_sidecars",
    "import_answers",
    "list_lines",
]
