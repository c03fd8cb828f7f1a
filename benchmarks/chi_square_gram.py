"""Chi-square distances of all pairs of histograms against scikit-learn's `additive_chi2_kernel`.

Both compute the same exact symmetric matrix from the same data in the same run; scikit-learn uses one thread.
Also timed: `ChiSquared().fit_gram`, which adds the width and the exponential.

    python benchmarks/chi_square_gram.py [--samples 3000] [--features 1000]
"""

import argparse

import numpy as np
from common import best_time, write_results
from sklearn.metrics.pairwise import additive_chi2_kernel

from tagrank.kernels import ChiSquared
from tagrank.kernels.gram import evaluate


def draw_histograms(n_samples, n_features, *, zeros, dtype):
    """Rows of non-negative numbers that sum to one, a share `zeros` of them empty."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(n_samples, n_features))
    X[rng.random(X.shape) < zeros] = 0
    return (X / X.sum(axis=1, keepdims=True)).astype(dtype)


def compare(n_samples, n_features, *, zeros, dtype):
    """One line of the table for each number of threads."""
    X = draw_histograms(n_samples, n_features, zeros=zeros, dtype=dtype)
    kernel = ChiSquared()
    peer_seconds, peer = best_time(lambda: additive_chi2_kernel(X), repeats=1)
    for n_jobs in (1, 2):
        evaluate(kernel.distances, X[:2], n_jobs=n_jobs)
        seconds, distances = best_time(lambda: evaluate(kernel.distances, X, n_jobs=n_jobs))  # noqa: B023
        kernel_seconds, _ = best_time(lambda: kernel.fit_gram(X, n_jobs=n_jobs))  # noqa: B023
        yield {
            "dtype": np.dtype(dtype).name,
            "zeros": zeros,
            "n_jobs": n_jobs,
            "sklearn_seconds": peer_seconds,
            "seconds": seconds,
            "ratio": peer_seconds / seconds,
            "kernel_seconds": kernel_seconds,
            "largest_difference": float(np.abs(distances + peer).max() / np.abs(peer).max()),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--features", type=int, default=1000)
    options = parser.parse_args()
    print("dtype    zeros n_jobs  sklearn s   ours s   ratio  with exp s  difference")
    lines = []
    for dtype in (np.float32, np.float64):
        for zeros in (0.0, 0.6):
            for line in compare(options.samples, options.features, zeros=zeros, dtype=dtype):
                lines.append(line)
                print(
                    "{dtype:8} {zeros:5.1f} {n_jobs:6d} {sklearn_seconds:10.2f} {seconds:8.3f} {ratio:7.1f} "
                    "{kernel_seconds:11.3f} {largest_difference:11.1e}".format(**line),
                    flush=True,
                )
    write_results(
        "chi_square_gram", {"n_samples": options.samples, "n_features": options.features, "lines": lines}
    )


if __name__ == "__main__":
    main()
