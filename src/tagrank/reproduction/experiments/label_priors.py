"""Labels that go together otherwise in the test part than in training: does a prior help? (M3L, section 6.2)

Each data set is cut in two by the sign of the product of its first two label components: in one group they go
up together, in the other against each other. The training part is drawn mostly from one group, the test part
and a third part, disjoint from both, mostly from the other. The prior is estimated from the
labels of the third part alone. Hamming loss of PriorMarginClassifier and of methods that know no prior.
`rows` is for each part.
"""

import warnings

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from tagrank.estimators import (
    LabelRanker,
    OneVsAllSVM,
    PriorMarginClassifier,
    correlation_prior,
    signature_prior,
)
from tagrank.reproduction.pages.label_priors import draw_sweep, render_page
from tagrank.reproduction.protocols.shifted_labels import load, make_split
from tagrank.reproduction.text import show

PAGES = ("prior-results.md", "prior-sweep.svg")
QUICK = {"only": ("drawn",), "rows": 60, "seeds": 1, "draws": 1}
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)
SWEEP = np.linspace(-1, 1, 21)
N_SWEEP = 200  # training rows of the sweep, as in the paper
OPTIONS = {"kernel": "precomputed", "tol": 1e-3, "random_state": 0}


def run(*, only=("rcv1_subset1", "corel16k001", "yeast"), rows=4000, seeds=5, draws=20):
    yield [measure(name, rows, seeds, draws) for name in only]


def render(results, machine):
    return dict(zip(PAGES, (render_page(results), draw_sweep(results)), strict=True))


def measure(name, n_rows, n_seeds, n_draws):
    """Everything about one data set."""
    X, Y, kernel = load(name)
    losses, costs, shifts = [], [], []
    for seed in range(n_seeds):
        split = make_split(X, Y, kernel, n_rows, seed)
        found, chosen = compare(split)
        losses.append(found)
        costs.append(chosen)
        shifts.append(shift(split))
        if seed == 0:
            n_used, n_labels = split.Y.shape
            swept = sweep(split, n_draws)
        print(f"{name}, draw {seed}")
        show(found, *found)
    return {
        "dataset": name,
        "rows_per_part": n_used,
        "labels": n_labels,
        "hamming": {method: [line[method] for line in losses] for method in losses[0]},
        "costs": costs,
        "shift": np.mean(shifts, axis=0).tolist(),
        "sweep": swept,
    }


def margin(Estimator, **options):
    """A function of (K, Y, cost, K_test) that trains one of our estimators and predicts."""

    def predict(K, Y, cost, K_test):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return Estimator(cost, **OPTIONS, **options).fit(K, Y).predict(K_test)

    return predict


def power_set(K, Y, cost, K_test):
    """One class for each label set seen."""
    sets, classes = np.unique(Y, axis=0, return_inverse=True)
    model = OneVsAllSVM(cost, **OPTIONS).fit(K, np.eye(len(sets))[classes.ravel()])
    return sets[np.argmax(model.decision_function(K_test), axis=1)]


def regression(K, Y, cost, K_test):
    return KernelRidge(alpha=1 / (2 * cost), kernel="precomputed").fit(K, 2 * Y - 1).predict(K_test) > 0


def choose_cost(predict, K, Y):
    """The cost of the smallest Hamming loss in 3-fold cross-validation on the training part."""
    folds = list(KFold(3, shuffle=True, random_state=0).split(K))
    losses = [
        np.mean([hamming(predict(K[np.ix_(a, a)], Y[a], cost, K[np.ix_(b, a)]), Y[b]) for a, b in folds])
        for cost in COSTS
    ]
    return COSTS[int(np.argmin(losses))]


def hamming(predicted, Y):
    return 100 * float(np.mean(predicted != Y))


def compare(split):
    """Hamming loss (%) of every method; the priors take the cost of 1-vs-All, for it is the same problem."""
    alone = {
        "1-vs-All": margin(OneVsAllSVM),
        "Power set": power_set,
        "Regression": regression,
        "Ranking": margin(LabelRanker),
    }
    costs = {name: choose_cost(predict, split.K, split.Y) for name, predict in alone.items()}
    losses = {
        name: hamming(predict(split.K, split.Y, costs[name], split.K_test), split.Y_test)
        for name, predict in alone.items()
    }
    priors = {
        "M3L, correlation": correlation_prior(split.Y_third),
        "M3L, second moment": signature_prior(split.Y_third),
        "M3L, training labels": correlation_prior(split.Y),
    }
    for name, R in priors.items():
        predict = margin(PriorMarginClassifier, prior=R)
        predicted = predict(split.K, split.Y, costs["1-vs-All"] / 2, split.K_test)
        losses[name] = hamming(predicted, split.Y_test)
    neighbours = KNeighborsClassifier(5).fit(split.X, split.Y)
    losses["no label at all"] = hamming(0, split.Y_test)
    losses["5-NN"] = hamming(neighbours.predict(split.X_test), split.Y_test)
    return losses, costs


def shift(split):
    """Mean |difference| of label correlations (training and test, third and test) and of frequencies."""
    train, test, third = (correlation_prior(Y, shrinkage=0) for Y in (split.Y, split.Y_test, split.Y_third))
    frequencies = np.abs(split.Y.mean(axis=0) - split.Y_test.mean(axis=0)).mean()
    return float(np.abs(train - test).mean()), float(np.abs(third - test).mean()), float(frequencies)


def sweep(split, n_draws, cost=1.0):
    """Test Hamming loss over r, of the two labels that go together most differently in the third part."""
    frequent = np.flatnonzero((split.Y.mean(axis=0) > 0.1) & (split.Y_third.mean(axis=0) > 0.1))
    if len(frequent) < 2:
        frequent = np.argsort(-np.minimum(split.Y.mean(axis=0), split.Y_third.mean(axis=0)))[:5]
    train, third = (correlation_prior(Y[:, frequent], shrinkage=0) for Y in (split.Y, split.Y_third))
    i, j = np.unravel_index(np.argmax(np.abs(train - third)), train.shape)
    pair = frequent[[i, j]]
    losses = np.zeros((n_draws, len(SWEEP)))
    for draw in range(n_draws):
        some = np.random.default_rng(draw).permutation(len(split.Y))[:N_SWEEP]
        for k, r in enumerate(SWEEP):
            predict = margin(PriorMarginClassifier, prior=[[1, r], [r, 1]])
            K, K_test = split.K[np.ix_(some, some)], split.K_test[:, some]
            losses[draw, k] = hamming(predict(K, split.Y[some][:, pair], cost, K_test), split.Y_test[:, pair])
    return {
        "correlation_in_training": float(train[i, j]),
        "correlation_in_third_part": float(third[i, j]),
        "r": SWEEP.tolist(),
        "hamming": losses.mean(axis=0).tolist(),
    }
