"""PriorMarginClassifier(kernel="linear") with a dense prior on rows shaped like RCV1, against LinearSVC.

The rows are drawn: 781,265 x 47,236, 76 words each with Zipf frequencies, half of them from the topics of the
document; 103 labels in a tree, a topic implies its ancestors. The prior is the correlation of the labels of
documents that are not trained on. The peer knows no prior: LinearSVC (hinge loss, no bias, cost 2 C) trains
one label after another at its default tolerance. It is measured on a few labels, the middles of equal parts
of the list by frequency, and its time is scaled to all labels. The same labels tell how far its objective is
from ours with prior="identity", which is its problem.

    python benchmarks/prior_margin.py [--scale 1.0] [--C 1.0] [--tol 0.01] [--peer-labels 5]
"""

import argparse
import time
import warnings

import numpy as np
from common import PeakMemory, write_results
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from tagrank.estimators.classification.prior_margin import PriorMarginClassifier
from tagrank.estimators.classification.priors import correlation_prior

N_SAMPLES, N_FEATURES, N_WORDS, N_LABELS = 781_265, 47_236, 76, 103
N_FOR_PRIOR = 20_000
N_ROOTS, WORDS_OF_TOPIC, CHUNK = 4, 300, 20_000


class Corpus:
    """Draws documents: unit rows (CSR, float32) and their labels (bool)."""

    def __init__(self, n_features=N_FEATURES, n_labels=N_LABELS, seed=0):
        self.rng = rng = np.random.default_rng(seed)
        self.n_features, self.n_labels = n_features, n_labels
        self.ancestors = _draw_tree(rng, n_labels)
        self.topic_frequency = np.cumsum(1 / np.arange(2, n_labels + 2))
        self.word_frequency = np.cumsum(1 / np.arange(1, n_features + 1) ** 0.9)
        self.words_of_topic = rng.integers(0, n_features, (n_labels, WORDS_OF_TOPIC))

    def draw(self, n_samples):
        parts = [self._draw(min(CHUNK, n_samples - start)) for start in range(0, n_samples, CHUNK)]
        rows, labels = zip(*parts, strict=True)
        return sparse.vstack(rows, format="csr"), np.concatenate(labels)

    def _draw(self, n_samples):
        rng = self.rng
        chosen = rng.random((n_samples, 2)) * self.topic_frequency[-1]
        topics = self.n_labels - 1 - np.searchsorted(self.topic_frequency, chosen)
        labels = self.ancestors[topics[:, 0]].copy()
        has_second = rng.random(n_samples) < 0.3
        labels[has_second] |= self.ancestors[topics[has_second, 1]]
        topics[~has_second, 1] = topics[~has_second, 0]
        rows = self._words(topics)
        flipped = rng.random(labels.shape) < 0.001
        return rows, labels ^ flipped

    def _words(self, topics):
        rng, n_samples = self.rng, len(topics)
        n_common = N_WORDS // 2
        common = rng.random((n_samples, n_common)) * self.word_frequency[-1]
        common = np.searchsorted(self.word_frequency, common)
        of_topic = np.take_along_axis(topics, rng.integers(0, 2, (n_samples, N_WORDS - n_common)), axis=1)
        places = (WORDS_OF_TOPIC * rng.random(of_topic.shape) ** 2).astype(int)
        words = np.hstack([common, self.words_of_topic[of_topic, places]]).astype(np.int32)
        values = rng.random(words.size, dtype=np.float32) + np.float32(0.2)
        starts = np.arange(0, words.size + 1, N_WORDS, dtype=np.int32)
        rows = sparse.csr_array((values, words.ravel(), starts), shape=(n_samples, self.n_features))
        rows.sum_duplicates()
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows.data /= np.repeat(norms, np.diff(rows.indptr)).astype(np.float32)
        return rows


