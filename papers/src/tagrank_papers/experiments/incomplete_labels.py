"""Training labels hidden on purpose: who loses least? As tables 5.2, 5.3 and 5.5 of the dissertation.

Each training sample loses 0, 20, 40 or 60 % of its labels, and keeps at least one; the test labels stay
complete. One-vs-all SVMs, the same with Platt's sigmoids, ML-kNN, a shared subspace (MLLS), LabelRanker
(MLR-L1) and IncompleteLabelRanker (MLR-GL) learn from the same similarities. C, or the number of neighbours,
is chosen for each by cross-validation on the labels that are left, the penalty of MLLS on left-out samples.
`short` takes one draw, three costs and 1,000 samples; `draws` and `n_train` are for more draws of hidden
labels and more training samples.
"""

import warnings

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.annotation.choosing import mean_kernel
from tagrank.data import LabelStratifiedKFold, hide_labels, load_dataset
from tagrank.estimators import (
    BayesianNeighbors,
    IncompleteLabelRanker,
    LabelRanker,
    OneVsAllSVM,
    PlattSVM,
    SharedSubspace,
)
from tagrank.features import choose_features, usual_features
from tagrank.kernels import Gaussian
from tagrank.metrics import image_auc, image_average_precision
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, listed, mean, where
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import dense, draw_rows
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("incomplete_labels")
PAGES = ("incomplete-labels-results.md",)
QUICK = {"sets": ("drawn",), "short": True}
FRACTIONS = (0.0, 0.2, 0.4, 0.6)
COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
USUAL = {"seeds": 3, "costs": COSTS, "tol": 1e-3, "n_most": None}
LARGE = {"seeds": 1, "costs": COSTS[:4], "tol": 5e-3, "n_most": 2000}
SETTINGS = {
    "scene": USUAL,
    "yeast": USUAL,
    "corel5k": LARGE,
    "photographs": LARGE | {"costs": COSTS[1:]},
    "delicious": LARGE | {"tol": 1e-2},
}
SHORT = {"seeds": 1, "costs": COSTS[1:4], "tol": 1e-2, "n_most": 1000}
COUNTS = (5, 10, 20, 40, 80, 160)  # of neighbours
METHODS = {
    "SVM": OneVsAllSVM,
    "PLATT": PlattSVM,
    "MLKNN": BayesianNeighbors,
    "MLLS": SharedSubspace,
    "MLR-L1": LabelRanker,
    "MLR-GL": IncompleteLabelRanker,
}
STANDARDISED = {"scene", "yeast"}
NEARLY = 0.05  # of the share that was to be hidden


def run(*, sets=tuple(SETTINGS), methods=tuple(METHODS), draws=None, n_train=None, short=False):
    warnings.filterwarnings("ignore", message=".*never positive")
    lines = []
    for name in sets:
        settings = (SHORT if short else SETTINGS[name]) | ({"seeds": draws} if draws else {})
        settings |= {"n_most": n_train} if n_train else {}
        lines += run_set(name, methods, **settings, is_quick=short)
        yield {"lines": lines}


def read(name, n_most):
    """Similarities of training samples, of test and training samples, and both label matrices."""
    if name == "photographs":
        return read_photographs(n_most)
    X, Y, Z, T = draw() if name == "drawn" else load(name)
    chosen = some_of(X, n_most)
    X, Y = X[chosen], Y[chosen]
    if name in STANDARDISED:
        mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
        X, Z = (X - mean) / deviation, (Z - mean) / deviation
    kernel = Gaussian().fit(X)
    return kernel(X, X).astype(np.float32), kernel(Z, X).astype(np.float32), Y, T


def read_photographs(n_most):
    """The photographs of Corel5k, 260 words: the mean kernel of the features that `tagrank train` takes."""
    whole, features = load_dataset("corel5k_images_260"), choose_features(usual_features())
    train = whole.train.subset(some_of(whole.train, n_most))
    train = describe_pictures(train, features, cache=True)
    test = describe_pictures(whole.test, train.features, cache=True).collection
    X, Z = ({name: part.views[name] for name in train.features} for part in (train.collection, test))
    kernel = mean_kernel(train.features).fit(X)
    K, Q = kernel(X), kernel(Z, X)
    return K.astype(np.float32), Q.astype(np.float32), dense(train.collection.Y), dense(test.Y)


