"""Joint SVM on the photographs of Corel5k, after tables 4 and 5 of its paper.

Dense SIFT V3H1 and RGB V3H1, the paper's choice. Everything is chosen on 500 pictures held out of the
training part; the test part is looked at once, with what was chosen. "Gau" is the mean of the two exponential
chi-square kernels, widths of the mean distance, raised to a power (that is, narrower); "Pol" is the mean of
the two cosines, raised to a power.

    python benchmarks/joint_svm_experiment.py [--cache FOLDER] [--quick]
"""

import argparse
import time
import warnings
from dataclasses import asdict
from itertools import product

import numpy as np
from common import write_results

from tagrank import annotation_scores, load_dataset
from tagrank.estimators import JointSVM, LabelRanker, OneVsAllSVM, OnlineJointSVM
from tagrank.kernels import ChiSquared, Linear, Precomputed

FEATURES = ("dense_sift_v3h1", "rgb_v3h1")
GRAM = Precomputed(trusted=True)
POWERS = (1, 2, 4, 8, 16, 24, 32)
VARIANTS = {
    "JSVM": {"output_kernel": "linear"},
    "JSVM+Odd": {"output_kernel": "odds-ratio"},
    "JSVM+Pol(2)": {"output_kernel": "poly2"},
    "JSVM+Pol(3)": {"output_kernel": "poly3"},
}


def read_photographs(cache):
    """Views of all pictures, 0/1 labels and which pictures are for training."""
    from tagrank.annotation.describing import describe_pictures
    from tagrank.features import choose_features

    pictures = load_dataset("corel5k_images_260")
    train = describe_pictures(pictures.train, choose_features(list(FEATURES)), cache=cache)
    test = describe_pictures(pictures.test, train.features, cache=cache).collection
    parts = [train.collection, test]
    views = {}
    for name in FEATURES:
        rows = [part.view(name) for part in parts]
        views[name] = np.vstack([r.toarray() if hasattr(r, "toarray") else r for r in rows])
    Y = np.vstack([part.states() > 0 for part in parts]).astype(float)
    return views, Y, np.arange(len(Y)) < len(train.collection)