def _draw_tree(rng, n_labels):
    """Which labels a topic implies, itself among them: bool, shape (n_labels, n_labels)."""
    implied = np.eye(n_labels, dtype=bool)
    for topic in range(N_ROOTS, n_labels):
        parent = rng.integers(0, min(topic, N_ROOTS + n_labels // 4))
        implied[topic] |= implied[parent]
    return implied


def train(X, Y, prior, options):
    """Time, memory and certificate of one training, and the model."""

    def say(point):
        print(f"   pass {point.n_iter:3d} {point.seconds:7.1f} s  gap {point.gap:.2e}", flush=True)

    model = PriorMarginClassifier(
        options.C, prior=prior, kernel="linear", tol=options.tol, n_jobs=options.jobs, random_state=0
    )
    with PeakMemory() as memory:
        start, start_cpu = time.perf_counter(), time.process_time()
        model.fit(X, Y, callback=say)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    line = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "passes": model.n_iter_,
        "gap": float(model.duality_gap_),
        "peak_gib": memory.peak / 2**30,
    }
    return line, model


def objective(X, present, coef, cost):
    """1/2 |w|^2 + cost * hinge losses, of one label."""
    margins = np.where(present, 1, -1) * (X @ coef)
    return float(coef @ coef / 2 + cost * np.maximum(0, 1 - margins).sum())


def train_peer(X, Y, labels, C):
    """Seconds of each label and of the processor, and the weights."""
    seconds, cpu_seconds, weights = [], [], []
    for label in labels:
        start, start_cpu = time.perf_counter(), time.process_time()
        machine = LinearSVC(loss="hinge", C=2 * C, fit_intercept=False, random_state=0).fit(X, Y[:, label])
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - start_cpu)
        weights.append(machine.coef_[0])
        print(f"   LinearSVC, label {label}: {seconds[-1]:.1f} s, {machine.n_iter_} passes", flush=True)
    return seconds, cpu_seconds, weights


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 781,265 rows")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--peer-labels", type=int, default=5, help="how many labels the peer trains")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    corpus = Corpus()
    _, labels_for_prior = corpus.draw(max(200, round(options.scale * N_FOR_PRIOR)))
    X, Y = corpus.draw(round(options.scale * N_SAMPLES))
    print(f"{X.shape[0]} rows, {X.nnz / X.shape[0]:.1f} words and {Y.sum() / len(Y):.2f} labels a row")
    R = correlation_prior(labels_for_prior)
    off_diagonal = np.abs(R[~np.eye(len(R), dtype=bool)])
    print(f"prior: mean |R_lk| {off_diagonal.mean():.3f}, largest {off_diagonal.max():.2f}")
    compile_first(X, Y, R)
    lines = {}
    for name, prior in (("dense prior", R), ("identity", "identity")):
        lines[name], model = train(X, Y, prior, options)
        print(f"{name}: {lines[name]}", flush=True)
    if options.peer_labels:
        by_frequency = np.argsort(-Y.sum(axis=0), kind="stable")
        n_present = np.count_nonzero(Y.any(axis=0))
        places = (np.arange(options.peer_labels) + 0.5) / options.peer_labels
        labels = by_frequency[(places * n_present).astype(int)]
        seconds, cpu_seconds, weights = train_peer(X.astype(np.float64), Y, labels, options.C)
        theirs = sum(objective(X, Y[:, k], w, 2 * options.C) for k, w in zip(labels, weights, strict=True))
        ours = sum(objective(X, Y[:, k], model.coef_[k], 2 * options.C) for k in labels)
        peer_seconds = float(np.mean(seconds) * N_LABELS)
        print(f"LinearSVC: {peer_seconds:.0f} s for all labels, scaled from {len(labels)}")
        print(f"with prior='identity' our objective is {100 * (ours / theirs - 1):+.2f} % of the peer's")
        for line in lines.values():
            line |= {"peer_seconds_scaled": peer_seconds, "ratio": peer_seconds / line["seconds"]}
            line |= {"peer_cpu_seconds_scaled": float(np.mean(cpu_seconds) * N_LABELS)}
            line |= {"peer_labels": labels.tolist(), "identity_objective_over_peer": ours / theirs - 1}
            print(f"ratio {line['ratio']:.1f}")
    settings = {"scale": options.scale, "C": options.C, "tol": options.tol, "rows": X.shape[0]}
    write_results("prior_margin", [{"prior": name, **settings, **line} for name, line in lines.items()])


def compile_first(X, Y, R):
    """Compilation is not what is measured."""
    PriorMarginClassifier(prior=R, kernel="linear", tol=1e-2).fit(X[:300], np.roll(Y[:300], 1, axis=0))


if __name__ == "__main__":
    main()