def some_of(rows, n_most):
    """Which rows to take; some sets are sorted by label."""
    return np.random.default_rng(0).permutation(len(rows))[:n_most]


def load(name):
    """Rows and labels of the training part, and of the test part."""
    data = load_dataset(name)
    return [dense(matrix) for part in (data.train, data.test) for matrix in (part.X, part.Y)]


def draw():
    X, Y = draw_rows(120, 8)
    return X[::2], Y[::2], X[1::2], Y[1::2]


def make(name, choice, tol):
    """The estimator of a method; `choice` is its C, or number of neighbours."""
    if name == "MLKNN":
        return BayesianNeighbors(n_neighbors=choice, kernel="precomputed", n_jobs=1)
    if name == "MLLS":
        return SharedSubspace(kernel="precomputed", n_jobs=1)
    return METHODS[name](choice, kernel="precomputed", tol=tol, random_state=0, n_jobs=1)


def choose(name, K, Y, choices, tol):
    """The choice with the best image AUC on held-out folds, judged by the labels that are left."""
    scores = np.zeros(len(choices))
    for train, test in LabelStratifiedKFold(3, shuffle=True, random_state=0).split(K, Y):
        for k, fitted in enumerate(fit_path(name, K[np.ix_(train, train)], Y[train], choices, tol)):
            scores[k] += image_auc(Y[test], fitted.decision_function(K[np.ix_(test, train)]))
    return choices[int(np.argmax(scores))]


def fit_path(name, K, Y, choices, tol):
    """The model of each choice; started from the one before where the method knows how."""
    if hasattr(METHODS[name], "path"):
        yield from make(name, choices[0], tol).path(K, Y, choices)
    else:
        for choice in choices:
            yield make(name, choice, tol).fit(K, Y)


def run_case(K, Q, T, hidden, methods, costs, tol):
    """Lines of one case: method, its choice, image AUC and MAP on the test samples, seconds of the last fit.

    The choice of MLLS is the penalty that it chose itself.
    """
    for name in methods:
        choice = None
        if name != "MLLS":
            choice = choose(name, K, hidden, COUNTS if name == "MLKNN" else costs, tol)
        model = make(name, choice, tol)
        timing = best_time(model.fit, K, hidden, repeats=1)
        F = model.decision_function(Q)
        line = {"method": name, "choice": model.alpha_ if choice is None else choice}
        line |= {"auc": image_auc(T, F), "map": image_average_precision(T, F)}
        yield line | {"processor_seconds": round(timing.processor_seconds, 3)}


def run_set(name, methods, *, seeds, costs, tol, n_most, is_quick):
    K, Q, Y, T = read(name, n_most)
    for fraction in FRACTIONS:
        for seed in range(seeds if fraction else 1):
            hidden = hide_labels(Y, fraction, share_of="sample", random_state=seed)
            case = {"set": name, "fraction": fraction, "hidden": 1 - hidden.sum() / Y.sum(), "seed": seed}
            case |= {"n_train": len(Y), "is_quick": is_quick, "n_seeds": seeds, "costs": costs, "tol": tol}
            for line in run_case(K, Q, T, hidden, methods, costs, tol):
                show(case | line, "set", "fraction", *line)
                yield case | line


# Its answers to tables

BY_MAP = {"mlr-l1-table4.3", "mlr-gl-table5.3"}


