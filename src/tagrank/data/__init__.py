"""Collections of tagged pictures or rows as the world stores them."""

from tagrank.data.catalog import find_dataset, list_datasets, load_dataset
from tagrank.data.collection import Collection
from tagrank.data.hygiene import clean_tags
from tagrank.data.picture_files import read_picture
from tagrank.data.readers import (
    from_frame,
    read_collection,
    read_keywords,
    read_pictures,
    read_sidecar,
    to_frame,
    write_collection,
)
from tagrank.data.reading import Reading
from tagrank.data.splits import LabelStratifiedKFold, hide_labels, iterative_split, split_collection
from tagrank.data.writers import write_sidecar, write_tags
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
