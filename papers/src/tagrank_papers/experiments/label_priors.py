"""Labels that go together otherwise in the test part than in training: does a prior help? (M3L, section 6.2)

Each data set is cut in two by the sign of the product of its first two label components: in one group they go
up together, in the other against each other. The training part is drawn mostly from one group, the test part
and a third part, disjoint from both, mostly from the other. The prior is estimated from the
labels of the third part alone. Hamming loss of PriorMarginClassifier and of methods that know no prior.
`rows` is for each part.
"""

import warnings
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize

from tagrank.data import load_dataset
from tagrank.estimators import (
    BoostedStumps,
    LabelRanker,
    OneVsAllSVM,
    PriorMarginClassifier,
    correlation_prior,
    signature_prior,
)
from tagrank.kernels import Gaussian, Linear
from tagrank.reports.charts import line_chart
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.data import dense, draw_rows
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("label_priors")
PAGES = ("prior-results.md", "prior-sweep.svg")
QUICK = {"only": ("drawn",), "rows": 60, "seeds": 1, "draws": 1}
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)
ROUNDS = (30, 100, 300, 1000)  # of boosting
SWEEP = np.linspace(-1, 1, 21)
N_SWEEP = 200  # training rows of the sweep, as in the paper
OPTIONS = {"kernel": "precomputed", "tol": 1e-3, "random_state": 0}
BIAS = 0.8  # share of the training part from the first group, and of the other two from the second


def run(*, only=("rcv1_joined", "corel16k001", "yeast"), rows=1000, seeds=3, draws=10):
    lines = []
    for name in only:
        lines.append(measure(name, rows, seeds, draws))
        yield lines


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


