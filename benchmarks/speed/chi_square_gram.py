"""Chi-square distances of all pairs of histograms against scikit-learn's `additive_chi2_kernel`.

Both compute the same exact symmetric matrix from the same data in the same run; scikit-learn uses one thread.
Also timed: `ChiSquared().fit_gram`, which adds the width and the exponential.
"""

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel

from tagrank.kernels import ChiSquared
from tagrank.kernels.gram import evaluate
from tagrank_papers.measuring import best_time
from tagrank_papers.text import show

MINUTES = 2
QUICK = {"samples": 60, "features": 20}


def run(*, samples=3000, features=1000):
    lines = []
    for dtype in (np.float32, np.float64):
        for zeros in (0.0, 0.6):
            X = draw_histograms(samples, features, zeros=zeros, dtype=dtype)
            lines += [{"dtype": np.dtype(dtype).name, "zeros": zeros, **line} for line in compare(X)]
    yield {"n_samples": samples, "n_features": features, "lines": lines}


def draw_histograms(n_samples, n_features, *, zeros, dtype):
    """Rows of non-negative numbers that sum to one, a share `zeros` of them empty."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(n_samples, n_features))
    X[rng.random(X.shape) < zeros] = 0
    return (X / X.sum(axis=1, keepdims=True)).astype(dtype)


def compare(X):
    """One line of the table for each number of threads."""
    kernel = ChiSquared()
    peer = best_time(additive_chi2_kernel, X, repeats=1)
    for n_jobs in (1, 2):
        evaluate(kernel.distances, X[:2], n_jobs=n_jobs)
        ours = best_time(evaluate, kernel.distances, X, n_jobs=n_jobs)
        difference = np.abs(ours.answer + peer.answer).max() / np.abs(peer.answer).max()
        line = {
            "n_jobs": n_jobs,
            "sklearn_seconds": peer.seconds,
            "seconds": ours.seconds,
            "ratio": peer.seconds / ours.seconds,
            "kernel_seconds": best_time(kernel.fit_gram, X, n_jobs=n_jobs).seconds,
            "largest_difference": float(difference),
        }
        show(line, *line)
        yield line
