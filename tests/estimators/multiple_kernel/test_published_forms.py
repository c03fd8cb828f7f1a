"""ML-MKL-SA and groups of kernels (VSKL) by estimators: paths, parameters, what is refused."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagrank.estimators import MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM

SHARES = (0.0, 0.2, 1.0)


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(80, 2)) for name in ("place", "colour", "noise", "more noise")}


@pytest.fixture(scope="module")
def Y(views):
    return np.column_stack([views["place"][:, 0] > 0, views["colour"][:, 1] > 0.3]).astype(float)


@pytest.mark.parametrize("delta", SHARES)
def test_the_published_game_says_what_its_weights_were(views, Y, delta):
    model = SharedKernelSVM(
        kernel="rbf", objective="worst", solver="paper", delta=delta, max_iter=60, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model.fit(views, Y)
    assert model.weight_path_.shape == (61, 4)
    np.testing.assert_allclose(model.weight_path_[:-1].mean(axis=0), model.kernel_weights_, atol=1e-4)
    np.testing.assert_allclose(model.weight_path_[0], 0.25)
    assert (model.n_iter_, len(model.trace_)) == (60, 1)
    best = SharedKernelSVM(kernel="rbf", objective="worst").fit(views, Y)
    assert model.dual_objective_ <= best.primal_objective_
    assert best.dual_objective_ <= model.primal_objective_


def test_two_sizes_of_steps(views, Y):
    options = {"kernel": "rbf", "objective": "worst", "solver": "paper", "max_iter": 30, "random_state": 0}
    paths = []
    for steps in ({"eta": 0.1}, {"eta": 0.1, "eta_labels": 0.1}, {"eta": 0.1, "eta_labels": 1e-6}):
        with pytest.warns(ConvergenceWarning):
            paths.append(SharedKernelSVM(**options, **steps).fit(views, Y).weight_path_)
    np.testing.assert_array_equal(paths[0], paths[1])
    assert np.abs(paths[1] - paths[2]).max() > 1e-3


def test_every_group_counts(views, Y):
    """Alone among all kernels those of noise get nothing; as a group of their own they do."""
    groups = {"place": "seen", "colour": "seen", "noise": "drawn", "more noise": "drawn"}
    for Estimator in (MultipleKernelRanker, SharedKernelSVM, MultipleKernelSVM):
        options = {"kernel": "rbf", "random_state": 0, "tol": 1e-3}
        plain = Estimator(**options).fit(views, Y)
        grouped = Estimator(groups=groups, group_norm=4.0, **options).fit(views, Y)
        by_number = Estimator(groups=[7, 7, 3, 3], group_norm=4.0, **options).fit(views, Y)
        np.testing.assert_allclose(by_number.kernel_weights_, grouped.kernel_weights_)
        assert grouped.converged_
        of_noise = [np.atleast_2d(model.kernel_weights_)[:, 2:].sum() for model in (plain, grouped)]
        assert of_noise[1] > of_noise[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"groups": [0, 1]}, "groups must name a group for each of 4 kernels, got 2"),
        ({"groups": {"place": 0}}, "groups must name every kernel, but 'colour' is missing"),
        ({"groups": "place"}, "groups must name the group of each kernel"),
        ({"groups": [0, 0, 1, 1], "norm": 2}, "groups of kernels need norm=1"),
        ({"groups": [0, 0, 1, 1], "solver": "level"}, "groups of kernels need norm=1"),
        ({"groups": [0, 0, 1, 1], "weights": "uniform"}, "groups of kernels need norm=1"),
        ({"group_norm": 1}, "group_norm must be at least 2, got 1"),
        ({"groups": [0, 0, 1, 1], "objective": "worst"}, "groups of kernels need objective='sum'"),
        ({"objective": "worst", "solver": "paper", "norm": 2}, "norm must be 1 with solver='paper'"),
        ({"solver": "paper"}, "needs objective='worst'"),
        ({"eta": 0}, "eta must be"),
        ({"eta_labels": -1}, "eta_labels must be"),
        ({"delta": 1.5}, "delta must be a number from 0 to 1, got 1.5"),
    ],
)
def test_what_is_refused(views, Y, wrong, words):
    with pytest.raises(ValueError, match=words):
        SharedKernelSVM(kernel="rbf", **wrong).fit(views, Y)
