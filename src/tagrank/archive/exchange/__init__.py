"""Decisions on their way out of an archive and into one: lists, and XMP sidecars."""

from tagrank.archive.exchange.lists import FORMATS, decided_rows, export_lines, list_lines
from tagrank.archive.exchange.reading import Import, import_answers
from tagrank.archive.exchange.sidecars import SidecarExport, export_sidecars
from tagrank.archive.exchange.tag_lists import TagListExport, export_tags, list_path, tag_list_bytes

__all__ = [
    "FORMATS",
    "Import",
    "SidecarExport",
    "TagListExport",
    "decided_rows",
    "export_lines",
    "export_sidecars",
    "export_tags",
    "import_answers",
    "list_lines",
    "list_path",
    "tag_list_bytes",
]
