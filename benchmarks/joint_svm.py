"""JointSVM against as many independent SVMs as there are labels: scikit-learn's OneVsRestClassifier(SVC).

Everybody gets the same Gram matrix as kernel="precomputed", 4,500 samples. "drawn" has 260 labels, each 2 to
10 % positive; "corel5k" has the labels of the data set as they are. They solve different problems: the peer
one for each label, JointSVM one for all. Ours stops at a relative duality gap of 1e-3, the peer at its own
tolerance (1e-3 on the gradient). Times are whole fits, checks and the making of label similarities included;
beside them stands the time of all processors together, which other programs on the machine change less.

    python benchmarks/joint_svm.py [--case drawn] [--case corel5k] [--quick] [--peer-labels 260]
"""

import argparse
import time
import warnings

import numpy as np
from common import best_time, write_results
from gram_training import draw_problem, read_corel5k
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from tagrank.estimators import JointSVM

CASES = ("drawn", "corel5k")
OUTPUTS = ("linear", "odds-ratio", "poly2")


def measure(function, repeats):
    """Smallest wall-clock and processor times of `repeats` calls, and the last answer."""
    times = []
    for _ in range(repeats):
        worked = time.process_time()
        seconds, answer = best_time(function, repeats=1)
        times.append((seconds, time.process_time() - worked))
    return *np.min(times, axis=0).tolist(), answer


def time_peer(K, Y, C, n_labels):
    """Times for all labels, scaled from `n_labels` of them if these are fewer."""
    chosen = np.random.default_rng(0).permutation(Y.shape[1])[:n_labels]
    peer = OneVsRestClassifier(SVC(C=C, kernel="precomputed"))
    seconds, worked, _ = measure(lambda: peer.fit(K, Y[:, chosen]), 1)
    return seconds * Y.shape[1] / len(chosen), worked * Y.shape[1] / len(chosen)


def compare(case, K, Y, C, *, peer_labels, repeats):
    """Lines of the table: each output kernel, in both precisions of the Gram matrix."""
    peer_seconds, peer_worked = time_peer(K, Y, C, peer_labels)
    print(f"  OneVsRest(SVC) {peer_seconds:8.2f} s, from {min(peer_labels, Y.shape[1])} labels", flush=True)
    for output in OUTPUTS:
        for matrix in (K, K.astype(np.float32)):
            model = JointSVM(C, kernel="precomputed", output_kernel=output, tol=1e-3, random_state=0)
            seconds, worked, model = measure(lambda: model.fit(matrix, Y), repeats)  # noqa: B023
            line = {
                "case": case,
                "C": C,
                "output_kernel": output,
                "dtype": matrix.dtype.name,
                "seconds": seconds,
                "gap": model.duality_gap_,
                "passes": model.n_iter_,
                "peer_seconds": peer_seconds,
                "peer_labels": min(peer_labels, Y.shape[1]),
                "ratio": peer_seconds / seconds,
                "processor_seconds": worked,
                "peer_processor_seconds": peer_worked,
                "ratio_of_processor_times": peer_worked / worked,
            }
            print(
                f"  JointSVM {output:10} {matrix.dtype.name} {seconds:8.3f} s   "
                f"gap {model.duality_gap_:.1e}   {line['ratio']:6.1f} x   "
                f"{line['ratio_of_processor_times']:6.1f} x in processor time",
                flush=True,
            )
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--quick", action="store_true", help="a small problem, to see that it runs")
    parser.add_argument("--peer-labels", type=int, default=1000, help="the peer's time is scaled from these")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
    JointSVM(kernel="precomputed").fit(*draw_problem(300, 8))
    lines = []
    for case in options.case or (CASES[:1] if options.quick else CASES):
        size = (400, 10) if options.quick else (4500, 260)
        K, Y = draw_problem(*size) if case == "drawn" else read_corel5k()
        for C in options.C:
            print(f"{case}: {K.shape[0]} samples, {Y.shape[1]} labels, C = {C:g}")
            repeats = 1 if options.quick else 3
            lines.extend(compare(case, K, Y, C, peer_labels=options.peer_labels, repeats=repeats))
    write_results("joint_svm", lines)


if __name__ == "__main__":
    main()
