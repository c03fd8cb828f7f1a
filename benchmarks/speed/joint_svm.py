"""JointSVM against as many independent SVMs as there are labels: scikit-learn's OneVsRestClassifier(SVC).

Everybody gets the same Gram matrix as kernel="precomputed", 4,500 samples. "drawn" has 260 labels, each 2 to
10 % positive; "corel5k" has the labels of the data set as they are. They solve different problems: the peer
one for each label, JointSVM one for all. Ours stops at a relative duality gap of 1e-3, the peer at its own
tolerance (1e-3 on the gradient). Times are whole fits, checks and the making of label similarities included;
beside them stands the time of all processors together, which other programs on the machine change less. With
fewer --peer-labels than there are labels the time of the peer is scaled.
"""

import numpy as np

from tagrank.estimators import JointSVM
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import draw_problem, read_corel5k
from tagrank_papers.protocols.peers import train_peer
from tagrank_papers.text import show

MINUTES = 4
QUICK = {"case": ("drawn",), "C": (1.0,), "samples": 400, "labels": 10, "repeats": 1}
OUTPUTS = ("linear", "odds-ratio", "poly2")


def run(*, case=("drawn", "corel5k"), C=(1.0, 10.0), samples=4500, labels=260, peer_labels=1000, repeats=3):
    JointSVM(kernel="precomputed").fit(*draw_problem(300, 8))
    lines = []
    for name in case:
        K, Y = draw_problem(samples, labels) if name == "drawn" else read_corel5k()
        for cost in C:
            print(f"{name}: {K.shape[0]} samples, {Y.shape[1]} labels, C = {cost:g}")
            lines += compare(name, K, Y, cost, peer_labels=min(peer_labels, Y.shape[1]), repeats=repeats)
    yield lines


def time_peer(K, Y, C, n_labels):
    """Times for all labels, scaled from `n_labels` of them if these are fewer."""
    chosen = np.random.default_rng(0).permutation(Y.shape[1])[:n_labels]
    peer = best_time(train_peer, K, Y[:, chosen], C, repeats=1)
    return peer.seconds * Y.shape[1] / n_labels, peer.processor_seconds * Y.shape[1] / n_labels


def compare(case, K, Y, C, *, peer_labels, repeats):
    """Lines of the table: each output kernel, in both precisions of the Gram matrix."""
    peer_seconds, peer_worked = time_peer(K, Y, C, peer_labels)
    print(f"  OneVsRest(SVC) {peer_seconds:8.2f} s, from {peer_labels} labels")
    for output in OUTPUTS:
        for matrix in (K, K.astype(np.float32)):
            model = JointSVM(C, kernel="precomputed", output_kernel=output, tol=1e-3, random_state=0)
            ours = best_time(model.fit, matrix, Y, repeats=repeats)
            line = {
                "case": case,
                "C": C,
                "output_kernel": output,
                "dtype": matrix.dtype.name,
                "seconds": ours.seconds,
                "gap": model.duality_gap_,
                "passes": model.n_iter_,
                "peer_seconds": peer_seconds,
                "peer_labels": peer_labels,
                "ratio": peer_seconds / ours.seconds,
                "processor_seconds": ours.processor_seconds,
                "peer_processor_seconds": peer_worked,
                "ratio_of_processor_times": peer_worked / ours.processor_seconds,
            }
            show(line, "output_kernel", "dtype", "seconds", "gap", "ratio", "ratio_of_processor_times")
            yield line
