"""PriorMarginClassifier(kernel="linear") with a dense prior on rows shaped like RCV1, against LinearSVC.

The rows are drawn: 781,265 x 47,236, 76 words each with Zipf frequencies, half of them from the topics of the
document; 103 labels in a tree, a topic implies its ancestors. The prior is the correlation of the labels of
documents that are not trained on. The peer knows no prior: LinearSVC (hinge loss, no bias, cost 2 C) trains
one label after another at its default tolerance. It is measured on a few labels, the middles of equal parts
of the list by frequency, and its time is scaled to all labels. The same labels tell how far its objective is
from ours with prior="identity", which is its problem. --scale is the share of the rows.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.memory import PeakMemory
from tagrank.estimators import PriorMarginClassifier, correlation_prior
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import join_unit_rows
from tagrank_papers.text import show

MINUTES = 10
QUICK = {"scale": 0.0005, "peer_labels": 1}
N_SAMPLES, N_FEATURES, N_WORDS, N_LABELS = 781_265, 47_236, 76, 103
N_FOR_PRIOR = 20_000
N_ROOTS, WORDS_OF_TOPIC, CHUNK = 4, 300, 20_000


def run(*, scale=1.0, C=1.0, tol=1e-2, jobs=2, peer_labels=5):
    corpus = Corpus()
    _, labels_for_prior = corpus.draw(max(200, round(scale * N_FOR_PRIOR)))
    X, Y = corpus.draw(round(scale * N_SAMPLES))
    print(f"{X.shape[0]} rows, {X.nnz / X.shape[0]:.1f} words and {Y.sum() / len(Y):.2f} labels a row")
    R = correlation_prior(labels_for_prior)
    off_diagonal = np.abs(R[~np.eye(len(R), dtype=bool)])
    print(f"prior: mean |R_lk| {off_diagonal.mean():.3f}, largest {off_diagonal.max():.2f}")
    compile_first(X, Y, R)
    lines, settings = [], {"scale": scale, "C": C, "tol": tol, "rows": X.shape[0]}
    for name, prior in (("dense prior", R), ("identity", "identity")):
        model = PriorMarginClassifier(C, prior=prior, kernel="linear", tol=tol, n_jobs=jobs, random_state=0)
        lines.append({"prior": name, **settings, **train(model, X, Y)})
    peer = compare(X, Y, C, peer_labels, model)
    for line in lines:
        line |= peer | {"ratio": peer["peer_seconds_scaled"] / line["seconds"]}
        show(line, *line)
    yield lines


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
        return join_unit_rows(rows)


def _draw_tree(rng, n_labels):
    """Which labels a topic implies, itself among them: bool, shape (n_labels, n_labels)."""
    implied = np.eye(n_labels, dtype=bool)
    for topic in range(N_ROOTS, n_labels):
        parent = rng.integers(0, min(topic, N_ROOTS + n_labels // 4))
        implied[topic] |= implied[parent]
    return implied


def compile_first(X, Y, R):
    """Compilation is not what is measured."""
    PriorMarginClassifier(prior=R, kernel="linear", tol=1e-2).fit(X[:300], np.roll(Y[:300], 1, axis=0))


def train(model, X, Y):
    """Time, memory and certificate of one training."""

    def say(point):
        print(f"   pass {point.n_iter:3d} {point.seconds:7.1f} s  gap {point.gap:.2e}")

    with PeakMemory() as memory:
        timing = best_time(model.fit, X, Y, callback=say, repeats=1)
    return {
        "seconds": timing.seconds,
        "cpu_seconds": timing.processor_seconds,
        "passes": model.n_iter_,
        "gap": float(model.duality_gap_),
        "peak_gib": memory.peak / 2**30,
    }


def compare(X, Y, C, n_labels, model):
    """Times of the peer, scaled from `n_labels`, and our objective with prior="identity" beside its."""
    by_frequency = np.argsort(-Y.sum(axis=0), kind="stable")
    places = (np.arange(n_labels) + 0.5) / n_labels
    labels = by_frequency[(places * np.count_nonzero(Y.any(axis=0))).astype(int)]
    timings = train_peer(X.astype(np.float64), Y, labels, C)
    ours, theirs = (
        sum(objective(X, Y[:, k], w, 2 * C) for k, w in zip(labels, weights, strict=True))
        for weights in (model.coef_[labels], [timing.answer.coef_[0] for timing in timings])
    )
    return {
        "peer_seconds_scaled": float(np.mean([timing.seconds for timing in timings]) * N_LABELS),
        "peer_cpu_seconds_scaled": float(np.mean([t.processor_seconds for t in timings]) * N_LABELS),
        "peer_labels": labels.tolist(),
        "identity_objective_over_peer": ours / theirs - 1,
    }


def train_peer(X, Y, labels, C):
    """Timings of the machine of each label."""
    timings = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        for label in labels:
            machine = LinearSVC(loss="hinge", C=2 * C, fit_intercept=False, random_state=0)
            timings.append(best_time(machine.fit, X, Y[:, label], repeats=1))
            print(f"   LinearSVC, label {label}: {timings[-1].seconds:.1f} s, {machine.n_iter_} passes")
    return timings


def objective(X, present, coef, cost):
    """1/2 |w|^2 + cost * hinge losses, of one label."""
    margins = np.where(present, 1, -1) * (X @ coef)
    return float(coef @ coef / 2 + cost * np.maximum(0, 1 - margins).sum())