def boost(X, Y, X_test):
    """What BoosTexter predicts after each of `ROUNDS`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole = BoostedStumps(max(ROUNDS), n_jobs=1).fit(X, Y)
    predicted = []
    for n_rounds in ROUNDS:
        some = copy(whole)
        for name in ("columns_", "thresholds_", "left_votes_", "right_votes_"):
            setattr(some, name, getattr(whole, name)[:n_rounds])
        predicted.append(some.predict(X_test))
    return predicted


def folds_of(Y):
    return list(KFold(3, shuffle=True, random_state=0).split(Y))


def choose_rounds(X, Y):
    """Which of `ROUNDS` has the smallest Hamming loss in 3-fold cross-validation on the training part."""
    losses = [[hamming(one, Y[b]) for one in boost(X[a], Y[a], X[b])] for a, b in folds_of(Y)]
    return int(np.argmin(np.mean(losses, axis=0)))


def choose_cost(predict, K, Y):
    """The cost of the smallest Hamming loss in 3-fold cross-validation on the training part."""
    folds = folds_of(Y)
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
    chosen = choose_rounds(split.X, split.Y)
    costs["BoosTexter"] = ROUNDS[chosen]
    losses["BoosTexter"] = hamming(boost(split.X, split.Y, split.X_test)[chosen], split.Y_test)
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


@dataclass
class Split:
    """Gram matrices and labels of one cut into training, test and third part."""

    rows: np.ndarray
    K: np.ndarray
    K_test: np.ndarray
    Y: np.ndarray
    Y_test: np.ndarray
    Y_third: np.ndarray
    X: object
    X_test: object


def load(name):
    """Rows fit for the kernel of the data set, labels as 0 and 1 without labels of fewer than 20 rows."""
    if name == "drawn":
        return *draw_rows(400, 8), Gaussian()
    collection = load_dataset(name)
    X, Y = collection.X, dense(collection.Y)
    Y = Y[:, Y.sum(axis=0) >= 20]
    X = normalize(X) if sparse.issparse(X) else StandardScaler().fit_transform(X)
    return X, Y, Linear() if name == "rcv1_joined" else Gaussian()


def draw_parts(Y, n_rows, seed):
    """Three disjoint sets of row indices, `n_rows` each or less: training, test, third."""
    rng = np.random.default_rng(seed)
    components = PCA(2, svd_solver="full").fit_transform(Y)
    go_together = np.prod(components - np.median(components, axis=0), axis=1) > 0
    first, second = (rng.permutation(np.flatnonzero(go_together == g)) for g in (True, False))
    if len(first) > len(second):  # two parts are drawn mostly from the second
        first, second = second, first
    n_rows = min(n_rows, int(len(first) / (BIAS + 2 * (1 - BIAS))), int(len(second) / (2 * BIAS + 1 - BIAS)))
    many, few = round(BIAS * n_rows), n_rows - round(BIAS * n_rows)
    train = np.concatenate([first[:many], second[:few]])
    test = np.concatenate([first[many : many + few], second[few : few + many]])
    third = np.concatenate([first[many + few : many + 2 * few], second[few + many : few + 2 * many]])
    return train, test, third


def make_split(X, Y, kernel, n_rows, seed):
    train, test, third = draw_parts(Y, n_rows, seed)
    seen = Y[train].any(axis=0)  # a label never seen is lost for every method alike
    Y = Y[:, seen]
    kernel, K = kernel.fit_gram(X[train])
    return Split(train, K, kernel(X[test], X[train]), Y[train], Y[test], Y[third], X[train], X[test])


# Its answers to tables


def answer(table, results):
    return _sweep(results) if table == "m3l-figure1" else _losses(results)


def _losses(results):
    means = {
        line["dataset"]: {method: sum(values) / len(values) for method, values in line["hamming"].items()}
        for line in results
    }
    first = next(iter(means.values()))
    figures = Figures.fill(first, means, lambda method, name: f"{means[name][method]:.2f}")
    changes = []
    for name, losses in means.items():
        prior = min("M3L, correlation", "M3L, second moment", key=losses.__getitem__)
        changes.append(f"{losses[prior] - losses['1-vs-All']:+.2f} ({name}, {prior.split(', ')[1]})")
    return Answer(
        figures,
        "The better prior of the third part against 1-vs-All, in points: "
        f"{', '.join(changes)}; published -2.74 (Siam), -0.91 (Media Mill), -0.80 (RCV1).",
    )


def _sweep(results):
    chosen = (-0.9, -0.5, 0.0, 0.5, 0.9)
    rows, words = {}, []
    for line in results:
        sweep = line["sweep"]
        by_r = {round(r, 1): loss for r, loss in zip(sweep["r"], sweep["hamming"], strict=True)}
        rows[line["dataset"]] = tuple(f"{by_r[r]:.1f}" for r in chosen)
        best = min(by_r, key=by_r.get)
        words.append(
            f"{line['dataset']} best at r = {best:+.1f} (correlation {sweep['correlation_in_training']:+.2f} "
            f"in training, {sweep['correlation_in_third_part']:+.2f} in the third part)"
        )
    columns = tuple(f"r = {r:+.1f}" for r in chosen)
    return Answer(Figures(columns, rows), f"Test Hamming loss (%): {'; '.join(words)}.")


# Its page


def render(results, machine):
    """Tables of Hamming losses, ours and the published ones, with a sentence on every data set."""
    methods, names = results[0]["hamming"], distinct(results, "dataset")
    parts = [TEXT.intro.format(n_seeds=len(methods["1-vs-All"]))]
    rows = [[method, *(_mean_and_spread(line["hamming"][method]) for line in results)] for method in methods]
    parts += ["\n## Test Hamming loss (%)\n\n", markdown_table(["method", *names], rows), "\n\n"]
    parts += [_verdict(line) for line in results]
    published = find_table("m3l-table3").published
    rows = [[name, *cells] for name, cells in published.rows.items()]
    parts.append(TEXT.compared.format(published=markdown_table(["method", *published.columns], rows)))
    parts.append(_sweep_text(results))
    return {PAGES[0]: "".join(parts), PAGES[1]: draw_sweep(results)}


def _verdict(line):
    means = {method: float(np.mean(values)) for method, values in line["hamming"].items()}
    prior = min((name for name in means if name.startswith("M3L,")), key=means.get)
    third = min(("M3L, correlation", "M3L, second moment"), key=means.get)
    others = {name: value for name, value in means.items() if not name.startswith("M3L")}
    best = min(others, key=others.get)
    difference = means[third] - others["1-vs-All"]
    effect = f"{'lowers' if difference < 0 else 'raises'} the loss of 1-vs-All by {abs(difference):.2f}"
    if abs(difference) < 0.005:
        effect = "leaves the loss of 1-vs-All as it is"
    sentence = (
        f"the better prior of the third part ({third.split(', ')[1]}) {effect};\n"
        f"  the best method without a prior is {best} ({others[best]:.2f})"
    )
    if prior != third:
        sentence += f"; the prior of the training labels is better still ({means[prior]:.2f})"
    return TEXT.verdict.format(
        dataset=line["dataset"],
        rows=line["rows_per_part"],
        labels=line["labels"],
        shift_train=line["shift"][0],
        shift_third=line["shift"][1],
        shift_frequency=line["shift"][2],
        sentence=f"{sentence}.",
    )


def _sweep_text(lines):
    parts = []
    for line in lines:
        sweep = line["sweep"]
        best = int(np.argmin(sweep["hamming"]))
        parts.append(
            f"- {line['dataset']}: correlation {sweep['correlation_in_training']:+.2f} in training, "
            f"{sweep['correlation_in_third_part']:+.2f} in the third part.\n"
            f"  Loss {sweep['hamming'][best]:.1f} % at r = {sweep['r'][best]:+.1f}, "
            f"{sweep['hamming'][len(sweep['r']) // 2]:.1f} % at r = 0.\n"
        )
    return TEXT.sweep.format(lines="".join(parts))


def _mean_and_spread(values):
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def draw_sweep(lines):
    """Test Hamming loss over r, one line a data set, as SVG."""
    series = [(line["dataset"], line["sweep"]["r"], line["sweep"]["hamming"]) for line in lines]
    return draw_charts([line_chart("Test Hamming loss (%)", series, description="", x_label="r")])
