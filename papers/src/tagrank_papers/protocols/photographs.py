"""Photographs that are annotated: views, labels, official parts, and training pictures held out."""

import warnings
from dataclasses import asdict
from typing import NamedTuple

import numpy as np

from tagrank.annotation import FeatureBank, describe_pictures
from tagrank.data import load_dataset
from tagrank.features import choose_features
from tagrank.kernels import Linear, Sum, make_kernel
from tagrank.kernels.gram import gram
from tagrank.metrics import annotation_scores
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense

COREL5K, IAPR = "corel5k_images_260", "iaprtc12"
TITLES = {COREL5K: "Corel5k", IAPR: "IAPR TC-12", DRAWN: "drawn"}
COLUMNS = {COREL5K: "Corel5k", IAPR: "IAPR", DRAWN: "Corel5k"}  # as the paper heads them
FITTED, HELD_OUT = 4000, {COREL5K: 500, IAPR: 1000, DRAWN: 40}  # training pictures, for choices
N_TAGS = 5


class Part(NamedTuple):
    """Pictures to learn from and others to annotate, with their labels, 0 or 1."""

    views: dict
    others: dict
    Y: np.ndarray
    truth: np.ndarray


class Photographs(NamedTuple):
    """The parts in which parameters are chosen and in which the result is measured; a kernel a view."""

    inside: Part
    whole: Part
    kernels: dict


def read_photographs(name, features, *, n_train=None, cache=None):
    """A data set by name, or drawn histograms; `n_train` of its training pictures, drawn at random."""
    warnings.filterwarnings("ignore", message=".*never positive|.*duality gap")
    if name == DRAWN:
        return _draw_photographs(features)
    whole = load_dataset(name)
    chosen, place = choose_features(list(features)), None if cache is None else str(cache)
    # words come from all training pictures, however few are taken
    learned = FeatureBank(chosen, folder=place).fit(whole.train.view("pictures")).features
    rows = np.sort(np.random.default_rng(0).permutation(len(whole.train))[:n_train])
    train, test = (
        describe_pictures(part, learned, cache=cache or True).collection
        for part in (whole.train.subset(rows), whole.test)
    )
    views, others = ({view: part.view(view) for view in features} for part in (train, test))
    kernels = {view: make_kernel(feature.kernel).on(view) for view, feature in learned.items()}
    Y, truth = ((dense(part.states()) > 0).astype(float) for part in (train, test))
    return _cut(name, views, others, Y, truth, kernels)


def _draw_photographs(features, n_samples=260, n_labels=12):
    """Histograms that depend on their labels: to see that everything runs."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n_samples, n_labels)) < 0.2).astype(float)
    Y[np.arange(n_samples), rng.integers(0, n_labels, n_samples)] = 1
    X = {view: Y @ rng.random((n_labels, 30)) ** 4 + 0.3 * rng.random((n_samples, 30)) for view in features}
    kernels = {view: make_kernel("chi2").on(view) for view in features}
    train, test = np.arange(200), np.arange(200, n_samples)
    return _cut(DRAWN, _take(X, train), _take(X, test), Y[train], Y[test], kernels)


def _cut(name, views, others, Y, truth, kernels):
    shuffled = np.random.default_rng(0).permutation(len(Y))
    n_held_out = min(HELD_OUT[name], len(Y) // 4)
    held_out, fitted = np.split(shuffled[: FITTED + n_held_out], [n_held_out])
    inside = Part(_take(views, fitted), _take(views, held_out), Y[fitted], Y[held_out])
    return Photographs(inside, Part(views, others, Y, truth), kernels)


def _take(views, rows):
    return {view: X[rows] for view, X in views.items()}


def mean_of(kernels):
    """The mean of kernels."""
    return Sum(tuple(kernels), (1 / len(kernels),) * len(kernels))


def mean_cosine(views):
    """The mean of the cosines of some views."""
    return mean_of([Linear().unit_diagonal().on(view) for view in views])


class Bench:
    """One part: fits on some pictures, measures on the others. Of Gram matrices the latest is kept."""

    def __init__(self, part, kernels):
        self.part, self.kernels = part, kernels
        self.latest, self.grams = None, None
        counts = np.maximum(part.Y.sum(axis=0), 1)
        self.rare = {label: float(np.sqrt(len(part.Y) / count)) for label, count in enumerate(counts)}

    def similarities(self, name):
        """Those of the training pictures, and of the others with them; cosines are of histograms."""
        if self.latest != name:
            self.latest, self.grams = None, None  # two at a time are too large
            kernel, K = self.kernels[name].fit_gram(self.part.views, dtype=np.float32)
            self.grams = K, gram(kernel, self.part.others, self.part.views, dtype=np.float32)
            self.latest = name
        return self.grams

    def measure(self, make, kernel, power, settings):
        """Processor seconds, and annotation scores; without a `power` the method reads rows."""
        if settings.get("class_weight") == "rare":
            settings = {**settings, "class_weight": self.rare}
        if power is None:
            estimator = make(kernel=self.kernels[kernel], **settings)
            rows, others = self.part.views, self.part.others
        else:
            estimator = make(**settings)
            rows, others = (K if power == 1 else K**power for K in self.similarities(kernel))
        training = best_time(estimator.fit, rows, self.part.Y, repeats=1)
        del rows
        test = best_time(estimator.decision_function, others, repeats=1)
        scores = {f"top {k}": _plain(self.part.truth, test.answer, k) for k in range(2, 8)}
        return {
            "train_seconds": training.processor_seconds,
            "test_seconds": test.processor_seconds,
            "n_train": len(self.part.Y),
            **scores,
        }


def _plain(truth, scores, n_tags):
    return {key: float(x) for key, x in asdict(annotation_scores(truth, scores, n_tags=n_tags)).items()}


def choose(bench, candidates):
    """The candidate with the best F1 at five tags, and what all of them reached."""
    tried = []
    for make, kernel, power, settings in candidates:
        found = bench.measure(make, kernel, power, settings)
        tried.append({"kernel": kernel, "power": power, **settings, "f1": found[f"top {N_TAGS}"]["f1"]})
    best = max(range(len(tried)), key=lambda i: tried[i]["f1"])
    return candidates[best], tried


def measure_method(inside, outside, candidates):
    """What is chosen among candidates on pictures held out, and then reached on the others."""
    best, tried = (candidates[0], []) if len(candidates) == 1 else choose(inside, candidates)
    make, kernel, power, settings = best
    found = outside.measure(make, kernel, power, settings)
    return {"chosen": {"kernel": kernel, "power": power, **settings}, "tried": tried, **found}


def percent(line, *names):
    """Precision, recall, F1 or others of five tags a picture, as they are printed."""
    return tuple(f"{100 * line[f'top {N_TAGS}'][name]:.1f}" for name in names)
