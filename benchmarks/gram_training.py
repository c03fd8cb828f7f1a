"""LabelRanker and OneVsAllSVM on a Gram matrix against scikit-learn's OneVsRestClassifier(SVC).

Everybody gets the same similarities as kernel="precomputed"; the peer in float64, ours in float64 and in
float32. Times are whole fits, checks and conversions included. The peer stops at its own tolerance (1e-3 on
the gradient); its relative duality gap is computed afterwards, for its own problem, which has a free bias.
What IncompleteLabelRanker costs is told in LabelRankers, from C = 1 on.

    python benchmarks/gram_training.py [--case drawn|noisy|corel5k|photographs ...] [--C 0.1 1 10]
"""

import argparse
import warnings

import numpy as np
from common import best_time, write_results
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from tagrank import (
    Gaussian,
    IncompleteLabelRanker,
    LabelRanker,
    OneVsAllSVM,
    choose_features,
    describe_pictures,
    load_dataset,
)
from tagrank.annotation.estimator_choice import mean_kernel

TOL = {"drawn": 1e-2, "noisy": 1e-2, "corel5k": 5e-3, "photographs": 5e-3}
COSTS = {
    "drawn": (0.1, 1.0, 10.0),
    "noisy": (0.1, 1.0, 10.0),
    "corel5k": (1.0, 10.0),
    "photographs": (1.0, 10.0),
}
NOISE = {"drawn": 0.5, "noisy": 2.0}  # in the labels, beside factors that explain a signal of size one


