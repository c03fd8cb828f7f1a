"""Collections of tagged pictures or rows as the world stores them."""

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
from tagrank.problems import Problem

__all__ = [
    "Collection",
    "LabelStratifiedKFold",
    "Problem",
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
