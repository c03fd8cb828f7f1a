"""OneVsAllSVM(kernel="linear") on sparse rows against LinearSVC, one label at a time.

The rows look like RCV1: 50,000 x 47,236, 76 words each with Zipf frequencies, half of them from the topics of
the document; 103 labels. Both solve the same problem (hinge loss, no bias). The peer runs at its default
tolerance; ours stops when its primal objective is within 0.2 % of the peer's, and that is checked.

    python benchmarks/linear_training.py [--samples 50000] [--labels 103] [--peer-labels 103]
"""

import argparse
import warnings

import numpy as np
from common import best_time, write_results
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from tagrank import OneVsAllSVM

ALLOWED = 0.002


def draw_documents(n_samples, n_labels, *, n_features=47_236, n_words=76, n_topics=3, seed=0):
    """Unit rows with `n_words` words each, and 0/1 labels: the topics, 0.3 % of the entries flipped."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, n_labels, (n_samples, n_topics))
    frequency = np.cumsum(1 / np.arange(1, n_features + 1) ** 0.9)
    n_common = n_words // 2
    common = np.searchsorted(frequency, frequency[-1] * rng.random((n_samples, n_common)))
    words_of_topic = rng.permutation(n_features)[: n_labels * 300].reshape(n_labels, 300)
    chosen = np.take_along_axis(topics, rng.integers(0, n_topics, (n_samples, n_words - n_common)), axis=1)
    own = words_of_topic[chosen, (300 * rng.random(chosen.shape) ** 2).astype(int)]
    words = np.minimum(np.hstack([common, own]), n_features - 1).astype(np.int32)
    X = sparse.csr_array(
        (rng.random(words.size) + 0.2, words.ravel(), np.arange(0, words.size + 1, n_words, dtype=np.int32)),
        shape=(n_samples, n_features),
    )
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    Y = np.zeros((n_samples, n_labels))
    np.put_along_axis(Y, topics, 1, axis=1)
    flipped = rng.random(Y.shape) < 0.003
    return X, np.where(flipped, 1 - Y, Y)


def primal_objective(X, Y, coef, C):
    """Sum over labels of 1/2 |w|^2 + C sum of hinge losses."""
    signs = np.where(Y > 0, 1.0, -1.0)
    return float(np.sum(coef**2) / 2 + C * np.maximum(0, 1 - signs * (X @ coef.T)).sum())


def train_peer(X, Y, C):
    return np.vstack(
        [LinearSVC(loss="hinge", C=C, fit_intercept=False).fit(X, column).coef_ for column in Y.T]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--labels", type=int, default=103)
    parser.add_argument("--peer-labels", type=int, help="how many labels the peer trains; its time is scaled")
    parser.add_argument("--C", type=float, default=1.0)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    X, Y = draw_documents(options.samples, options.labels)
    OneVsAllSVM(kernel="linear", tol=1e-2).fit(*draw_documents(200, options.labels))
    n_peer = options.peer_labels or options.labels
    peer_seconds, coef = best_time(lambda: train_peer(X, Y[:, :n_peer], options.C), repeats=1)
    peer_seconds *= options.labels / n_peer
    target = primal_objective(X, Y[:, :n_peer], coef, options.C)
    print(f"LinearSVC, label by label: {peer_seconds:.2f} s, primal objective {target:.2f}")
    lines = []
    for n_jobs in (1, 2):
        for tol in (1e-2, 5e-3, 2e-3, 1e-3):
            ours = OneVsAllSVM(options.C, kernel="linear", tol=tol, random_state=0, n_jobs=n_jobs)
            seconds, ours = best_time(lambda: ours.fit(X, Y))  # noqa: B023
            excess = primal_objective(X, Y[:, :n_peer], ours.coef_[:n_peer], options.C) / target - 1
            lines.append(
                {
                    "n_jobs": n_jobs,
                    "tol": tol,
                    "seconds": seconds,
                    "gap": ours.duality_gap_,
                    "passes": ours.n_iter_,
                    "excess_over_peer": excess,
                    "peer_seconds": peer_seconds,
                    "ratio": peer_seconds / seconds,
                }
            )
            verdict = "same objective" if excess <= ALLOWED else "not yet the same objective"
            print(
                f"OneVsAllSVM n_jobs={n_jobs} tol={tol:g}: {seconds:.2f} s, gap {ours.duality_gap_:.1e}, "
                f"objective {100 * excess:+.2f} % of the peer's ({verdict}), {peer_seconds / seconds:.1f} x",
                flush=True,
            )
            if excess <= ALLOWED:
                break
    write_results("linear_training", lines)


if __name__ == "__main__":
    main()
