"""Collections of tagged pictures or rows as the world stores them."""

from tagrank.data.catalog import find_dataset, list_datasets, load_dataset
from tagrank.data.collection import Collection

__all__ = ["Collection", "find_dataset", "list_datasets", "load_dataset"]