def answer(table, results):
    lines = results["lines"]
    if table.startswith("dissertation"):
        lines = [line for line in lines if line["method"] in find_table(table).published.rows]
    means = _Means(lines)
    if table == "dissertation-table1.2":
        return Answer(_first_and_last(means), means.lost("auc"))
    if table in ("mlr-l1-table4.1", "mlr-l1-table4.4"):
        return Answer(_both_measures(means), f"{means.above('auc')} {means.above('map')}")
    measure = "map" if table in BY_MAP else "auc"
    if table.startswith("mlr-gl"):
        return Answer(_by_share(means, measure), means.lost(measure))
    figures = Figures.fill(
        means.methods, means.sets, lambda method, name: f"{means(measure, name, method, 0):.1f}"
    )
    return Answer(figures, means.above(measure))


def _first_and_last(means):
    columns = [(name, share) for name in means.hidable for share in (0, means.shares[-1])]
    rows = {
        method: tuple(f"{means('auc', name, method, share):.1f}" for name, share in columns)
        for method in means.methods
    }
    return Figures(
        tuple(f"{name}, {'complete' if not share else f'{share:.0%}'}" for name, share in columns), rows
    )


def _both_measures(means):
    rows = {
        f"{title}, {name}": tuple(f"{means(measure, name, method, 0):.1f}" for method in means.methods)
        for measure, title in (("auc", "AUC-ROC"), ("map", "MAP"))
        for name in means.sets
    }
    return Figures(tuple(means.methods), rows)


def _by_share(means, measure):
    rows = {
        f"{name}: {method}": tuple(f"{means(measure, name, method, share):.1f}" for share in means.shares)
        for name in means.hidable
        for method in means.methods
    }
    return Figures(tuple(f"{share:.0%}".replace("%", " %") for share in means.shares), rows)


class _Means:
    """Percentages by set, method and share of hidden labels: means over the draws."""

    def __init__(self, lines):
        self.lines, self.sets = lines, distinct(lines, "set")
        self.shares, self.methods = sorted(distinct(lines, "fraction")), _methods(lines)
        # where samples have hardly more than one label, and each keeps one, few can be hidden
        self.most = {name: mean(lines, "hidden", set=name, fraction=self.shares[-1]) for name in self.sets}
        self.hidable = [name for name in self.sets if self.most[name] > self.shares[-1] - NEARLY]

    def __call__(self, measure, name, method, share):
        return 100 * mean(self.lines, measure, set=name, method=method, fraction=share)

    def above(self, measure):
        """On how many sets the ranking methods are above SVM, and who is best."""
        words = []
        for method in ("MLR-L1", "MLR-GL"):
            above = [
                name for name in self.sets if self(measure, name, method, 0) > self(measure, name, "SVM", 0)
            ]
            words.append(f"{method} on {len(above)}")
        best = {
            name: max(self.methods, key=lambda method: self(measure, name, method, 0)) for name in self.sets
        }
        listed = ", ".join(f"{method} ({name})" for name, method in best.items())
        return (
            f"{_title(measure)}, complete labels: above SVM is {', '.join(words)} of {len(self.sets)} sets; "
            f"best is {listed}."
        )

    def lost(self, measure):
        """On how many sets MLR-GL loses less than SVM and MLR-L1, and the points lost."""
        last = self.shares[-1]
        lost = {
            name: {
                method: self(measure, name, method, 0) - self(measure, name, method, last)
                for method in self.methods
            }
            for name in self.hidable
        }
        less = [
            name for name, points in lost.items() if points["MLR-GL"] < min(points["SVM"], points["MLR-L1"])
        ]
        best = [
            name
            for name in self.hidable
            if max(self.methods, key=lambda method: self(measure, name, method, last)) == "MLR-GL"
        ]
        listed = "; ".join(
            f"{name} {', '.join(f'{method} {value:.1f}' for method, value in points.items())}"
            for name, points in lost.items()
        )
        return (
            f"{_title(measure)}: MLR-GL loses less than SVM and MLR-L1 on {len(less)} of "
            f"{len(self.hidable)} sets, and with most hidden it is the best of all on {len(best)}. "
            f"Points lost from complete to most hidden: {listed}.{self._left_out()}"
        )

    def _left_out(self):
        return "".join(
            f" {name} is left out: each sample keeps a label, and only {most:.1%} of all are hidden."
            for name, most in self.most.items()
            if name not in self.hidable
        )


