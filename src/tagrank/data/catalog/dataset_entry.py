"""What the catalog says about a public data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class DatasetEntry:
    """One public data set.

    Attributes
    ----------
    name, about : what it is called, and what it holds in a few words
    n_rows, n_features, n_tags, cardinality : as published; the cardinality is the mean number of tags a row,
        and photographs have 0 features
    folder : where its files lie below a data folder
    layout : how to read them, a key of `tagrank.data.catalog.catalog.LAYOUTS`
    source : where they can be obtained
    files : file name to SHA-256 of its unpacked content
    n_columns : columns of numbers, where nominal features or dropped ones make it differ from `n_features`
    drop : attributes to leave out
    view_ends : view name to the column after its last, where the features fall into natural views
    options : for `tagrank.data.read_pictures`, where it is a set of photographs
    """

    name: str
    about: str
    n_rows: int
    n_features: int
    n_tags: int
    cardinality: float
    folder: str
    layout: str
    source: str
    files: Mapping[str, str] = field(repr=False)
    n_columns: int | None = None
    drop: tuple[str, ...] = ()
    view_ends: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
