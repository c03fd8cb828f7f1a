"""Collections of tagged pictures or rows as the world stores them."""

from tagrank.data.catalog import find_dataset, list_datasets, load_dataset
from tagrank.data.collection import Collection
from tagrank.data.hygiene import clean_tags
from tagrank.data.missing import hide_labels
from tagrank.data.readers import from_frame, read_collection, to_frame, write_collection
from tagrank.data.splits import LabelStratifiedKFold, iterative_split, split_collection

__all__ = [
    "Collection",
    "LabelStratifiedKFold",
    "clean_tags",
    "find_dataset",
    "from_frame",
    "hide_labels",
    "iterative_split",
    "list_datasets",
    "load_dataset",
    "read_collection",
    "split_collection",
    "to_frame",
    "write_collection",
]
