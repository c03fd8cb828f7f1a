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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mark", ["absent", "unknown"])
@pytest.mark.parametrize("fraction", [0, 0.2, 0.4, 0.6, 1])
def test_each_sample_loses_its_share(kind, mark, fraction):
    Y = labels()
    hidden = hide_labels(kind(Y), fraction, share_of="sample", mark=mark, random_state=1)
    assert sparse.issparse(hidden) == (kind is sparse.csr_array)
    hidden = hidden.toarray() if sparse.issparse(hidden) else hidden
    np.testing.assert_array_equal(hidden[Y != 1], Y[Y != 1])
    for before, after in zip(Y, hidden, strict=True):
        n_present, n_left = np.sum(before == 1), np.sum(after == 1)
        share = fraction * n_present
        least, most = (min(bound, max(n_present - 1, 0)) for bound in (np.floor(share), np.ceil(share)))
        assert least <= n_present - n_left <= most
    gone = (Y == 1) & (hidden != 1)
    np.testing.assert_array_equal(hidden[gone], 0 if mark == "absent" else np.nan)


def test_shares_of_samples_are_right_on_average_and_the_same_for_all_labels():
    Y = np.zeros((6000, 8))
    Y[:2000, :2] = Y[2000:4000, :3] = Y[4000:] = 1
    hidden = hide_labels(Y, 0.4, share_of="sample", random_state=0)
    for part, n_present in ((slice(0, 2000), 2), (slice(2000, 4000), 3), (slice(4000, None), 8)):
        lost = 1 - hidden[part, :n_present].mean(axis=0)
        np.testing.assert_allclose(lost, 0.4, atol=0.04)
        assert lost.mean() == pytest.approx(0.4, abs=0.02)
    assert (hide_labels(np.eye(5), 0.6, share_of="sample") == np.eye(5)).all()
    assert (hide_labels(Y, 0.4, share_of="sample", random_state=0) == hidden).all()
    # over all labels, samples with many lose a larger share
    overall = hide_labels(Y, 0.4, random_state=0)
    assert overall[:2000, :2].mean() > 0.65
    assert overall[4000:].mean() < 0.6


def test_what_cannot_be_hidden_is_said():
    with pytest.raises(ValueError, match=r"cannot hide 60% of 20 labels .* at most 50.0%"):
        hide_labels(np.ones((10, 2)), 0.6)
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        hide_labels(np.ones((2, 2)), 20)
    with pytest.raises(ValueError, match="mark must be one of"):
        hide_labels(np.ones((2, 2)), 0.5, mark="gone")
    with pytest.raises(ValueError, match="share_of must be one of"):
        hide_labels(np.ones((2, 2)), 0.5, share_of="picture")
    for share_of in ("all", "sample"):
        assert hide_labels(np.zeros((2, 2)), 0.5, share_of=share_of).sum() == 0
