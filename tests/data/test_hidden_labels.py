"""Hidden labels: exact numbers, one kept for each sample, nothing else touched."""

import numpy as np
import pytest
from scipy import sparse

from tagrank.data import hide_labels


def labels(n_samples=300, n_labels=12):
    rng = np.random.default_rng(0)
    Y = rng.choice([0, 1, np.nan], size=(n_samples, n_labels), p=[0.5, 0.4, 0.1])
    Y[:3] = 0
    Y[3] = np.nan
    return Y


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mark", ["absent", "unknown"])
@pytest.mark.parametrize("fraction", [0, 0.2, 0.4, 0.6])
def test_exact_number_and_one_kept(kind, mark, fraction):
    Y = labels()
    hidden = hide_labels(kind(Y), fraction, mark=mark, random_state=1)
    assert sparse.issparse(hidden) == (kind is sparse.csr_array)
    hidden = hidden.toarray() if sparse.issparse(hidden) else hidden
    was, still = Y == 1, hidden == 1
    assert (was & ~still).sum() == round(fraction * was.sum())
    assert not (still & ~was).any()
    np.testing.assert_array_equal(hidden[~was], Y[~was])
    assert (still.sum(axis=1)[was.any(axis=1)] >= 1).all()
    expected = 0 if mark == "absent" else np.nan
    np.testing.assert_array_equal(hidden[was & ~still], expected)


def test_seeded_and_without_bias():
    Y = np.ones((2000, 4))
    first, second = (hide_labels(Y, 0.5, random_state=seed) for seed in (0, 0))
    np.testing.assert_array_equal(first, second)
    assert (hide_labels(Y, 0.5, random_state=1) != first).any()
    # each label is hidden about equally often
    np.testing.assert_allclose(first.mean(axis=0), 0.5, atol=0.05)
    assert (Y == 1).all()


def test_what_cannot_be_hidden_is_said():
    with pytest.raises(ValueError, match=r"cannot hide 60% of 20 labels .* at most 50.0%"):
        hide_labels(np.ones((10, 2)), 0.6)
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        hide_labels(np.ones((2, 2)), 20)
    with pytest.raises(ValueError, match="mark must be one of"):
        hide_labels(np.ones((2, 2)), 0.5, mark="gone")
    assert hide_labels(np.zeros((2, 2)), 0.5).sum() == 0
