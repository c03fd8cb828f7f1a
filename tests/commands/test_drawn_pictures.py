"""The drawn pictures are worth learning from: simple features find many of their tags, but not all."""

import numpy as np
import pytest

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.features import extract_features
from tagrank.metrics import image_auc


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(300, size=64, random_state=5)


@pytest.fixture(scope="module")
def frequency(drawn):
    return drawn.train.labels.mean(axis=0)


def test_label_frequency_alone_is_poor(drawn, frequency):
    scores = np.tile(frequency, (len(drawn.test), 1))
    assert 0.6 < image_auc(drawn.test.labels, scores) < 0.78


def test_ridge_on_simple_features_is_good_but_not_perfect(drawn, frequency):
    views = extract_features(drawn.view("pictures"))
    rows = np.sqrt(np.hstack(list(views.values())))  # inner products of roots are the Hellinger kernel
    K = rows @ rows.T
    train, test = (np.flatnonzero(drawn.part == part) for part in ("train", "test"))
    regularised = K[np.ix_(train, train)] + 0.1 * np.eye(len(train))
    coefficients = np.linalg.solve(regularised, drawn.labels[train] - frequency)
    scores = K[np.ix_(test, train)] @ coefficients + frequency
    assert 0.87 < image_auc(drawn.labels[test], scores) < 0.97
