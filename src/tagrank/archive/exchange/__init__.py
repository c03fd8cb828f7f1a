"""Decisions on their way out of an archive and into one: lists, and XMP sidecars."""

from tagrank.archive.exchange.copies import Merge, copy_database, merge_copy, restore_database
from tagrank.archive.exchange.exports import (
    FORMATS,
    SidecarExport,
    TagListExport,
    decided_rows,
    export_lines,
    export_sidecars,
    export_tags,
    list_lines,
    list_path,
    tag_list_bytes,
)
from tagrank.archive.exchange.imports import Import, import_answers

__all__ = [
    "FORMATS",
    "Import",
    "Merge",
    "SidecarExport",
    "TagListExport",
    "copy_database",
    "decided_rows",
    "export_lines",
    "export_sidecars",
    "export_tags",
    "import_answers",
    "list_lines",
    "list_path",
    "merge_copy",
    "restore_database",
    "tag_list_bytes",
]
