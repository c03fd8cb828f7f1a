"""Sigmoids against logistic regression, knots against isotonic regression, arrays there and back."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from tagrank.estimators import calibration_from_arrays
from tagrank.estimators.calibration.calibrated import fit_calibration, prior_probabilities


@pytest.fixture(scope="module")
def problem():
    """Labels from frequent to rare; label 4 misleads, 5 is never present, 6 unknown, 7 constant."""
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.2, 0.05, 0.02, 0.3, 0.0, 0.3, 0.3])
    states = np.where(rng.random((300, 8)) < shares, 1, -1).astype(np.int8)
    scores = rng.normal(size=states.shape) * 0.3 + 0.2 * states
    scores[:, 4] *= -1
    scores[:, 7] = 2.5
    states[rng.random(states.shape) < 0.2] = 0
    states[:, 6] = 0
    return states, scores


def calibrate(problem, method):
    return fit_calibration(*problem, method=method, prior=prior_probabilities(problem[0]))


def smoothed(states):
    n_present, n_absent = np.sum(states > 0), np.sum(states < 0)
    return np.where(states > 0, (n_present + 1) / (n_present + 2), 1 / (n_absent + 2))


@pytest.mark.parametrize("label", range(4))
def test_platt_is_a_logistic_regression_on_smoothed_targets(problem, label):
    states, scores = (array[problem[0][:, label] != 0, label] for array in problem)
    target = smoothed(states)
    oracle = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(
        np.tile(scores, 2)[:, None], np.repeat([1, 0], len(scores)), np.concatenate([target, 1 - target])
    )
    found = calibrate(problem, "platt")
    assert found.slope[label] == pytest.approx(oracle.coef_[0, 0], rel=1e-4)
    assert found.offset[label] == pytest.approx(oracle.intercept_[0], rel=1e-4)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_scaling_and_shifting_scores_changes_nothing(problem, method):
    states, scores = problem
    informative = slice(0, 4)
    expected = calibrate(problem, method).probabilities(scores)[:, informative]
    moved = 1e4 * scores - 3e4
    found = calibrate((states, moved), method).probabilities(moved)[:, informative]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("label", [4, 5, 6, 7])
def test_labels_that_teach_nothing_have_one_probability(problem, label):
    states = problem[0][:, label]
    expected = (np.sum(states > 0) + 1) / (np.count_nonzero(states) + 2)
    np.testing.assert_allclose(calibrate(problem, "platt").probabilities(problem[1])[:, label], expected)


def test_isotonic_equals_isotonic_regression_where_samples_suffice(problem):
    states, scores = problem
    known = states[:, 0] != 0
    oracle = IsotonicRegression(out_of_bounds="clip").fit(scores[known, 0], smoothed(states[known, 0]))
    grid = np.linspace(-3, 3, 101)
    found = calibrate(problem, "isotonic").probabilities(np.tile(grid[:, None], 8))
    np.testing.assert_allclose(found[:, 0], oracle.predict(grid))
    rare = 3
    platt = calibrate(problem, "platt").probabilities(np.tile(grid[:, None], 8))
    np.testing.assert_array_equal(found[:, rare], platt[:, rare])


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_probabilities_never_fall_and_stay_inside(problem, method):
    grid = np.tile(np.linspace(-50, 50, 400)[:, None], 8)
    found = calibrate(problem, method).probabilities(grid)
    assert np.all(np.diff(found, axis=0) >= 0)
    assert found.min() >= 0
    assert found.max() <= 1


def test_separated_scores_converge():
    states = np.where(np.arange(50) < 3, 1, -1).astype(np.int8)[:, None]
    scores = np.where(states > 0, 1e3, -1e3) + np.arange(50)[:, None]
    found = calibrate((states, scores), "platt").probabilities(scores)
    np.testing.assert_allclose(found[:3], 4 / 5, atol=0.01)
    np.testing.assert_allclose(found[3:], 1 / 49, atol=0.01)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_arrays_there_and_back(problem, method):
    calibration = calibrate(problem, method)
    arrays = calibration.to_arrays()
    assert all(type(array) is np.ndarray and array.ndim == 1 for array in arrays.values())
    again = calibration_from_arrays(arrays)
    np.testing.assert_array_equal(again.probabilities(problem[1]), calibration.probabilities(problem[1]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slope": np.ones(7)}, "7 slopes but 8 offsets"),
        ({"offset": np.ones(7)}, "8 slopes but 7 offsets"),
        ({"offset": np.full(8, np.nan)}, "finite numbers"),
        ({"offset": np.full(8, "x")}, "finite numbers"),
        ({"slope": -np.ones(8)}, "negative"),
        ({"knot_starts": np.arange(9)}, "rise from 0"),
        ({"knot_starts": np.zeros(9)}, "knot_starts must"),
        ({"knot_scores": np.zeros(3)}, "3 knots but"),
        ({"stranger": np.zeros(3)}, "stranger"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(problem, changes, message):
    with pytest.raises(ValueError, match=message):
        calibration_from_arrays(calibrate(problem, "isotonic").to_arrays() | changes)


def test_knots_that_do_not_rise_are_refused(problem):
    arrays = calibrate(problem, "isotonic").to_arrays()
    for name in ("knot_scores", "knot_probabilities"):
        with pytest.raises(ValueError, match=f"{name} must"):
            calibration_from_arrays(arrays | {name: arrays[name][::-1].copy()})
