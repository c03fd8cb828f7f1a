"""Estimators that weigh several kernels: forms of kernels, answers, weights that are given, costs."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from tagrank.estimators import (
    LabelRanker,
    MultipleKernelRanker,
    MultipleKernelSVM,
    OneVsAllSVM,
    SharedKernelSVM,
)
from tagrank.estimators.compared_rows import ComparedRows
from tagrank.estimators.multiple_kernel import held_out_weights
from tagrank.kernels import Gaussian, KernelStack, Linear, LowRankStack, Sum
from tagrank.metrics import image_auc

SHARED = [MultipleKernelRanker, SharedKernelSVM]
EVERY = [*SHARED, MultipleKernelSVM]
ALONE = {MultipleKernelRanker: LabelRanker, SharedKernelSVM: OneVsAllSVM, MultipleKernelSVM: OneVsAllSVM}


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(90, 2)) for name in ("place", "colour", "noise")}


@pytest.fixture(scope="module")
def Y(views):
    """Two labels follow the place, one the colour; some are unknown."""
    place, colour = views["place"], views["colour"]
    labels = np.column_stack([place[:, 0] > 0, place[:, 0] <= 0.2, colour[:, 1] > 0.3]).astype(float)
    labels[np.random.default_rng(1).random(labels.shape) < 0.05] = np.nan
    return labels


@pytest.fixture(scope="module")
def grams(views):
    return [Gaussian().fit(rows)(rows) for rows in views.values()]


@pytest.mark.parametrize("Estimator", EVERY)
def test_all_forms_of_kernels_mean_the_same(Estimator, views, Y, grams):
    kernels = [Gaussian().on(name) for name in views]
    options = {"tol": 1e-6, "random_state": 0}
    answers = {}
    for form, kernel, X in [
        ("name", "rbf", views),
        ("list", kernels, views),
        ("sum", 0.5 * kernels[0] + kernels[1] + kernels[2], views),
        ("matrices", "precomputed", grams),
        ("array", "precomputed", np.array(grams)),
        ("stack", "precomputed", KernelStack(grams)),
    ]:
        model = Estimator(kernel=kernel, **options).fit(X, Y)
        assert model.duality_gap_ <= 1e-6
        answers[form] = model.kernel_weights_, model.decision_function(X)
    for form, (weights, scores) in answers.items():
        np.testing.assert_allclose(weights, answers["name"][0], atol=1e-3, err_msg=form)
        np.testing.assert_allclose(scores, answers["name"][1], atol=1e-2, err_msg=form)


@pytest.mark.parametrize("Estimator", SHARED)
def test_scores_are_those_of_the_weighted_kernel(Estimator, views, Y, grams):
    model = Estimator(kernel="rbf", random_state=0).fit(views, Y)
    K = np.tensordot(model.kernel_weights_, grams, 1)
    np.testing.assert_allclose(model.decision_function(views), K @ model.dual_coef_, atol=1e-5)
    np.testing.assert_allclose(model.kernel_(views, views), K, atol=1e-6)
    assert abs(model.kernel_weights_.sum() - 1) < 1e-6
    assert model.kernel_names_ == ["place", "colour", "noise"]
    assert model.kernel_weights_[2] < 0.2


def test_each_label_has_its_own_weights(views, Y, grams):
    model = MultipleKernelSVM(kernel="rbf", C=10, random_state=0).fit(views, Y)
    assert model.kernel_weights_.shape == (3, 3)
    assert np.argmax(model.kernel_weights_, axis=1).tolist() == [0, 0, 1]
    expected = sum(grams[j] @ (model.dual_coef_ * model.kernel_weights_[:, j]) for j in range(3))
    np.testing.assert_allclose(model.decision_function(views), expected, atol=1e-5)
    assert len(model.trace_) == 3


@pytest.mark.parametrize("Estimator", EVERY)
def test_only_active_views_are_asked_for(Estimator, views, Y):
    model = Estimator(kernel="rbf", weights=[0.5, 0.5, 0.0], random_state=0).fit(views, Y)
    needed = {name: rows[:5] for name, rows in views.items() if name != "noise"}
    assert set(model.X_fit_) == set(needed)
    np.testing.assert_allclose(
        model.decision_function(needed), model.decision_function({**needed, "noise": views["noise"][:5]})
    )


@pytest.mark.parametrize("Estimator", EVERY)
def test_uniform_weights_are_the_mean_kernel(Estimator, views, Y, grams):
    options = {"kernel": "precomputed", "tol": 1e-6, "random_state": 0}
    model = Estimator(weights="uniform", **options).fit(grams, Y)
    alone = ALONE[Estimator](**options).fit(np.mean(grams, axis=0), Y)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)
    np.testing.assert_allclose(model.primal_objective_, alone.primal_objective_, rtol=1e-5)
    spread = Estimator(weights="uniform", norm=2, **options).fit(grams, Y)
    np.testing.assert_allclose(spread.kernel_weights_, 3**-0.5)


@pytest.mark.parametrize("Estimator", EVERY)
def test_the_best_single_kernel_is_found(Estimator, views, Y):
    model = Estimator(kernel="rbf", weights="best", random_state=0).fit(views, Y)
    best = np.argmax(np.atleast_2d(model.kernel_weights_), axis=1).tolist()
    assert best == ([0, 0, 1] if Estimator is MultipleKernelSVM else [0])
    assert set(np.unique(model.kernel_weights_)) == {0.0, 1.0}


@pytest.mark.parametrize("Estimator", EVERY)
def test_learning_lowers_the_objective(Estimator, grams, Y):
    options = {"kernel": "precomputed", "tol": 1e-5, "random_state": 0}
    learned = Estimator(**options).fit(grams, Y)
    for weights in ("uniform", [1, 0, 0], [0.2, 0.7, 0.1]):
        given = Estimator(weights=weights, **options).fit(grams, Y)
        assert learned.primal_objective_ <= given.primal_objective_ * (1 + 1e-5)


@pytest.mark.parametrize("Estimator", EVERY)
def test_cross_validation_cuts_stacks(Estimator, views, Y, grams):
    options = {"C": 1.0, "random_state": 0}
    folds = KFold(3)
    by_gram = cross_val_score(Estimator(kernel="precomputed", **options), KernelStack(grams), Y, cv=folds)
    assert by_gram.min() > 0.7
    grid = {"C": [0.1, 1.0], "norm": [1.0, 2.0]}
    search = GridSearchCV(Estimator(kernel="precomputed"), grid, cv=folds).fit(KernelStack(grams), Y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("Estimator", EVERY)
def test_compared_rows_are_cut_like_rows(Estimator, views, Y):
    model = Estimator(kernel=[Gaussian(0.3).on(name) for name in views], tol=1e-6, random_state=0)
    rows, training, test = model.compare(views), np.arange(60), np.arange(60, 90)
    assert isinstance(rows, ComparedRows)
    cut = model.fit(rows.training(training), Y[training])
    scores = cut.decision_function(rows.held_out(test, training))
    plain = model.fit({name: values[training] for name, values in views.items()}, Y[training])
    expected = plain.decision_function({name: values[test] for name, values in views.items()})
    np.testing.assert_allclose(scores, expected, atol=1e-2)


@pytest.mark.parametrize("Estimator", EVERY)
def test_costs_move_weight_to_cheap_kernels(Estimator, views, Y):
    both = {"cheap": views["place"], "dear": views["place"], "noise": views["noise"]}
    model = Estimator(kernel="rbf", kernel_costs={"cheap": 1, "dear": 9, "noise": 1}, random_state=0)
    weights = np.atleast_2d(model.fit(both, Y[:, :2]).kernel_weights_)
    assert np.all(weights[:, 0] > 0)
    np.testing.assert_allclose(weights[:, 1], 0, atol=1e-3)


def test_a_path_of_costs_grows_cheaper(views, Y):
    costs = [5.0, 1.0, 1.0]
    models = MultipleKernelRanker(kernel="rbf", kernel_costs=costs, random_state=0).cost_path(
        views, Y, [0, 0.5, 2, 50]
    )
    dear = [model.kernel_weights_[0] for model in models]
    assert all(first >= second - 1e-3 for first, second in itertools.pairwise(dear))
    assert dear[0] > 2 * dear[-1]


@pytest.mark.parametrize("normalization", ["trace", "variance"])
def test_normalization_undoes_scales(views, Y, grams, normalization):
    options = {"kernel": "precomputed", "normalization": normalization, "tol": 1e-5, "random_state": 0}
    plain = MultipleKernelRanker(**options).fit(grams, Y)
    scaled = [100 * grams[0], grams[1], 0.01 * grams[2]]
    other = MultipleKernelRanker(**options).fit(scaled, Y)
    np.testing.assert_allclose(other.kernel_weights_, plain.kernel_weights_, atol=5e-3)
    np.testing.assert_allclose(other.decision_function(scaled), plain.decision_function(grams), atol=2e-2)


@pytest.mark.parametrize("Estimator", EVERY)
def test_spherical_kernels_have_a_diagonal_of_one(Estimator, views, Y):
    options = {"tol": 1e-6, "random_state": 0}
    model = Estimator(kernel="linear", normalization="spherical", **options).fit(views, Y)
    lengths = {name: np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in views.items()}
    grams = [(rows / lengths[name]) @ (rows / lengths[name]).T for name, rows in views.items()]
    other = Estimator(kernel="precomputed", **options).fit(grams, Y)
    np.testing.assert_allclose(model.kernel_weights_, other.kernel_weights_, atol=5e-3)
    np.testing.assert_allclose(model.decision_function(views), other.decision_function(grams), atol=2e-2)
    assert model.kernel_names_ == list(views)
    # lengths of rows are lost
    longer = {name: rows * np.linspace(1, 9, len(rows))[:, None] for name, rows in views.items()}
    np.testing.assert_allclose(model.decision_function(longer), model.decision_function(views), atol=1e-6)


def test_similarities_cannot_be_made_spherical(grams, Y):
    with pytest.raises(ValueError, match="normalization='spherical' needs kernels, got similarities"):
        MultipleKernelRanker(kernel="precomputed", normalization="spherical").fit(grams, Y)


def test_a_group_loss(grams, Y):
    model = MultipleKernelRanker(kernel="precomputed", loss="group", C=0.1, random_state=0).fit(grams, Y)
    assert model.converged_
    assert model.score(grams, Y) > 0.9


@pytest.mark.parametrize("Estimator", EVERY)
def test_one_kernel_is_the_plain_estimator(Estimator, views, Y):
    rows = views["place"]
    for kernel in ("rbf", "linear", [Gaussian()]):
        model = Estimator(kernel=kernel, tol=1e-6, random_state=0).fit(rows, Y)
        plain = ALONE[Estimator](kernel=Linear() if kernel == "linear" else "rbf", tol=1e-6, random_state=0)
        np.testing.assert_allclose(
            model.decision_function(rows), plain.fit(rows, Y).decision_function(rows), atol=1e-2
        )
        assert np.all(model.kernel_weights_ == 1)


@pytest.mark.parametrize("Estimator", EVERY)
def test_one_matrix_in_a_list(Estimator, grams, Y):
    model = Estimator(kernel="precomputed", random_state=0).fit(grams[:1], Y)
    alone = ALONE[Estimator](kernel="precomputed", random_state=0).fit(grams[0], Y)
    np.testing.assert_allclose(
        model.decision_function(grams[:1]), alone.decision_function(grams[0]), atol=5e-2
    )
    np.testing.assert_array_equal(
        model.decision_function(KernelStack(grams[:1])), model.decision_function(grams[:1])
    )


@pytest.mark.parametrize("Estimator", [SharedKernelSVM, MultipleKernelSVM])
def test_kernels_too_large_for_c_come_to_an_end(Estimator, grams, Y):
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or loosen tol"):
        model = Estimator(kernel="precomputed", random_state=0).fit([1e12 * grams[0], 1e-12 * grams[1]], Y)
    assert model.n_iter_ <= 20 * Y.shape[1]


@pytest.mark.parametrize("Estimator", EVERY)
def test_a_path_of_c_starts_from_the_last(Estimator, grams, Y):
    models = Estimator(kernel="precomputed", random_state=0).path(grams, Y, [0.1, 1.0])
    for model in models:
        assert model.duality_gap_ <= model.tol
        alone = Estimator(kernel="precomputed", C=model.C, random_state=0).fit(grams, Y)
        np.testing.assert_allclose(model.primal_objective_, alone.primal_objective_, rtol=2e-3)


def test_all_kernels_equal_and_a_kernel_of_zeros(grams, Y):
    for stack in ([grams[0]] * 3, [grams[0], np.zeros_like(grams[0])]):
        for Estimator in EVERY:
            model = Estimator(kernel="precomputed", random_state=0).fit(stack, Y)
            alone = ALONE[Estimator](kernel="precomputed", random_state=0).fit(grams[0], Y)
            np.testing.assert_allclose(model.primal_objective_, alone.primal_objective_, rtol=3e-3)


@pytest.mark.filterwarnings("ignore:1 of 3 labels are never positive")
@pytest.mark.parametrize("Estimator", EVERY)
def test_a_label_with_one_class_only(Estimator, grams, Y):
    Y = Y.copy()
    Y[:, 2] = 0
    model = Estimator(kernel="precomputed", random_state=0).fit(grams, Y)
    assert np.all(np.argsort(model.decision_function(grams), axis=1)[:, 0] == 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"norm": 0.5}, "norm must be at least 1"),
        ({"solver": "fastest"}, "solver must be one of"),
        ({"weights": "equal"}, "weights must be one of"),
        ({"weights": [0.5, 0.5]}, "weights must be 3 numbers"),
        ({"weights": [0.5, -0.5, 1]}, "weights must be numbers that are not negative"),
        ({"kernel_costs": [1, -1, 1]}, "kernel_costs must be numbers that are not negative"),
        ({"kernel_costs": [1, np.nan, 1]}, "kernel_costs must be numbers that are not negative"),
        ({"kernel_costs": {"kernel 0": 1}}, "kernel_costs must name every kernel"),
        ({"kernel_costs": [1, 2]}, "kernel_costs must be 3 numbers"),
        ({"normalization": "max"}, "normalization must be one of"),
        ({"cost_strength": -1}, "cost_strength must be a non-negative number"),
    ],
)
@pytest.mark.parametrize("Estimator", EVERY)
def test_wrong_parameters_are_refused(Estimator, wrong, message, grams, Y):
    with pytest.raises(ValueError, match=message):
        Estimator(kernel="precomputed", **wrong).fit(grams, Y)


@pytest.mark.parametrize("Estimator", EVERY)
def test_wrong_matrices_are_refused(Estimator, grams, Y):
    model = Estimator(kernel="precomputed", random_state=0)
    with_nan = grams[1].copy()
    with_nan[3, 4] = np.nan
    for matrices in (
        [grams[0], grams[1][:-1, :-1]],
        [grams[0], with_nan],
        [grams[0], -grams[1]],
        [grams[0], grams[1][:, :-1]],
    ):
        with pytest.raises(ValueError, match="kernel 1"):
            model.fit(matrices, Y)
    with pytest.raises(ValueError, match="numbers of rows differ"):
        model.fit([K[:-1, :-1] for K in grams], Y)
    model.fit(grams, Y)
    for matrices in (grams[:2], [K[:, :-1] for K in grams]):
        with pytest.raises(ValueError, match="similarities to the 90 training samples by each of the 3"):
            model.decision_function(matrices)


def test_worst_objective_and_its_solvers(grams, Y):
    options = {"kernel": "precomputed", "random_state": 0}
    model = SharedKernelSVM(objective="worst", **options).fit(grams, Y)
    assert model.converged_
    assert SharedKernelSVM(objective="worst", norm=2, **options).fit(grams, Y).converged_
    with pytest.raises(ValueError, match="objective='worst'"):
        SharedKernelSVM(objective="worst", solver="level", **options).fit(grams, Y)
    with pytest.raises(ValueError, match="norm must be 1 with solver='stochastic'"):
        SharedKernelSVM(objective="worst", solver="stochastic", norm=2, **options).fit(grams, Y)
    with pytest.raises(ValueError, match="needs objective='worst'"):
        SharedKernelSVM(solver="stochastic", **options).fit(grams, Y)


def test_weights_of_a_sum_are_not_used(views, Y):
    parts = [Gaussian().on(name) for name in views]
    weighted = MultipleKernelRanker(kernel=Sum(tuple(parts), (1.0, 5.0, 0.1)), random_state=0).fit(views, Y)
    plain = MultipleKernelRanker(kernel=parts, random_state=0).fit(views, Y)
    np.testing.assert_allclose(weighted.kernel_weights_, plain.kernel_weights_)


def test_weights_by_held_out_samples_leave_noise_behind():
    rng = np.random.default_rng(3)
    views = {name: rng.normal(size=(240, 3)) for name in ("place", "colour", "noise", "more noise")}
    Y = np.column_stack([views["place"] > 0.5, views["colour"] > 0.5]).astype(float)
    new = {name: rng.normal(size=(400, 3)) for name in views}
    truth = np.column_stack([new["place"] > 0.5, new["colour"] > 0.5]).astype(float)
    for Estimator in SHARED:
        found = Estimator(kernel="rbf", weights="held-out", C=3.0, random_state=0).fit(views, Y)
        mean = Estimator(kernel="rbf", weights="uniform", C=3.0, random_state=0).fit(views, Y)
        assert found.converged_
        np.testing.assert_allclose(found.kernel_weights_.sum(), 1)
        assert found.kernel_weights_[:2].sum() > 0.8
        scores = [image_auc(truth, model.decision_function(new)) for model in (found, mean)]
        assert 1 - scores[0] < 0.6 * (1 - scores[1])
        np.testing.assert_allclose(found.weight_path_[0], 0.25)
        again = clone(found).fit(views, Y)
        np.testing.assert_array_equal(again.kernel_weights_, found.kernel_weights_)


def test_held_out_weights_need_labels_to_rank(grams, Y):
    model = MultipleKernelRanker(kernel="precomputed", weights="held-out", random_state=0)
    with pytest.raises(ValueError, match="at least 3 samples with a present and an absent label, got 0"):
        SharedKernelSVM(kernel="precomputed", weights="held-out").fit(grams, Y[:, :1])
    with pytest.raises(ValueError, match="weights must be one of"):
        MultipleKernelSVM(kernel="precomputed", weights="held-out").fit(grams, Y)
    assert model.fit(grams, Y).score(grams, Y) > 0.9


def test_the_slope_of_the_smooth_ranking_is_that_of_its_value():
    rng = np.random.default_rng(0)
    states = np.where(rng.random((7, 6)) < 0.4, 1, -1)
    states[0, :2], states[:, 5], states[:, 4] = 0, -1, 1
    part = held_out_weights.Ranked(rng.normal(size=(4, 7, 6)), states)
    weights = np.array([0.3, 0.1, 0.0, 0.6])
    value, slope = held_out_weights._loss([part], weights)
    for j in range(4):
        nearby = held_out_weights._loss([part], weights + 1e-6 * np.eye(4)[j])[0]
        np.testing.assert_allclose((nearby - value) / 1e-6, slope[j], atol=1e-5)


def test_a_sharp_comparison_is_average_precision_and_auc(monkeypatch):
    rng = np.random.default_rng(0)
    states = np.where(rng.random((20, 9)) < 0.4, 1, -1)
    states[:, 0], states[:, 1] = 1, -1
    part = held_out_weights.Ranked(rng.normal(size=(2, 20, 9)), states)
    monkeypatch.setattr(held_out_weights, "SHARPNESS", 1e6)
    value, _ = held_out_weights.measure_ranking([part], np.array([0.5, 0.5]))
    labels, scores = (states > 0).astype(float), part.by_kernel.mean(axis=0)
    precision = label_ranking_average_precision_score(labels, scores)
    np.testing.assert_allclose(value, precision + image_auc(labels, scores), atol=1e-4)


@pytest.mark.parametrize("Estimator", SHARED)
def test_a_power_is_that_of_the_weighted_sum(Estimator, views, Y, grams):
    options = {"tol": 1e-6, "random_state": 0}
    weights = [0.5, 0.3, 0.2]
    K = np.tensordot(weights, grams, 1) ** 2
    plain = ALONE[Estimator](kernel="precomputed", **options).fit(K, Y)
    for kernel, X in (("rbf", views), ("precomputed", grams)):
        model = Estimator(kernel=kernel, weights=weights, power=2, **options).fit(X, Y)
        np.testing.assert_allclose(model.primal_objective_, plain.primal_objective_, rtol=1e-5)
        np.testing.assert_allclose(model.decision_function(X), K @ model.dual_coef_, atol=1e-4)
    X = views["place"]
    one = Estimator(kernel="rbf", weights="uniform", power=2, **options).fit(X, Y)
    np.testing.assert_allclose(one.decision_function(X), grams[0] ** 2 @ one.dual_coef_, atol=1e-4)


def test_slopes_are_those_of_the_raised_sum(grams):
    weights = np.array([0.5, 0.3, 0.2])
    stack = KernelStack(grams).with_raised_sum(3)[np.ix_(np.arange(40), np.arange(40, 90))]
    K = stack.combined(weights).copy()
    for j, slope in enumerate(stack.slopes(weights)):
        nearby = stack.combined(weights + 1e-6 * np.eye(3)[j])
        np.testing.assert_allclose((nearby - K) / 1e-6, 3 * slope, atol=1e-4)


def test_learned_weights_have_no_power_of_the_sum(grams, Y):
    for Estimator, weights in ((MultipleKernelRanker, "learned"), (MultipleKernelSVM, "uniform")):
        with pytest.raises(ValueError, match="raise each kernel"):
            Estimator(kernel="precomputed", weights=weights, power=2).fit(grams, Y)


@pytest.mark.parametrize("wrong", [{"weights": "held-out"}, {"weights": "uniform", "power": 2}])
def test_columns_have_no_held_out_weights(views, Y, wrong):
    with pytest.raises(ValueError, match="needs Gram matrices, got columns of 90 samples"):
        MultipleKernelRanker(kernel="precomputed", **wrong).fit(LowRankStack(list(views.values())), Y)


def test_raised_kernels_have_the_names_of_their_views(views, Y):
    raised = [Gaussian().on(name) ** 2 for name in views]
    model = MultipleKernelRanker(kernel=raised, random_state=0).fit(views, Y)
    assert model.kernel_names_ == list(views)


@pytest.mark.filterwarnings("ignore:the relative duality gap")
@pytest.mark.parametrize("limit", [{"max_seconds": 1e-6}, {"stop": lambda: True}])
def test_the_search_for_held_out_weights_ends_when_asked(grams, Y, limit):
    options = {name: value for name, value in limit.items() if name == "max_seconds"}
    asked = {name: value for name, value in limit.items() if name == "stop"}
    model = MultipleKernelRanker(kernel="precomputed", weights="held-out", random_state=0, **options)
    model.fit(grams, Y, **asked)
    assert not model.converged_
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)
    assert len(model.weight_path_) == 1
