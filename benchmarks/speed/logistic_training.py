"""OneVsAllLogistic on sparse rows against liblinear, and on a Gram matrix against OneVsAllSVM.

Rows: those of `linear_training`, 50,000 x 47,236 with 103 labels; the peer is scikit-learn's
LogisticRegression(solver="liblinear"), one label at a time, at its default tolerance. Both solve the same
problem, with a constant feature. The peer learns the first --peer-labels only, and its time is scaled; ours
stops when its primal objective on these is within 0.1 % of the peer's, and that is checked.

Gram matrix: 4,500 drawn samples with 260 labels; the peer is OneVsAllSVM at the same C and tol. Both are as
they are by default, ours with an intercept.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.speed.linear_training import draw_documents
from tagrank import OneVsAllLogistic, OneVsAllSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_problem
from tagrank_papers.text import show

MINUTES = 3
QUICK = {
    "samples": 300, "labels": 17, "peer_labels": 3, "gram_samples": 300, "gram_labels": 10, "C": (1.0,),
}  # fmt: skip
ALLOWED = 0.001
NOISE = {"drawn": 0.5, "noisy": 2.0}  # as in `gram_training`


def run(
    *, samples=50_000, labels=103, peer_labels=8, gram_samples=4500, gram_labels=260, C=(1.0, 10.0), tol=1e-3
):
    OneVsAllLogistic(kernel="linear", tol=1e-2).fit(*draw_documents(200, labels))
    lines = []
    X, Y = draw_documents(samples, labels)
    for cost in C:
        lines += compare_rows(X, Y, cost, peer_labels)
        yield lines
    for n_samples in (300, 1000):  # compiles; large problems take another way than small ones
        K, Y = draw_problem(n_samples, 8)
        for Estimator in (OneVsAllSVM, OneVsAllLogistic):
            Estimator(kernel="precomputed", tol=1e-2).fit(K.astype(np.float32), Y)
    for case, noise in NOISE.items():
        K, Y = draw_problem(gram_samples, gram_labels, noise=noise)
        for cost in C:
            lines.append(compare_gram(case, K.astype(np.float32), Y, cost, tol))
            yield lines


def compare_rows(X, Y, C, n_labels):
    """Lines: ours with 1 and 2 threads, each to the objective of the peer."""
    peer = best_time(train_peer, X, Y[:, :n_labels], C, repeats=1)
    peer_seconds = peer.seconds * Y.shape[1] / n_labels
    target = primal_objective(X, Y[:, :n_labels], *peer.answer, C)
    print(f"liblinear, label by label: C {C:g}, {peer_seconds:.1f} s, primal objective {target:.2f}")
    for n_jobs in (1, 2):
        for tol in (1e-2, 1e-3, 1e-4):
            ours = OneVsAllLogistic(C, kernel="linear", tol=tol, random_state=0, n_jobs=n_jobs)
            seconds, _, ours = best_time(ours.fit, X, Y)
            weights = ours.coef_[:n_labels], ours.intercept_[:n_labels]
            line = {
                "case": "sparse rows",
                "C": C,
                "n_jobs": n_jobs,
                "tol": tol,
                "seconds": seconds,
                "gap": ours.duality_gap_,
                "passes": ours.n_iter_,
                "excess_over_peer": primal_objective(X, Y[:, :n_labels], *weights, C) / target - 1,
                "peer_seconds": peer_seconds,
                "ratio": peer_seconds / seconds,
            }
            show(line, *line)
            yield line
            if line["excess_over_peer"] <= ALLOWED:
                break


def compare_gram(case, K, Y, C, tol):
    """A line: what a fit costs in fits of support vector machines."""
    options = {"C": C, "kernel": "precomputed", "tol": tol, "random_state": 0, "n_jobs": 2}
    peer = best_time(OneVsAllSVM(**options).fit, K, Y)
    ours = best_time(OneVsAllLogistic(**options).fit, K, Y)
    line = {
        "case": f"Gram matrix, {case}",
        "C": C,
        "tol": tol,
        "seconds": ours.seconds,
        "gap": ours.answer.duality_gap_,
        "passes": ours.answer.n_iter_,
        "peer_seconds": peer.seconds,
        "peer_passes": peer.answer.n_iter_,
        "ratio_to_one_vs_all_svm": ours.seconds / peer.seconds,
    }
    show(line, *line)
    return line


def primal_objective(X, Y, coef, intercept, C):
    """Sum over labels of 1/2 |w|^2 + C sum of logistic losses; the intercept is regularised too."""
    margins = np.where(Y > 0, 1.0, -1.0) * (X @ coef.T + intercept)
    return float(np.sum(coef**2) / 2 + np.sum(intercept**2) / 2 + C * np.logaddexp(0, -margins).sum())


def train_peer(X, Y, C):
    """Weights (n_labels, n_features) and intercepts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        models = [LogisticRegression(C=C, solver="liblinear").fit(X, column) for column in Y.T]
    return np.vstack([model.coef_ for model in models]), np.hstack([model.intercept_ for model in models])
