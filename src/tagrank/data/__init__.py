"""Collections of tagged pictures or rows as the world stores them.

Names are resolved on first use: the help of a command needs `Reading` and no reader.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagrank.data.catalog import find_dataset, list_datasets, load_dataset
    from tagrank.data.collection import Collection
    from tagrank.data.hygiene import clean_tags
    from tagrank.data.picture_files import read_picture
    from tagrank.data.readers.folders.folder import read_pictures
    from tagrank.data.readers.frame import from_frame, to_frame
    from tagrank.data.readers.xmp import read_keywords, read_sidecar
    from tagrank.data.reading import Reading, read_collection, write_collection
    from tagrank.data.splits import LabelStratifiedKFold, hide_labels, iterative_split, split_collection
    from tagrank.data.writers.sidecar import write_sidecar
    from tagrank.data.writers.tags import write_tags
    from tagrank.files import Problem, ProblemWarning

_NAMES = {
    "data.catalog": "find_dataset list_datasets load_dataset",
    "data.collection": "Collection",
    "data.hygiene": "clean_tags",
    "data.picture_files": "read_picture",
    "data.readers.folders.folder": "read_pictures",
    "data.readers.frame": "from_frame to_frame",
    "data.readers.xmp": "read_keywords read_sidecar",
    "data.reading": "Reading read_collection write_collection",
    "data.splits": "LabelStratifiedKFold hide_labels iterative_split split_collection",
    "data.writers.sidecar": "write_sidecar",
    "data.writers.tags": "write_tags",
    "files": "Problem ProblemWarning",
}
_HOME_OF = {name: f"tagrank.{home}" for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Collection",
    "LabelStratifiedKFold",
    "Problem",
    "ProblemWarning",
    "Reading",
    "clean_tags",
    "find_dataset",
    "from_frame",
    "hide_labels",
    "iterative_split",
    "list_datasets",
    "load_dataset",
    "read_collection",
    "read_keywords",
    "read_picture",
    "read_pictures",
    "read_sidecar",
    "split_collection",
    "to_frame",
    "write_collection",
    "write_sidecar",
    "write_tags",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'tagrank.data' has no attribute {name!r}")
