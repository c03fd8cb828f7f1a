"""How long M3L trains with R = I beside one-vs-all LIBLINEAR, LIBSVM and a structural SVM (M3L, section 6.1).

With R = I all of them but LIBSVM, which has a bias, solve the same problem: C of the paper is half of C of a
machine for each label. A kernel that is computed before counts for the method that needs it. Seconds are
processor seconds of one thread, and so is the limit, because the machine may be shared.
"""

import time

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from tagrank.data import load_dataset
from tagrank.estimators import PriorMarginClassifier
from tagrank.kernels import Gaussian, Linear
from tagrank.resources import limited_threads
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.protocols.structured_svm import train_structured

QUICK = {"only": DRAWN, "sizes": (60, 120), "seconds": 20.0}
TITLES = {"rcv1_joined": "RCV1"}
TOLERANCE = 1e-2
LARGE_CACHE = 2000  # MB, of LIBSVM
WARM = 50  # rows


def run(*, only="rcv1_joined", sizes=(2000, 10000, 15000), C=1.0, seconds=100.0):
    X, Y = load(only)
    order, lines, slow = np.random.default_rng(0).permutation(len(Y)), [], set()
    for train in METHODS.values():  # compiled code is loaded before anything is measured
        train(*choose(X, Y, order[:WARM]), C, lambda: False)
    for size in sizes:
        some, labels = choose(X, Y, order[:size])
        for method in METHODS:
            line = {"data": TITLES.get(only, only), "size": size, "labels": labels.shape[1], "method": method}
            if method in slow:  # more rows would take longer still
                lines.append(line | {"seconds": None, "gap": None})
                continue
            began = time.process_time()

            def is_late(began=began):
                return time.process_time() - began > seconds

            with limited_threads(1):
                gap = METHODS[method](some, labels, C, is_late)
            used = time.process_time() - began
            if is_late():
                slow.add(method)
            lines.append(line | {"seconds": None if method in slow else used, "gap": gap})
            print(
                f"{size}, {method}: {used:.3g} processor seconds{', not done' * (method in slow)}", flush=True
            )
            yield {"lines": lines, "seconds": seconds}


def choose(X, Y, rows):
    """These rows, and the labels that some of them have and some have not."""
    labels = Y[rows]
    return X[rows], labels[:, labels.any(axis=0) & ~labels.all(axis=0)]


def load(name):
    """Rows of unit length, and labels."""
    if name == DRAWN:
        X, Y = draw_rows(160, 5)
        return sparse.csr_array(normalize(X)), Y
    whole = load_dataset(name)
    return sparse.csr_array(normalize(whole.X)), dense(whole.Y)


def liblinear(X, Y, C, is_late):
    for label in Y.T:
        LinearSVC(C=2 * C, loss="hinge", fit_intercept=False, max_iter=100_000).fit(X, label)
        if is_late():
            break


def linear_prior(X, Y, C, is_late):
    model = PriorMarginClassifier(C, prior=np.eye(Y.shape[1]), kernel="linear", tol=TOLERANCE, n_jobs=1)
    return float(model.set_params(random_state=0).fit(X, Y, stop=is_late).duality_gap_)


def libsvm(kernel):
    def train(X, Y, C, is_late):
        gamma = Gaussian().fit(X).gamma if kernel == "rbf" else "scale"
        for label in Y.T:
            SVC(C=2 * C, kernel=kernel, gamma=gamma, cache_size=LARGE_CACHE).fit(X, label)
            if is_late():
                break

    return train


def kernel_prior(kernel):
    def train(X, Y, C, is_late):
        K = (Linear() if kernel == "linear" else Gaussian()).fit_gram(X, dtype=np.float32)[1]
        model = PriorMarginClassifier(C, prior=np.eye(Y.shape[1]), kernel="precomputed", tol=TOLERANCE)
        model.set_params(random_state=0, n_jobs=1)
        return float(model.fit(K, Y, stop=is_late).duality_gap_)

    return train


def structured(X, Y, C, is_late):
    return train_structured(lambda B: X @ (X.T @ B), Y, C, tol=TOLERANCE, stop=is_late).gap


METHODS = {
    "LibLinear": liblinear,
    "LM3L": linear_prior,
    "LibSVM, linear": libsvm("linear"),
    "KM3L, linear": kernel_prior("linear"),
    "LibSVM, RBF": libsvm("rbf"),
    "KM3L, RBF": kernel_prior("rbf"),
    "SVMStruct": structured,
}


# Its answers to tables


def answer(table, results):
    lines, limit = results["lines"], results["seconds"]
    methods = ("LM3L", "SVMStruct") if table == "m3l-svmstruct" else tuple(METHODS)
    cells = {(line["data"], line["size"], line["method"]): line["seconds"] for line in lines}
    rows = {
        f"{data}, {size:,}": tuple(_cell(cells, limit, data, size, method) for method in methods)
        for data in distinct(lines, "data")
        for size in distinct(lines, "size")
    }
    return Answer(Figures(methods, rows), _verdict(table, lines, limit))


def _cell(cells, limit, data, size, method):
    if (data, size, method) not in cells:
        return ""
    seconds = cells[data, size, method]
    return f"> {limit:.0f}" if seconds is None else f"{seconds:.3g}"


def _verdict(table, lines, limit):
    """How many times as long the others take, size by size."""
    if table == "m3l-svmstruct":
        ratios = _ratios(lines, limit, "SVMStruct", "LM3L")
        return f"The structural SVM takes {ratios} as long as LM3L; published 81 to 131 times."
    pairs = [(f"LibSVM, {kind}", f"KM3L, {kind}") for kind in ("linear", "RBF")] + [("LibLinear", "LM3L")]
    words = [f"{slow} takes {_ratios(lines, limit, slow, fast)} as long as {fast}" for slow, fast in pairs]
    return f"{'; '.join(words)}. Published for RCV1: 9, 6.8 and 6.1 times; 13, 9 and 7.8; 1.8, 0.9 and 0.8."


def _ratios(lines, limit, slow, fast):
    """Seconds of one method over those of another; a method that was not done took at least the limit."""
    words = []
    for size in distinct(lines, "size"):
        seconds = {line["method"]: line["seconds"] for line in lines if line["size"] == size}
        if slow in seconds and seconds.get(fast) is not None:
            least = "at least " if seconds[slow] is None else ""
            words.append(f"{least}{(seconds[slow] or limit) / seconds[fast]:.3g} times ({size:,})")
    return ", ".join(words)