def _title(measure):
    return {"auc": "Image AUC", "map": "Image MAP"}[measure]


# Its page

PUBLISHED = {
    "ESP Game, AUC (table 5.2)": "mlr-gl-table5.2",
    "ESP Game, MAP (table 5.3)": "mlr-gl-table5.3",
    "MIR Flickr, AUC (table 5.5)": "mlr-gl-table5.5",
}


def render(results, machine):
    """Tables of image AUC and MAP, a sentence on each set, and the published figures."""
    lines, parts = results["lines"], [TEXT.intro]
    for name in distinct(lines, "set"):
        mine = where(lines, set=name)
        shares = [mean(mine, "hidden", fraction=f) for f in _fractions(mine)]
        parts.append(f"## {name}\n\n{_describe(mine[0])}\n")
        for title, key in (("Image AUC", "auc"), ("Image MAP", "map")):
            rows = {
                m: [100 * mean(mine, key, method=m, fraction=f) for f in _fractions(mine)]
                for m in _methods(mine)
            }
            parts.append(_table(f"{title}; hidden", [f"{share:.1%}" for share in shares], rows))
        parts.append(_choices(mine))
        parts.append(_verdict(mine))
    parts.append("## As published (other data)\n")
    for title, name in PUBLISHED.items():
        published = find_table(name).published
        rows = {method: list(map(float, cells)) for method, cells in published.rows.items()}
        parts.append(_table(title, published.columns, rows))
    return {PAGES[0]: "\n".join(parts)}


def _methods(lines):
    return [method for method in METHODS if method in distinct(lines, "method")]


def _fractions(lines):
    """Fractions of a set that were asked for, but for those that hide no more than a smaller one."""
    first = {}
    for fraction in sorted(distinct(lines, "fraction")):
        first.setdefault(round(mean(lines, "hidden", fraction=fraction), 4), fraction)
    return list(first.values())


def _table(title, columns, rows):
    lines = [
        [method, *(f"{value:.1f}" for value in (*values, values[0] - values[-1]))]
        for method, values in rows.items()
    ]
    return markdown_table([title, *columns, "lost"], lines, numbers=True) + "\n"


def _describe(line):
    quick = "Quick run. " if line["is_quick"] else ""
    draws = f"{line['n_seeds']} draw{'s' if line['n_seeds'] > 1 else ''} of hidden labels"
    model = f"C among {listed(line['costs'])}, gap {line['tol']:g}"
    return f"{quick}{line['n_train']:,} training samples, {draws}, {model}."


def _choices(lines):
    """What was chosen, column by column."""
    chosen = []
    for method in _methods(lines):
        columns = [
            sorted(distinct(where(lines, method=method, fraction=fraction), "choice"))
            for fraction in _fractions(lines)
        ]
        words = (" or ".join(f"{choice:.3g}" for choice in choices) for choices in columns)
        chosen.append(f"{method} {', '.join(words)}")
    return f"Chosen, column by column: {'; '.join(chosen)}.\n"


def _verdict(lines):
    """Whether the claim of the dissertation holds here: MLR-GL loses less image AUC than MLR-L1 and SVM."""
    first, last = _fractions(lines)[0], _fractions(lines)[-1]
    aucs = {
        m: [100 * mean(lines, "auc", method=m, fraction=f) for f in (first, last)] for m in _methods(lines)
    }
    lost = {m: before - after for m, (before, after) in aucs.items()}
    best = max(aucs, key=lambda m: aucs[m][1])
    holds = "holds" if lost["MLR-GL"] < min(lost["SVM"], lost["MLR-L1"]) else "does not hold"
    return (
        f"That MLR-GL loses less image AUC than MLR-L1 and SVM {holds} here ("
        + ", ".join(f"{m} {value:.1f}" for m, value in lost.items())
        + f" points). With most labels hidden {best} ranks best.\n"
    )
