"""All descriptors by name, and their rows for many pictures."""

import numpy as np

from tagrank.features.colour import colour_histogram
from tagrank.features.edges import edge_histogram

FEATURES = {"colour": colour_histogram, "edges": edge_histogram}


def extract_features(images, names=None):
    """Describe every picture by every named descriptor.

    Parameters
    ----------
    images : iterable of uint8 arrays of shape (height, width, 3); sizes may differ
    names : sequence of str, keys of `FEATURES`; default: all of them

    Returns
    -------
    views : dict from name to float64 array, shape (n_pictures, n_columns)
    """
    names = list(FEATURES if names is None else names)
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names:
        raise ValueError(f"names must be among {sorted(FEATURES)}, got {unknown or names}")
    rows = [[FEATURES[name](image) for name in names] for image in images]
    if not rows:
        raise ValueError("there are no pictures to describe")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
