"""OneVsAllLogistic and OneVsAllSVM on many dense rows against scikit-learn's lbfgs and LIBLINEAR.

Rows are drawn: latent factors and noise, each label a half-space of them, rarer from label to label.
All solve the same problem with an intercept that is penalised like the weights. The peers run on a few labels
and are scaled to all, at tolerances at which their objective is about ours (excess_over_peer).
With --device cuda the rows are worked on by a GPU, and no peer is timed.
"""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from tagrank import OneVsAllLogistic, OneVsAllSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.text import show

MINUTES = 2
QUICK = {"samples": 4_000, "columns": 12, "labels": 5, "peer_labels": 2, "costs": (0.1,)}
LOSSES = {"logistic": (OneVsAllLogistic, 1e-3), "hinge": (OneVsAllSVM, 1e-2)}


def run(*, samples=20_000, columns=256, labels=100, peer_labels=2, costs=(0.01, 1.0), device=None):
    X, Y = draw_rows(samples, columns, labels)
    lines = []
    for loss, (kind, tol) in LOSSES.items():
        options = {"kernel": "linear", "fit_intercept": True, "engine": "primal", "random_state": 0}
        for cost in costs:
            ours = kind(cost, tol=tol, device=device, **options)
            ours.fit(X[:2000], Y[:2000])  # compiled, and the device awake
            seconds, _, ours = best_time(ours.fit, X, Y, repeats=1)
            line = {
                "loss": loss,
                "C": cost,
                "samples": samples,
                "columns": columns,
                "labels": labels,
                "seconds": seconds,
                "gap": ours.duality_gap_,
                "steps": ours.n_iter_,
                "device": device or "processor",
            }
            if device is None and peer_labels:
                line |= time_peer(loss, X, Y[:, :peer_labels], cost, ours, labels)
                line["ratio"] = line["peer_seconds"] / seconds
            show(line, *line)
            lines.append(line)
    yield lines


def time_peer(loss, X, Y, cost, ours, n_labels):
    """Seconds of the peer for all labels, scaled from some, and its objective beside ours."""
    signs = np.where(Y > 0, 1.0, -1.0)
    ones = np.hstack([X, np.ones((len(X), 1), X.dtype)]).astype(np.float64)
    weights, started = [], time.perf_counter()
    for column in signs.T:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", FutureWarning)
            peer = (
                LogisticRegression(C=cost, tol=1e-3, max_iter=2000, fit_intercept=False)
                if loss == "logistic"
                else LinearSVC(C=cost, loss="hinge", tol=1e-2, max_iter=1000, fit_intercept=False)
            )
            weights.append(peer.fit(ones, column).coef_[0])
    seconds = time.perf_counter() - started
    mine = np.hstack([ours.coef_, ours.intercept_[:, None]])[: Y.shape[1]]
    its = primal_objective(loss, ones, signs, np.array(weights), cost)
    return {
        "peer": "lbfgs" if loss == "logistic" else "LIBLINEAR",
        "peer_seconds": seconds * n_labels / Y.shape[1],
        "excess_over_peer": primal_objective(loss, ones, signs, mine, cost) / its - 1,
    }


def draw_rows(n_samples, n_columns, n_labels, *, n_factors=40, noise=0.5, seed=0):
    """float32 rows of mean 0 and deviation 1, and 0/1 labels with a structure that rows can learn."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_samples, min(n_factors, n_columns)), dtype=np.float32)
    loadings = rng.standard_normal((factors.shape[1], n_columns), dtype=np.float32)
    loadings /= np.sqrt(np.arange(1, len(loadings) + 1, dtype=np.float32))[:, None]
    X = factors @ loadings
    X += noise * rng.standard_normal(X.shape, dtype=np.float32)
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    directions = rng.standard_normal((n_columns, n_labels), dtype=np.float32) / np.sqrt(n_columns)
    strength = X @ directions
    strength += 0.3 * strength.std() * rng.standard_normal(strength.shape, dtype=np.float32)
    shares = 0.3 / np.arange(1, n_labels + 1) ** 0.7
    least = [np.quantile(column, 1 - share) for column, share in zip(strength.T, shares, strict=True)]
    return X, (strength > np.array(least)).astype(np.float32)


def primal_objective(loss, X, signs, weights, cost):
    """Sum over labels of 1/2 |w|^2 + C sum of losses."""
    margins = signs * (X @ weights.T)
    losses = np.logaddexp(0, -margins) if loss == "logistic" else np.maximum(0, 1 - margins)
    return float(np.sum(weights.astype(np.float64) ** 2) / 2 + cost * losses.sum())