def draw_problem(n_samples=4000, n_labels=100, *, noise=0.5, n_factors=20, n_features=100, seed=0):
    """Rows with hidden factors, and labels that depend on them, each 2 to 10 % positive."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_samples, n_factors))
    X = factors @ rng.standard_normal((n_factors, n_features)) + 2 * rng.standard_normal(
        (n_samples, n_features)
    )
    weights = rng.standard_normal((n_factors, n_labels)) / np.sqrt(n_factors)
    signal = factors @ weights + noise * rng.standard_normal((n_samples, n_labels))
    shares = rng.uniform(0.02, 0.10, n_labels)
    limits = np.array([np.quantile(signal[:, label], 1 - shares[label]) for label in range(n_labels)])
    return Gaussian()(X), (signal > limits).astype(float)


def read_corel5k():
    """The 4,500 training pictures of Corel5k as 499 binary blobs, with the 371 of its 374 tags that occur."""
    train = load_dataset("corel5k").train
    Y = np.asarray(train.Y.todense() if hasattr(train.Y, "todense") else train.Y, dtype=float)
    X = train.X.toarray() if hasattr(train.X, "toarray") else train.X
    return Gaussian()(np.asarray(X, dtype=float)), Y[:, Y.any(axis=0)]


def read_photographs():
    """The photographs of Corel5k, 260 words: the mean kernel of the 15 sets of the papers and embeddings."""
    features = choose_features(["papers", "embedding"])
    described = describe_pictures(load_dataset("corel5k_images_260").train, features, cache=True)
    Y = described.collection.Y
    kernel = mean_kernel(described.features)
    K = kernel(described.collection.views)
    return K.astype(np.float64), np.asarray(Y.todense() if hasattr(Y, "todense") else Y, dtype=float)


def peer_gap(model, K, Y, C):
    """Relative duality gap of one-vs-rest SVMs with a free bias, summed over labels."""
    primal = dual = 0.0
    for label, machine in enumerate(model.estimators_):
        signs = np.where(Y[:, label] > 0, 1.0, -1.0)
        coefficients = machine.dual_coef_.ravel()
        scores = K[:, machine.support_] @ coefficients
        norm = coefficients @ scores[machine.support_]
        primal += norm / 2 + C * np.maximum(0, 1 - signs * (scores + machine.intercept_[0])).sum()
        dual += np.abs(coefficients).sum() - norm / 2
    return (primal - dual) / primal


def compare(case, K, Y, C, *, repeats):
    """Lines of the table: ours in both precisions and with 1 and 2 threads, against the peer with as many."""
    peers = {}
    for n_jobs in (1, 2):
        peer = OneVsRestClassifier(SVC(C=C, kernel="precomputed"), n_jobs=n_jobs)
        peers[n_jobs], model = best_time(lambda: peer.fit(K, Y), repeats=1)  # noqa: B023
        gap = peer_gap(model, K, Y, C)
        print(
            f"  OneVsRest(SVC)         n_jobs={n_jobs} {peers[n_jobs]:8.2f} s   gap {gap:.1e}",
            flush=True,
        )
    for Estimator in (OneVsAllSVM, LabelRanker):
        for matrix in (K, K.astype(np.float32)):
            for n_jobs in (1, 2):
                ours = Estimator(C=C, kernel="precomputed", tol=TOL[case], random_state=0, n_jobs=n_jobs)
                seconds, ours = best_time(lambda: ours.fit(matrix, Y), repeats=repeats)  # noqa: B023
                line = {
                    "case": case,
                    "C": C,
                    "method": Estimator.__name__,
                    "dtype": matrix.dtype.name,
                    "n_jobs": n_jobs,
                    "seconds": seconds,
                    "gap": ours.duality_gap_,
                    "passes": ours.n_iter_,
                    "peer_seconds": peers,
                    "peer_gap": gap,
                    "ratio_to_peer_with_1_job": peers[1] / seconds,
                    "ratio_to_peer_with_as_many_jobs": peers[n_jobs] / seconds,
                }
                print(
                    f"  {Estimator.__name__:14} {matrix.dtype.name} n_jobs={n_jobs} {seconds:8.3f} s   "
                    f"gap {ours.duality_gap_:.1e}   {line['ratio_to_peer_with_1_job']:6.1f} x the peer, "
                    f"{line['ratio_to_peer_with_as_many_jobs']:6.1f} x with as many jobs",
                    flush=True,
                )
                yield line


def compare_rankers(case, K, Y, C, *, repeats):
    """A line: what IncompleteLabelRanker costs beside LabelRanker, to the same gap, in float32."""
    seconds, K = {}, K.astype(np.float32)
    for Estimator in (LabelRanker, IncompleteLabelRanker):
        ours = Estimator(C=C, kernel="precomputed", tol=TOL[case], random_state=0, n_jobs=2)
        seconds[Estimator.__name__], ours = best_time(lambda: ours.fit(K, Y), repeats=repeats)  # noqa: B023
    ratio = seconds["IncompleteLabelRanker"] / seconds["LabelRanker"]
    print(
        f"  IncompleteLabelRanker float32 n_jobs=2 {seconds['IncompleteLabelRanker']:8.3f} s   "
        f"gap {ours.duality_gap_:.1e}   {ratio:.1f} times the cost of LabelRanker",
        flush=True,
    )
    return {
        "case": case,
        "C": C,
        "method": "IncompleteLabelRanker",
        "seconds": seconds["IncompleteLabelRanker"],
        "gap": ours.duality_gap_,
        "passes": ours.n_iter_,
        "ratio_to_label_ranker": ratio,
    }


def make_problem(case, *, quick):
    """Gram matrix and labels of a case."""
    if case in NOISE:
        return draw_problem(*((500, 10) if quick else ()), noise=NOISE[case])
    return {"corel5k": read_corel5k, "photographs": read_photographs}[case]()


def warm_up():
    """Compile before anything is timed; large problems take another way than small ones."""
    for n_samples in (300, 1000):
        K, Y = draw_problem(n_samples, 8)
        for Estimator in (OneVsAllSVM, LabelRanker, IncompleteLabelRanker):
            for matrix in (K, K.astype(np.float32)):
                Estimator(kernel="precomputed", tol=1e-2).fit(matrix, Y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=list(TOL))
    parser.add_argument("--C", type=float, nargs="+")
    parser.add_argument("--quick", action="store_true", help="a small problem, to see that it runs")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
    warm_up()
    lines = []
    for case in options.case or (list(TOL)[:1] if options.quick else list(TOL)):
        K, Y = make_problem(case, quick=options.quick)
        for C in options.C or COSTS[case]:
            print(f"{case}: {K.shape[0]} samples, {Y.shape[1]} labels, C = {C:g}, tol = {TOL[case]:g}")
            repeats = 1 if options.quick else 3
            lines.extend(compare(case, K, Y, C, repeats=repeats))
            if C >= 1:
                lines.append(compare_rankers(case, K, Y, C, repeats=repeats))
    write_results("gram_training", lines)


if __name__ == "__main__":
    main()
