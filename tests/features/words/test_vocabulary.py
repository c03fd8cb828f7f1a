"""Vocabularies: what they learn, and how descriptors find their words."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from tagrank.features.words.fisher import GaussianMixtureWords
from tagrank.features.words.hierarchy import HierarchicalWords
from tagrank.features.words.vocabulary import KMeansWords

SMALL = [
    KMeansWords(12),
    HierarchicalWords(3, 2),
    GaussianMixtureWords(4, n_projected=3),
    GaussianMixtureWords(4, n_projected=None),
]


def blobs(n_blobs=12, n_each=60, n_columns=8, seed=0):
    rng = np.random.default_rng(seed)
    middles = 10 * rng.random((n_blobs, 1, n_columns))
    rows = middles + 0.3 * rng.standard_normal((n_blobs, n_each, n_columns))
    return rng.permutation(rows.reshape(-1, n_columns)).astype(np.float32)


@pytest.mark.parametrize("vocabulary", SMALL, ids=lambda part: type(part).__name__)
def test_fit_leaves_settings_and_depends_on_the_seed_alone(vocabulary):
    rows = blobs()
    first, again, other = (vocabulary.fit(rows, random_state=seed) for seed in (1, 1, 2))
    assert not vocabulary.is_fitted
    assert first.is_fitted
    assert first == again
    assert hash(first) == hash(again)
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
    assert first != other
    assert first.n_columns == rows.shape[1]
    assert all(array.dtype in (np.float32, np.int32) for array in first.arrays().values())


@pytest.mark.parametrize("vocabulary", SMALL, ids=lambda part: type(part).__name__)
def test_a_vocabulary_learns_from_so_many_samples(vocabulary):
    rows = blobs(n_each=200)
    few = vocabulary.replace(n_samples=100)
    assert few.fit(rows).fingerprint() != vocabulary.fit(rows).replace(n_samples=100).fingerprint()


def test_k_means_comes_near_the_best_of_several_starts():
    rows = np.random.default_rng(3).random((2000, 6), np.float32)
    fitted = KMeansWords(50, max_iter=100).fit(rows)
    best = KMeans(50, n_init=5, random_state=0).fit(rows).inertia_ / len(rows)
    assert best * 0.99 < fitted.spread < best * 1.03
    distances = ((rows[:, None] - fitted.centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(fitted.nearest(rows)[:, 0], distances.argmin(axis=1))
    np.testing.assert_allclose(fitted.spread, distances.min(axis=1).mean(), rtol=1e-5)


def test_fewer_distinct_descriptors_than_words():
    rows = np.repeat(np.eye(5, dtype=np.float32), 30, axis=0)
    with pytest.warns(UserWarning, match=r"the vocabulary has 5; learn it from more pictures"):
        fitted = KMeansWords(100).fit(rows)
    assert fitted.n_words == 5
    assert fitted.nearest(rows, n_nearest=9).shape == (150, 5)
    with pytest.warns(UserWarning, match="for 8 words"):
        tree = HierarchicalWords(2, 3).fit(rows)
    # uneven splits can leave two of them in one leaf
    assert 4 <= tree.n_words == len(np.unique(tree.nearest(rows))) <= 5
    with pytest.warns(UserWarning, match="components"):
        assert GaussianMixtureWords(9, n_projected=None).fit(rows).n_components == 5


def test_one_descriptor_makes_one_word():
    rows = np.zeros((7, 4), dtype=np.float32)
    for vocabulary in (KMeansWords(3), HierarchicalWords(3, 2)):
        with pytest.warns(UserWarning, match="has 1"):
            fitted = vocabulary.fit(rows)
        assert (fitted.nearest(rows) == 0).all()
        assert fitted.spread == 1


def test_unusable_descriptors_are_refused():
    for vocabulary in SMALL:
        with pytest.raises(ValueError, match="at least one point"):
            vocabulary.fit(np.empty((0, 8), dtype=np.float32))
        with pytest.raises(ValueError, match="finite"):
            vocabulary.fit(np.full((9, 8), np.nan, dtype=np.float32))


@pytest.mark.parametrize(
    "settings", [{"n_words": 0}, {"n_words": 2.5}, {"max_iter": True}, {"n_samples": -1}]
)
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ValueError, match="positive whole number"):
        KMeansWords(**settings)
    with pytest.raises(ValueError, match="at most 1000000 words"):
        HierarchicalWords(10, 7)


def descend(tree, row):
    """One descriptor down the tree, by a plain loop."""
    node = -1
    for _ in range(tree.levels):
        children = np.flatnonzero(tree.parents == node)
        distances = ((tree.centres[children].astype(float) - row) ** 2).sum(axis=1)
        node = children[distances.argmin()]
    return node - (len(tree.centres) - tree.n_words)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_descriptors_go_down_the_tree(levels):
    rows = np.random.default_rng(5).random((600, 5), np.float32)
    tree = HierarchicalWords(4, levels).fit(rows)
    assert tree.n_words == 4**levels
    np.testing.assert_array_equal(tree.nearest(rows)[:, 0], [descend(tree, row) for row in rows])


def test_the_branches_of_a_tree_hold_clusters_of_clusters():
    rows = blobs(n_blobs=9, n_each=40)
    tree = HierarchicalWords(3, 2, max_iter=50).fit(rows)
    np.testing.assert_array_equal(tree.parents, [-1] * 3 + [0] * 3 + [1] * 3 + [2] * 3)
    words = tree.nearest(rows)[:, 0]
    for node in range(3):
        members = rows[words // 3 == node]
        np.testing.assert_allclose(tree.centres[node], members.mean(axis=0), atol=0.5)


def test_as_many_branches_as_there_are_find_the_exact_nearest():
    rows = np.random.default_rng(6).random((300, 4), np.float32)
    tree = HierarchicalWords(3, 3).fit(rows)
    order = ((rows[:, None].astype(float) - tree.words) ** 2).sum(axis=2).argsort(axis=1)
    np.testing.assert_array_equal(tree.nearest(rows, n_nearest=27), order)
    five = tree.nearest(rows, n_nearest=5)
    assert all(len(set(row)) == 5 for row in five.tolist())
    assert (five[:, 0] == order[:, 0]).mean() > 0.95


@pytest.mark.parametrize(
    "parents", [[-1, -1, 0, 0], [-1, -1, 1, 0], [-1, 0, 0, 1], [0, 0, 1, 1], [-1, -1, 0, 9], [-2, -1, 0, 1]]
)
def test_arrays_that_are_no_tree_are_refused(parents):
    centres = np.zeros((4, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="tree of 2 levels"):
        HierarchicalWords(2, 2, centres=centres, parents=np.array(parents, dtype=np.int32), spread=1.0)
    with pytest.raises(ValueError, match="must have parents"):
        HierarchicalWords(2, 2, centres=centres, spread=1.0)


def test_mixture_is_that_of_scikit_learn():
    rows = blobs(n_blobs=4, n_each=300, n_columns=3)
    fitted = GaussianMixtureWords(4, n_projected=None, max_iter=60).fit(rows)
    oracle = GaussianMixture(4, covariance_type="diag", means_init=fitted.means, random_state=0).fit(rows)
    np.testing.assert_allclose(fitted.weights, oracle.weights_, atol=1e-3)
    np.testing.assert_allclose(fitted.means, oracle.means_, atol=1e-2)
    np.testing.assert_allclose(fitted.variances, oracle.covariances_, rtol=0.02, atol=1e-3)
    np.testing.assert_allclose(fitted.posteriors(rows), oracle.predict_proba(rows), atol=0.01)


def test_projection_is_principal_component_analysis():
    rng = np.random.default_rng(7)
    rows = (rng.standard_normal((500, 3)) * [5, 3, 1]) @ rng.standard_normal((3, 6)) + 4
    fitted = GaussianMixtureWords(2, n_projected=2).fit(rows)
    projected = fitted.project(np.float32(rows))
    _, singular, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes[:2] @ fitted.axes), np.eye(2), atol=1e-3)
    np.testing.assert_allclose((projected**2).sum(axis=0), singular[:2] ** 2, rtol=1e-3)
    assert GaussianMixtureWords(2, n_projected=99).fit(rows).means.shape == (2, 6)


def test_mixture_arrays_must_fit_together():
    fitted = GaussianMixtureWords(3, n_projected=2).fit(blobs())
    with pytest.raises(ValueError, match="variances must be float32 of shape"):
        fitted.replace(variances=fitted.variances[:, :1])
    with pytest.raises(ValueError, match="must be positive"):
        fitted.replace(variances=-fitted.variances)
    with pytest.raises(ValueError, match="must have axes"):
        fitted.replace(axes=None)
