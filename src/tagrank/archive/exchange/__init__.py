"""Decisions on their way out of an archive and into one: lists, and XMP sidecars."""

from tagrank.archive.exchange.copies import copy_database, restore_database
from tagrank.archive.exchange.lists import FORMATS, decided_rows, export_lines, list_lines
from tagrank.archive.exchange.merging import Merge, merge_copy
from tagrank.archive.exchange.reading import Import, import_answers
from tagrank.archive.exchange.sidecars import SidecarExport, export_sidecars
from tagrank.archive.exchange.tag_lists import TagListExport, export_tags, list_path, tag_list_bytes

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
