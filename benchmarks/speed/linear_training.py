"""OneVsAllSVM(kernel="linear") on sparse rows against LinearSVC, one label at a time.

The rows look like RCV1: 50,000 x 47,236, 76 words each with Zipf frequencies, half of them from the topics of
the document; 103 labels. Both solve the same problem (hinge loss, no bias). The peer runs at its default
tolerance; ours stops when its primal objective is within 0.2 % of the peer's, and that is checked. With
fewer --peer-labels the time of the peer is scaled.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from tagrank import OneVsAllSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import join_unit_rows
from tagrank_papers.text import show

MINUTES = 2
QUICK = {"samples": 300, "labels": 17, "peer_labels": 3}
ALLOWED = 0.002


def run(*, samples=50_000, labels=103, peer_labels=103, C=1.0):
    X, Y = draw_documents(samples, labels)
    OneVsAllSVM(kernel="linear", tol=1e-2).fit(*draw_documents(200, labels))
    peer = best_time(train_peer, X, Y[:, :peer_labels], C, repeats=1)
    peer_seconds = peer.seconds * labels / peer_labels
    target = primal_objective(X, Y[:, :peer_labels], peer.answer, C)
    print(f"LinearSVC, label by label: {peer_seconds:.2f} s, primal objective {target:.2f}")
    lines = []
    for n_jobs in (1, 2):
        for tol in (1e-2, 5e-3, 2e-3, 1e-3):
            ours = OneVsAllSVM(C, kernel="linear", tol=tol, random_state=0, n_jobs=n_jobs)
            seconds, _, ours = best_time(ours.fit, X, Y)
            reached = primal_objective(X, Y[:, :peer_labels], ours.coef_[:peer_labels], C)
            line = {
                "n_jobs": n_jobs,
                "tol": tol,
                "seconds": seconds,
                "gap": ours.duality_gap_,
                "passes": ours.n_iter_,
                "excess_over_peer": reached / target - 1,
                "peer_seconds": peer_seconds,
                "ratio": peer_seconds / seconds,
            }
            show(line, *line)
            lines.append(line)
            if line["excess_over_peer"] <= ALLOWED:
                break
    yield lines


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
    values, starts = rng.random(words.size) + 0.2, np.arange(0, words.size + 1, n_words, dtype=np.int32)
    X = join_unit_rows(sparse.csr_array((values, words.ravel(), starts), shape=(n_samples, n_features)))
    Y = np.zeros((n_samples, n_labels))
    np.put_along_axis(Y, topics, 1, axis=1)
    flipped = rng.random(Y.shape) < 0.003
    return X, np.where(flipped, 1 - Y, Y)


def primal_objective(X, Y, coef, C):
    """Sum over labels of 1/2 |w|^2 + C sum of hinge losses."""
    signs = np.where(Y > 0, 1.0, -1.0)
    return float(np.sum(coef**2) / 2 + C * np.maximum(0, 1 - signs * (X @ coef.T)).sum())


def train_peer(X, Y, C):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        machines = [LinearSVC(loss="hinge", C=C, fit_intercept=False).fit(X, column) for column in Y.T]
    return np.vstack([machine.coef_ for machine in machines])
