"""Priors: estimated ones against numpy, given ones refused for good reasons."""

import numpy as np
import pytest

from tagrank.estimators.prior_margin import check_prior, correlation_prior, signature_prior


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(200, 2))
    return (hidden @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(200, 5)) > 0.3).astype(float)


def test_correlation_is_that_of_numpy(labels):
    np.testing.assert_allclose(correlation_prior(labels, shrinkage=0), np.corrcoef(labels.T), atol=1e-12)


def test_shrinkage_weighs_the_identity(labels):
    R = correlation_prior(labels, shrinkage=0.25)
    np.testing.assert_allclose(R, 0.75 * np.corrcoef(labels.T) + 0.25 * np.eye(5), atol=1e-12)
    np.testing.assert_array_equal(correlation_prior(labels, shrinkage=1), np.eye(5))


def test_automatic_shrinkage_follows_the_evidence(labels):
    raw = np.corrcoef(labels.T)
    few, many = correlation_prior(labels[:12]), correlation_prior(np.tile(labels, (50, 1)))
    assert abs(few[0, 1] / np.corrcoef(labels[:12].T)[0, 1]) < 0.95
    np.testing.assert_allclose(many, raw, atol=0.01)
    noise = np.random.default_rng(1).integers(0, 2, (60, 5))
    assert np.abs(correlation_prior(noise) - np.eye(5)).max() < 0.2


def test_unknown_labels_leave_a_prior_that_is_semidefinite(labels):
    rng = np.random.default_rng(2)
    labels = labels[:15]
    labels[rng.random(labels.shape) < 0.6] = np.nan
    R = correlation_prior(labels, shrinkage=0)
    assert np.linalg.eigvalsh(R).min() > -1e-12
    np.testing.assert_allclose(np.diagonal(R), 1)


def test_labels_that_never_vary_are_uncorrelated(labels):
    labels[:, 1], labels[:, 3] = 0, np.nan
    R = correlation_prior(labels)
    np.testing.assert_array_equal(R[[1, 3]], np.eye(5)[[1, 3]])


def test_what_is_unknown_is_no_evidence(labels):
    """Neither a sample nor a label of which nothing is known changes how much the others are trusted."""
    few = labels[:12]
    more = np.vstack([few, np.full((30, 5), np.nan)])
    np.testing.assert_allclose(correlation_prior(more), correlation_prior(few), atol=1e-12)
    wider = np.column_stack([few, np.full(12, np.nan), np.zeros(12)])
    np.testing.assert_allclose(correlation_prior(wider)[:5, :5], correlation_prior(few), atol=1e-12)
    rng = np.random.default_rng(1)
    unknown = np.where(rng.random(labels.shape) < 0.5, np.nan, labels)
    raw, shrunk = correlation_prior(unknown, shrinkage=0), correlation_prior(unknown)
    assert abs(shrunk[0, 1] / raw[0, 1]) < abs(correlation_prior(labels)[0, 1] / np.corrcoef(labels.T)[0, 1])


def test_tag_sets():
    R = correlation_prior([{"sea", "boat"}, {"sea", "boat"}, {"car"}, {"car"}], shrinkage=0)
    np.testing.assert_allclose(R, [[1, -1, 1], [-1, 1, -1], [1, -1, 1]])


def test_signatures():
    signatures = np.array([[1, 0, 1], [0, 0, 1]])
    signs = 2.0 * signatures - 1
    expected = 0.75 * np.outer(signs[0], signs[0]) + 0.25 * np.outer(signs[1], signs[1])
    np.testing.assert_allclose(signature_prior(signatures, probabilities=[3, 1]), expected)
    np.testing.assert_allclose(
        signature_prior(signatures, probabilities=[3, 1], shrinkage=0.5), (expected + np.eye(3)) / 2
    )


def test_signatures_with_unknown_labels_keep_a_unit_diagonal():
    R = signature_prior([[1, np.nan, 1], [0, 1, 1]])
    np.testing.assert_allclose(np.diagonal(R), 1)
    assert R[0, 1] == pytest.approx(-1 / np.sqrt(2))
    with pytest.raises(ValueError, match=r"no class .* label 1"):
        signature_prior([[1, np.nan, 1], [0, np.nan, 1]])


@pytest.mark.parametrize("probabilities", [[1], [1, -1], [0, 0], [np.nan, 1]])
def test_bad_probabilities(probabilities):
    with pytest.raises(ValueError, match="probabilities"):
        signature_prior([[1, 0], [0, 1]], probabilities=probabilities)


@pytest.mark.parametrize("shrinkage", [-0.1, 1.1, np.nan, "much"])
def test_bad_shrinkage(labels, shrinkage):
    with pytest.raises(ValueError, match="shrinkage must"):
        correlation_prior(labels, shrinkage=shrinkage)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (np.eye(3), r"each of the 2 labels, got shape \(3, 3\)"),
        (np.ones((2, 3)), r"got shape \(2, 3\)"),
        (np.ones(2), r"got shape \(2,\)"),
        ([[1, 0.5], [0.4, 1]], r"symmetric, but prior\[0, 1\] = 0.5 and prior\[1, 0\] = 0.4"),
        ([[1, 2], [2, 1]], r"smallest eigenvalue is -1; shrink .* at least 0.5"),
        ([[1, 0], [0, 0]], r"prior\[1, 1\] = 0"),
        ([[1, 0], [0, -1]], r"prior\[1, 1\] = -1"),
        ([[1, np.nan], [np.nan, 1]], "finite"),
    ],
)
def test_what_cannot_be_a_prior(prior, message):
    with pytest.raises(ValueError, match=message):
        check_prior(prior, 2)


def test_shrinking_as_advised_helps():
    check_prior(0.5 * np.array([[1, 2], [2, 1]]) + 0.5 * np.eye(2), 2)


def test_singular_priors_are_accepted():
    signs = np.array([1.0, -1, 1])
    np.testing.assert_array_equal(check_prior(np.outer(signs, signs), 3), np.outer(signs, signs))
