"""Rows compared once for tuning, calibration and the last fit gives what separate fits give."""

import numpy as np
import pytest

from tagrank.annotation.tuning import fit_tuned
from tagrank.estimators import CalibratedRanker, LabelFrequency, LabelRanker, OneVsAllSVM
from tagrank.estimators.methods import METHODS
from tagrank.kernels import ChiSquared, Gaussian


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    views = {"colour": rng.exponential(size=(60, 6)), "gist": rng.standard_normal((60, 4))}
    signal = np.hstack([views["colour"][:, :2] - 1, views["gist"][:, :2]])
    labels = (signal + 0.3 * rng.standard_normal(signal.shape) > 0.3).astype(float)
    labels[7, 2] = np.nan
    return views, labels


KERNEL = 0.5 * ChiSquared().on("colour") + 0.5 * Gaussian().on("gist")


@pytest.mark.parametrize("Estimator", [method.load() for method in METHODS if "C" in method.space])
def test_equals_a_fit_on_the_rows(problem, Estimator):
    views, labels = problem
    estimator = Estimator(C=2.0, kernel=KERNEL, tol=1e-8, random_state=0)
    fitted, tuning = fit_tuned(estimator, views, labels)
    plain = Estimator(C=2.0, kernel=KERNEL, tol=1e-8, random_state=0).fit(views, labels)
    assert tuning is None
    assert fitted.kernel == KERNEL
    assert not hasattr(estimator, "dual_coef_")
    np.testing.assert_allclose(fitted.decision_function(views), plain.decision_function(views), atol=1e-4)


def test_tunes_and_calibrates_on_the_same_matrix(problem):
    views, labels = problem
    ranker = LabelRanker(kernel=KERNEL, tol=1e-6, random_state=0)
    fitted, tuning = fit_tuned(CalibratedRanker(ranker, random_state=0), views, labels, costs=(0.1, 1, 10))
    assert tuning.costs == (0.1, 1.0, 10.0)
    assert fitted.estimator.C == fitted.estimator_.C == tuning.best()
    assert fitted.estimator_.kernel == KERNEL
    assert fitted.predict_proba(views).shape == labels.shape


def test_a_matrix_keeps_its_number_of_columns(problem):
    views, labels = problem
    fitted, _ = fit_tuned(CalibratedRanker(OneVsAllSVM(), random_state=0), views["gist"], labels)
    assert fitted.n_features_in_ == fitted.estimator_.n_features_in_ == 4
    with pytest.raises(ValueError, match="3 features"):
        fitted.decision_function(views["gist"][:, :3])


def test_estimators_without_a_matrix(problem):
    views, labels = problem
    linear, tuning = fit_tuned(OneVsAllSVM(kernel="linear"), views["gist"], labels, costs=(0.1, 1))
    assert tuning.best() == linear.C
    counted, tuning = fit_tuned(LabelFrequency(), views["gist"], labels, costs=(0.1, 1))
    assert tuning is None
    assert counted.decision_function(views["gist"]).shape == labels.shape


def test_a_power_of_the_kernel_is_chosen(problem):
    views, labels = problem
    ranker = LabelRanker(kernel="rbf", gamma=0.02, tol=1e-6, random_state=0)
    X = views["gist"]
    fitted, tuning = fit_tuned(ranker, X, labels, costs=(0.1, 1), powers=(1, 3), criterion="Image-MAP")
    alone = [
        fit_tuned(ranker, X, labels, costs=(0.1, 1), powers=(power,))[1].best_score("Image-MAP")
        for power in (1, 3)
    ]
    chosen = tuning.power
    assert chosen == (1, 3)[int(np.argmax(alone))] == 3
    assert fitted.kernel == Gaussian(0.02) ** chosen
    again = LabelRanker(tuning.best("Image-MAP"), kernel=Gaussian(chosen * 0.02), tol=1e-6, random_state=0)
    np.testing.assert_allclose(
        fitted.decision_function(X), again.fit(X, labels).decision_function(X), atol=1e-3
    )
