"""Products of label vectors by their differences from a common one equal dense products, or are declined."""

import numpy as np
import pytest

from tagrank.estimators.joint.label_vectors import label_products, make_label_vectors
from tagrank.estimators.joint.output_kernels import LinearOutputs, OddsRatioOutputs, PolynomialOutputs
from tagrank.estimators.targets import encode_targets

SLICES = [(slice(0, 33), slice(0, 33)), (slice(5, 70), slice(70, 90)), (slice(89, 90), slice(0, 90))]


@pytest.fixture(scope="module")
def states():
    """90 samples of 40 rare labels, a few unknown; samples that have all, none, and nothing known."""
    rng = np.random.default_rng(0)
    states = np.where(rng.random((90, 40)) < 0.08, 1, -1).astype(np.int8)
    states[rng.random(states.shape) < 0.02] = 0
    states[0], states[1], states[2] = 1, -1, 0
    states.flags.writeable = False
    return states


def vectors_of(states, **options):
    labels = np.where(states == 0, np.nan, states > 0)
    return make_label_vectors(encode_targets(labels), **{"center": True, **options})


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("output", [LinearOutputs(), OddsRatioOutputs(), PolynomialOutputs(3)], ids=repr)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 5e-6), (np.float64, 1e-12)])
def test_equal_to_dense_products(states, center, output, dtype, tolerance):
    vectors = vectors_of(states, center=center, class_weight="balanced" if center else None)
    output = output.fit(states)
    expected = output(vectors.rows)
    similarity = getattr(output, "similarity", None)
    assert label_products(vectors.rows, vectors.values[0], similarity, dtype) is not None
    tiles = output.tiles(vectors, dtype)
    for rows, columns in SLICES:
        found = tiles(rows, columns)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected[rows, columns], rtol=0, atol=tolerance)


def test_dense_where_many_entries_differ(states):
    vectors = vectors_of(np.where(np.arange(40) < 15, 1, states))
    assert label_products(vectors.rows, vectors.values[0], None, np.float32) is None


@pytest.mark.parametrize("similarity", [None, np.zeros((40, 40))], ids=["nearly unknown", "no similarity"])
def test_dense_where_digits_would_be_lost(states, similarity):
    """All but one label of a sample are unknown: what is left is tiny beside the common vector."""
    states = states.copy()
    if similarity is None:
        rarest = np.argmin((states[3:] > 0).sum(axis=0))
        states[3] = 0
        states[3, rarest] = -1
    vectors = vectors_of(states)
    assert label_products(vectors.rows, vectors.values[0], similarity, np.float32) is None
    found = LinearOutputs(similarity).tiles(vectors, np.float32)(slice(0, 90), slice(0, 90))
    expected = LinearOutputs(similarity)(vectors.rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
