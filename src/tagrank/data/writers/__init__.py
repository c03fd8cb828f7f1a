"""Tags on their way out: lists and sidecar files. The pictures themselves are never touched."""

from tagrank.data.writers.sidecar import write_sidecar
from tagrank.data.writers.tags import write_tags

__all__ = ["write_sidecar", "write_tags"]
