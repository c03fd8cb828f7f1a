"""Rows of many pictures that are in memory."""

import numpy as np

from tagrank.features.base import Picture
from tagrank.features.fitting import fit_features
from tagrank.features.registry import choose_features


def extract_features(images, features="fast", *, random_state=0):
    """Describe every picture by every set of features; vocabularies are learned from the same pictures.

    Pictures in files, or too many for memory: see `tagrank.annotation.FeatureBank`.

    Parameters
    ----------
    images : sequence of uint8 arrays of shape (height, width, 3); sizes may differ
    features : a preset, names or a mapping to `Feature` objects, as in `choose_features`
    random_state : int, for the vocabularies

    Returns
    -------
    views : dict from name to float32 array, shape (n_pictures, n_columns)
    """
    images = list(images)
    if not images:
        raise ValueError("there are no pictures to describe")
    fitted = fit_features(choose_features(features), images, random_state=random_state)
    rows = {name: [] for name in fitted}
    for image in images:
        picture = Picture(image)
        for name, feature in fitted.items():
            rows[name].append(feature(picture))
    return {name: np.array(column) for name, column in rows.items()}