def draw_photographs(n_samples=260, n_labels=12):
    """Histograms that depend on their labels: to see that everything runs."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n_samples, n_labels)) < 0.2).astype(float)
    Y[np.arange(n_samples), rng.integers(0, n_labels, n_samples)] = 1
    views = {
        name: Y @ rng.random((n_labels, 30)) ** 4 + 0.3 * rng.random((n_samples, 30)) for name in FEATURES
    }
    return views, Y, np.arange(n_samples) < 200


def make_grams(views, rows):
    """Similarities of all pictures under both kernels, widths taken from `rows`."""
    chi_square = sum(ChiSquared().fit(X[rows])(X, X) for X in views.values()) / len(views)
    cosine = sum(Linear().unit_diagonal()(X, X) for X in views.values()) / len(views)
    return {"Gau": chi_square.astype(np.float32), "Pol": np.clip(cosine, 0, None).astype(np.float32)}


def plain(scores):
    return {key: float(value) for key, value in asdict(scores).items()}


class Bench:
    """One split: fits on some pictures, measures on others."""

    def __init__(self, grams, Y, fit, test):
        self.grams, self.Y, self.fit, self.test = grams, Y, fit, test
        counts = np.maximum(Y[fit].sum(axis=0), 1)
        self.rare = {label: float(np.sqrt(len(fit) / count)) for label, count in enumerate(counts)}

    def measure(self, estimator, kernel, power):
        """Times, and annotation scores for several numbers of tags."""
        K = self.grams[kernel][np.ix_(self.fit, self.fit)] ** power
        K_test = self.grams[kernel][np.ix_(self.test, self.fit)] ** power
        started = time.perf_counter()
        estimator.fit(K, self.Y[self.fit])
        trained = time.perf_counter()
        F = estimator.decision_function(K_test)
        tested = time.perf_counter()
        Y = self.Y[self.test]
        predictions = estimator.predict(K_test)
        answer = {f"top {k}": plain(annotation_scores(Y, F, n_tags=k)) for k in range(2, 8)}
        answer["predict"] = plain(annotation_scores(Y, predictions=predictions))
        answer["tags a picture in predict"] = float(predictions.sum(axis=1).mean())
        return {"train_seconds": trained - started, "test_seconds": tested - trained, **answer}


def choose(bench, name, candidates):
    """The candidate with the best F1 at five tags, and what all of them reached."""
    tried = []
    for make, kernel, power, settings in candidates:
        given = (
            {**settings, "class_weight": bench.rare} if settings.get("class_weight") == "rare" else settings
        )
        found = bench.measure(make(kernel=GRAM, random_state=0, **given), kernel, power)
        tried.append({"kernel": kernel, "power": power, **settings, "f1": found["top 5"]["f1"]})
    best = max(range(len(tried)), key=lambda i: tried[i]["f1"])
    print(f"{name:22} chosen {tried[best]}", flush=True)
    return candidates[best], tried


def plan(quick):
    """Name of each line of the tables to what is tried for it: (class, kernel, power, settings)."""
    powers = (1, 8) if quick else POWERS
    weights = (None, "rare")
    lines = {}
    for kernel in ("Gau", "Pol"):
        lines[f"Joint SVM ({kernel})"] = [
            (JointSVM, kernel, power, {"class_weight": weight}) for power, weight in product(powers, weights)
        ]
        lines[f"independent SVMs ({kernel})"] = [
            (OneVsAllSVM, kernel, power, {"C": C, "tol": 1e-2}) for power, C in product((1, 2), (1.0, 10.0))
        ]
    lines["MLR-L1 (Gau)"] = [
        (LabelRanker, "Gau", 1, {"C": C, "tol": 1e-2}) for C in ((1.0,) if quick else (1.0, 10.0))
    ]
    for name, settings in VARIANTS.items():
        lines[name] = [
            (JointSVM, "Gau", power, {**settings, "decoding": decoding, "class_weight": weight})
            for power, decoding, weight in product(powers[-4:], ("direct", "transfer"), weights)
        ]
    lines["JSVM-Per"] = [
        (OnlineJointSVM, "Gau", power, {"margin": margin})
        for power, margin in product(powers[-4:], (0.0, 0.05))
    ]
    lines["as published: +-1 labels"] = [
        (JointSVM, kernel, power, {"center": False, "decoding": decoding})
        for kernel, power, decoding in product(("Gau", "Pol"), (1, 2), ("direct", "transfer"))
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", help="folder of picture features; the user's cache by default")
    parser.add_argument("--quick", action="store_true", help="generated histograms, to see that it runs")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*never positive")
    warnings.filterwarnings("ignore", message=".*duality gap")
    views, Y, is_train = draw_photographs() if options.quick else read_photographs(options.cache or True)
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    shuffled = np.random.default_rng(0).permutation(train)
    n_held_out = min(500, len(train) // 4)
    grams = make_grams(views, train)
    inside, outside = (
        Bench(grams, Y, shuffled[n_held_out:], shuffled[:n_held_out]),
        Bench(grams, Y, train, test),
    )
    lines = []
    for name, candidates in plan(options.quick).items():
        (make, kernel, power, settings), tried = choose(inside, name, candidates)
        given = (
            {**settings, "class_weight": outside.rare} if settings.get("class_weight") == "rare" else settings
        )
        found = outside.measure(make(kernel=GRAM, random_state=0, **given), kernel, power)
        five = found["top 5"]
        print(
            f"{name:26} {found['train_seconds']:7.2f} s  {found['test_seconds']:6.2f} s  "
            + "  ".join(f"{key} {100 * five[key]:.1f}" for key in ("precision", "recall", "f1"))
            + f"  N+ {five['n_plus']:.0f}",
            flush=True,
        )
        lines.append(
            {
                "method": name,
                "chosen": {"kernel": kernel, "power": power, **settings},
                "tried": tried,
                **found,
            }
        )
    joint, alone = (
        next(line for line in lines if line["method"] == f"{name} (Gau)")
        for name in ("Joint SVM", "independent SVMs")
    )
    for line in lines:
        line["ratio_of_training_times"] = alone["train_seconds"] / line["train_seconds"]
    print(f"independent SVMs take {joint['ratio_of_training_times']:.1f} x as long to train as a joint SVM")
    write_results("joint_svm_experiment", lines)


if __name__ == "__main__":
    main()
