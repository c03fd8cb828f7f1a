"""LabelRanker and OneVsAllSVM on a Gram matrix against scikit-learn's OneVsRestClassifier(SVC).

Everybody gets the same similarities as kernel="precomputed"; the peer in float64, ours in float64 and in
float32. Times are whole fits, checks and conversions included. The peer stops at its own tolerance (1e-3 on
the gradient); its relative duality gap is computed afterwards, for its own problem, which has a free bias.
What IncompleteLabelRanker costs is told in LabelRankers, from C = 1 on; so small costs are left out on data
sets.
"""

import numpy as np

from tagrank import IncompleteLabelRanker, LabelRanker, OneVsAllSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_problem, read_corel5k, read_photographs
from tagrank_papers.protocols.peers import peer_gap, train_peer
from tagrank_papers.text import show

MINUTES = 8
QUICK = {"case": ("drawn",), "C": (1.0,), "samples": 500, "labels": 10, "repeats": 1}
TOL = {"drawn": 1e-2, "noisy": 1e-2, "corel5k": 5e-3, "photographs": 5e-3}
NOISE = {"drawn": 0.5, "noisy": 2.0}  # in the labels, beside factors that explain a signal of size one
READ = {"corel5k": read_corel5k, "photographs": read_photographs}


def run(*, case=tuple(TOL), C=(0.1, 1.0, 10.0), samples=4000, labels=100, repeats=3):
    warm_up()
    lines = []
    for name in case:
        K, Y = draw_problem(samples, labels, noise=NOISE[name]) if name in NOISE else READ[name]()
        for cost in C:
            if name in READ and cost < 1:
                continue
            print(f"{name}: {K.shape[0]} samples, {Y.shape[1]} labels, C = {cost:g}, tol = {TOL[name]:g}")
            lines += compare(name, K, Y, cost, repeats=repeats)
            if cost >= 1:
                lines.append(compare_rankers(name, K, Y, cost, repeats=repeats))
    yield lines


def fit(Estimator, case, K, Y, C, n_jobs, repeats):
    """Time whole fits."""
    ours = Estimator(C=C, kernel="precomputed", tol=TOL[case], random_state=0, n_jobs=n_jobs)
    return best_time(ours.fit, K, Y, repeats=repeats)


def compare(case, K, Y, C, *, repeats):
    """Lines of the table: ours in both precisions and with 1 and 2 threads, against the peer with as many."""
    peers = {}
    for n_jobs in (1, 2):
        peer = best_time(train_peer, K, Y, C, n_jobs=n_jobs, repeats=1)
        peers[n_jobs], gap = peer.seconds, peer_gap(peer.answer, K, Y, C)
        print(f"  OneVsRest(SVC)  n_jobs {n_jobs}  seconds {peer.seconds:.4g}  gap {gap:.1e}")
    for Estimator in (OneVsAllSVM, LabelRanker):
        for matrix in (K, K.astype(np.float32)):
            for n_jobs in (1, 2):
                seconds, _, ours = fit(Estimator, case, matrix, Y, C, n_jobs, repeats)
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
                show(line, "method", "dtype", "n_jobs", "seconds", "gap", *list(line)[-2:])
                yield line


def compare_rankers(case, K, Y, C, *, repeats):
    """A line: what IncompleteLabelRanker costs beside LabelRanker, to the same gap, in float32."""
    K = K.astype(np.float32)
    plain = fit(LabelRanker, case, K, Y, C, 2, repeats)
    seconds, _, ours = fit(IncompleteLabelRanker, case, K, Y, C, 2, repeats)
    line = {
        "case": case,
        "C": C,
        "method": "IncompleteLabelRanker",
        "seconds": seconds,
        "gap": ours.duality_gap_,
        "passes": ours.n_iter_,
        "ratio_to_label_ranker": seconds / plain.seconds,
    }
    show(line, "method", "seconds", "gap", "ratio_to_label_ranker")
    return line


def warm_up():
    """Compile before anything is timed; large problems take another way than small ones."""
    for n_samples in (300, 1000):
        K, Y = draw_problem(n_samples, 8)
        for Estimator in (OneVsAllSVM, LabelRanker, IncompleteLabelRanker):
            for matrix in (K, K.astype(np.float32)):
                Estimator(kernel="precomputed", tol=1e-2).fit(matrix, Y)
