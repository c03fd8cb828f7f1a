"""BayesianNeighbors against scikit-multilearn-ng's MLkNN, and the search for neighbours in 100,000 rows.

- Fit and probabilities of the test part. MLkNN goes over samples and labels one by one; on delicious it is
  timed on some rows, and its time scaled to all. Probabilities are compared on these rows.
- search: the ten nearest of drawn rows (float32) among themselves, each left out of its own neighbours. The
  peer is scikit-learn's NearestNeighbors(algorithm="brute") on some of the rows, its time scaled to all.
"""

from importlib.util import find_spec

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from benchmarks.memory import PeakMemory
from tagrank import load_dataset
from tagrank.estimators import BayesianNeighbors
from tagrank.estimators.neighbours.distances import nearest_rows
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import dense, draw_rows
from tagrank_papers.text import show

MINUTES = 4
QUICK = {"case": (), "samples": 2000, "columns": 8, "peer_samples": 200}
WHOLE = {"emotions": None, "scene": None, "delicious": 500}  # rows on which the peer is timed
K = 10


def run(*, case=("emotions", "scene", "delicious"), samples=100_000, columns=128, peer_samples=2000):
    if case and find_spec("skmultilearn") is None:
        raise SystemExit("scikit-multilearn-ng is not installed: pip install '.[bench]', or name no --case")
    lines = [measure_search(samples, columns, peer_samples)]
    yield lines
    for name in case:
        lines.append(measure_posteriors(name, WHOLE[name]))
        yield lines


def measure_search(n_samples, n_columns, n_peer):
    X = np.random.default_rng(0).standard_normal((n_samples, n_columns), dtype=np.float32)
    nearest_rows(X[:1000], X[:1000], K, leave_one_out=True, n_jobs=2)  # compiles
    with PeakMemory() as memory:
        ours = best_time(nearest_rows, X, X, K, leave_one_out=True, n_jobs=2, repeats=1)
    peer = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(X)
    theirs = best_time(peer.kneighbors, X[:n_peer], return_distance=False, repeats=1)
    line = {
        "case": "search",
        "samples": n_samples,
        "columns": n_columns,
        "seconds": ours.seconds,
        "processor_seconds": ours.processor_seconds,
        "megabytes_beside_the_rows": (memory.peak - memory.before) / 2**20,
        "same_neighbours": float(np.mean(ours.answer[0][:n_peer] == theirs.answer[:, 1:])),
        "peer_seconds_scaled": theirs.seconds * n_samples / n_peer,
        "ratio": theirs.seconds * n_samples / n_peer / ours.seconds,
        "processor_ratio": theirs.processor_seconds * n_samples / n_peer / ours.processor_seconds,
    }
    show(line, *line)
    return line


def measure_posteriors(name, n_peer):
    from skmultilearn.adapt import MLkNN

    BayesianNeighbors().fit(*draw_rows(300, 4))  # compiles
    X, Y, Z = read(name)
    model = BayesianNeighbors(n_neighbors=K, n_jobs=2)
    fit = best_time(model.fit, X, Y, repeats=1)
    predict = best_time(model.predict_proba, Z, repeats=1)
    n_fit, n_predict = min(X.shape[0], n_peer or X.shape[0]), min(Z.shape[0], n_peer or Z.shape[0])
    peer = MLkNN(k=K, ignore_first_neighbours=1)
    peer_fit = best_time(peer.fit, X[:n_fit], Y[:n_fit], repeats=1)
    peer.ignore_first_neighbours = 0  # it would skip the nearest of new samples, too
    peer_predict = best_time(peer.predict_proba, Z[:n_predict], repeats=1)
    ours = BayesianNeighbors(n_neighbors=K).fit(X[:n_fit], Y[:n_fit]).predict_proba(Z[:n_predict])
    known = Y[:n_fit].any(axis=0)  # ours gives labels that were never present no chance
    differences = np.abs(ours - peer_predict.answer.toarray())[:, known]
    by_rows, by_others = X.shape[0] / n_fit, Z.shape[0] / n_predict

    def ratio(kind):
        peer_total = peer_fit[kind] * by_rows + peer_predict[kind] * by_others
        return peer_total / (fit[kind] + predict[kind])

    line = {
        "case": name,
        "samples": X.shape[0],
        "labels": Y.shape[1],
        "fit_seconds": fit.seconds,
        "predict_seconds": predict.seconds,
        "processor_seconds": fit.processor_seconds + predict.processor_seconds,
        "peer_rows": n_fit,
        "peer_fit_seconds_scaled": peer_fit.seconds * by_rows,
        "peer_predict_seconds_scaled": peer_predict.seconds * by_others,
        "ratio": ratio(0),
        "processor_ratio": ratio(1),
        "largest_difference": float(differences.max()),
        "samples_that_differ": int(np.sum(np.any(differences > 1e-12, axis=1))),
    }
    show(line, *line)
    return line


def read(name):
    """Training rows and labels, and test rows."""
    whole = load_dataset(name)
    X, Z = whole.train.X, whole.test.X
    if not sparse.issparse(X):
        X, Z = dense(X), dense(Z)
    return X, dense(whole.train.Y).astype(int), Z
