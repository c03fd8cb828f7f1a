"""Objects in the photographs of PASCAL VOC 2006: tables 1 and 2 of the ranking paper.

As published: 1,600 random pictures with one object and 800 with several are for training, all others for the
test; a bag of SIFT descriptors with 5,000 words, learned from all pictures; a chi-square kernel. Each method
chooses C and the width of the kernel on two halves of the training part. An object counts as a tag: several
of one kind are one. Tags of which only difficult objects are there are unknown; in training they count as
absent, because LIBSVM knows no unknown labels. SVM-perf is RankingAreaSVM, whose scores go through a sigmoid
for each label, and MLSSM, the shared subspace of Ji, Tang, Yu and Ye, is SharedSubspace.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from tagrank.annotation import describe_pictures
from tagrank.data import load_dataset
from tagrank.estimators import LabelRanker, RankingAreaSVM, SharedSubspace
from tagrank.features.words.bag import BagOfWords
from tagrank.features.words.local_descriptors import Sift
from tagrank.features.words.sampling import DenseGrid
from tagrank.features.words.vocabulary import KMeansWords
from tagrank.kernels import ChiSquared, Gaussian
from tagrank.metrics import image_auc
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, mean, where
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, draw_rows
from tagrank_papers.protocols.peers import peer_gap, train_peer
from tagrank_papers.text import show

QUICK = {"only": DRAWN, "draws": 2, "n_train": (40, 20)}
COSTS = (1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # in mean distances
TOL, ROUGH_TOL, MOST_PASSES = 1e-3, 1e-2, 1000
FEW_PASSES = 200  # while C and the width are chosen
PROPOSED, PEER, SUBSPACE = "Proposed", "LIBSVM", "MLSSM"
METHODS = {PROPOSED: LabelRanker, PEER: None, "SVM-perf": RankingAreaSVM, SUBSPACE: SharedSubspace}
FIRST_COST = {"SVM-perf": 100.0}  # its C is for the mean of all pairs of samples
OBJECTS = {"overall": "overall", "several": "multi-obj", "one": "single-obj"}
TITLES = {"voc2006": ("VOC 2006", "VOC 06")}  # in the two tables


@dataclass(frozen=True)
class Sample:
    """Similarities and labels of a training part, and of the test part compared with it."""

    K: np.ndarray
    Y: np.ndarray
    test: np.ndarray
    truth: np.ndarray


def run(*, only="voc2006", draws=5, n_train=(1600, 800), costs=COSTS, widths=WIDTHS, methods=tuple(METHODS)):
    warnings.filterwarnings("ignore", message=".*duality gap")  # of costs that lose the choice
    K, Y = _drawn() if only == DRAWN else _pictures(only)
    lines = []
    for draw in range(draws):
        sample = split(K, Y, n_train, draw)
        for method in methods:
            case = {"data": only, "draw": draw, "n_train": len(sample.Y), "n_test": len(sample.truth)}
            lines.append(case | measure(method, sample, costs, widths))
            show(lines[-1], *lines[-1])
        yield lines


def _pictures(name):
    """Similarities of all pictures and their tags."""
    words = KMeansWords(5000, n_samples=50_000, max_iter=10)
    features = {"words": BagOfWords(DenseGrid(step=8), Sift(), words)}
    described = describe_pictures(load_dataset(name), features, cache=True).collection
    X, states = described.view("words"), described.states()
    return ChiSquared().fit(X)(X, X).astype(np.float32), np.where(states == 0, np.nan, states > 0)


def _drawn():
    """Rows of which every third has two labels, and the others one."""
    (X, one), (_, two) = (draw_rows(120, 6, n_present=n_present) for n_present in (1, 2))
    return Gaussian()(X), np.where(np.arange(len(X))[:, None] % 3 == 0, two, one)


def split(K, Y, n_train, seed):
    """So many samples with one label and with several, drawn at random, for training; all others."""
    rng, chosen = np.random.default_rng(seed), np.zeros(len(Y), bool)
    n_present = (Y == 1).sum(axis=1)
    for rows, n_rows in zip((n_present == 1, n_present > 1), n_train, strict=True):
        chosen[rng.permutation(np.flatnonzero(rows))[:n_rows]] = True
    known = (Y[chosen] == 1).astype(float)
    return Sample(K[np.ix_(chosen, chosen)], known, K[np.ix_(~chosen, chosen)], Y[~chosen])


def measure(method, sample, costs, widths):
    """What is chosen, image AUC of the test samples, seconds of the shorter of two trainings, and the gap."""
    C, width, value = choose(method, sample, costs, widths)
    K, test = (np.float64(part) ** (1 / width) for part in (sample.K, sample.test))
    if method == SUBSPACE:  # its penalty, which it chooses itself, is given where seconds are taken
        C = SharedSubspace(kernel="precomputed", n_jobs=1).fit(K, sample.Y).alpha_
    timing = best_time(train, method, K, sample.Y, C, TOL, repeats=2)  # the first one may compile
    scores, n_present = timing.answer.decision_function(test), (sample.truth == 1).sum(axis=1)
    parts = {"overall": slice(None), "several": n_present > 1, "one": n_present == 1}
    gap = peer_gap(timing.answer, K, sample.Y, C) if method == PEER else None
    gap = getattr(timing.answer, "duality_gap_", gap)
    return {
        "method": method,
        "C": float(C),
        "width": width,
        "held_out": value,
        **{name: float(image_auc(sample.truth[rows], scores[rows])) for name, rows in parts.items()},
        "processor_seconds": timing.processor_seconds,
        "gap": None if gap is None else float(gap),
    }


def train(method, K, Y, C, tol):
    if method == PEER:
        return train_peer(K, Y, C)
    if method == SUBSPACE:
        return SharedSubspace(alpha=C, kernel="precomputed", n_jobs=1).fit(K, Y)
    options = {"tol": tol, "max_iter": FEW_PASSES if tol == ROUGH_TOL else MOST_PASSES, "n_jobs": 1}
    return METHODS[method](C=C, kernel="precomputed", random_state=0, **options).fit(K, Y)


def choose(method, sample, costs, widths):
    """C and width of the best image AUC on two halves, and that AUC.

    C is chosen at the mean distance, then the width: outwards from the first one as long as it gets better.
    What is not trained to a gap of `ROUGH_TOL` in `FEW_PASSES` passes is out.
    """
    order = np.random.default_rng(0).permutation(len(sample.Y))
    halves = order[: len(order) // 2], order[len(order) // 2 :]

    def hold_out(C, width):
        values = []
        for a, b in (halves, halves[::-1]):
            K, test = (np.float64(sample.K[np.ix_(rows, a)]) ** (1 / width) for rows in (a, b))
            model = train(method, K, sample.Y[a], C, ROUGH_TOL)
            if not getattr(model, "converged_", True):
                return 0.0
            values.append(image_auc(sample.Y[b], model.decision_function(test)))
        return float(np.mean(values))

    C = None
    if method != SUBSPACE:
        C, _ = climb(lambda cost: hold_out(cost, 1.0), costs, FIRST_COST.get(method, 1.0))
    width, value = climb(lambda width: hold_out(C, width), widths, 1.0)
    return C, width, value


def climb(quality, values, first):
    """The best of some ascending values and its quality; on either side it ends where it gets worse."""
    best, place = quality(first), values.index(first)
    for step in (1, -1):
        start = place
        while 0 <= place + step < len(values) and (value := quality(values[place + step])) > best:
            best, place = value, place + step
        if place != start:
            break
    return values[place], best


# Its answers to tables


def answer(table, results):
    methods, name = distinct(results, "method"), results[0]["data"]
    titles = TITLES.get(name, (name, name))
    if table == "mlr-table2":
        cells = (_spread(where(results, method=method), "processor_seconds") for method in methods)
        return Answer(Figures(tuple(methods), {titles[1]: tuple(cells)}), _times(results, methods))
    rows = {
        f"{titles[0]}, {title}": tuple(_spread(where(results, method=method), key, 100) for method in methods)
        for key, title in OBJECTS.items()
    }
    return Answer(Figures(tuple(methods), rows), _orders(results, methods))


def _spread(lines, key, unit=1):
    values = [unit * line[key] for line in lines]
    digits = 1 if unit > 1 else 2
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def _orders(results, methods):
    """All methods, the best first, of all test pictures and of those with several objects and with one."""
    words = []
    for key, title in OBJECTS.items():
        means = {method: mean(results, key, method=method) for method in methods}
        words.append(f"{title} {', '.join(sorted(methods, key=means.get, reverse=True))}")
    draws = len(distinct(results, "draw"))
    return f"Means of {draws} draws, the best method first: {'; '.join(words)}."


def _times(results, methods):
    """How many times as long as the proposed method the others take, here and as published."""
    published = next(iter(find_table("mlr-table2").published.rows.values()))
    columns = find_table("mlr-table2").published.columns
    theirs = {name: float(cell.split(" ± ")[0]) for name, cell in zip(columns, published, strict=True)}
    ours = {method: mean(results, "processor_seconds", method=method) for method in methods}
    words = [
        f"{method} takes {ours[method] / ours[PROPOSED]:.1f} times as long "
        f"(published {theirs[method] / theirs[PROPOSED]:.1f})"
        for method in methods
        if method != PROPOSED
    ]
    return f"Processor seconds of one training, similarities given. Beside MLR-L1, {', '.join(words)}."
