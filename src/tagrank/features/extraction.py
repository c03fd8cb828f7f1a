"""Features of many pictures at once: vocabularies learned in one pass, rows of pictures in memory."""

from typing import Any

import numpy as np

from tagrank.features.feature import Picture
from tagrank.features.registry import choose_features


def extract_features(images, features="fast", *, random_state=0) -> dict[str, Any]:
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
        raise ValueError("got no pictures to describe")
    chosen = choose_features(features)
    for feature in chosen.values():
        feature.check_ready()
    fitted = fit_features(chosen, images, random_state=random_state)
    rows = {name: [] for name in fitted}
    for image in images:
        picture = Picture(image)
        for name, feature in fitted.items():
            rows[name].append(feature(picture))
    return {name: np.array(column) for name, column in rows.items()}


def fit_features(features, pictures, *, random_state=0, n_jobs=1, progress=None):
    """Learn what features, a dict by name, still have to learn, in one pass over the pictures.

    Bags of words that sample, describe and learn alike get one vocabulary. Some hundreds of pictures, uint8
    arrays or `Picture`, are enough; where nothing is to be learned, none is read. `progress` is told how many
    were described so far. Those that were fitted before are the same objects in the answer.
    """
    if all(feature.is_fitted for feature in features.values()):
        return dict(features)
    # most sets of features have no vocabulary, and need none of this
    from tagrank.features.words.bag import BagOfWords, learn_vocabularies

    bags = {
        name: feature
        for name, feature in features.items()
        if isinstance(feature, BagOfWords) and not feature.is_fitted
    }
    tasks = list(dict.fromkeys(bag.task for bag in bags.values()))
    more = {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    learned = learn_vocabularies(tasks, pictures, **more) if tasks else []
    vocabularies = dict(zip(tasks, learned, strict=True))
    return features | {name: bag.replace(vocabulary=vocabularies[bag.task]) for name, bag in bags.items()}
