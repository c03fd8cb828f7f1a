"""How long M3L trains with R = I beside one-vs-all LIBLINEAR, LIBSVM and a structural SVM (M3L, section 6.1).

With R = I all of them but LIBSVM, which has a bias, solve the same problem: C of the paper is half of C of a
machine for each label. A kernel that is computed before counts for the method that needs it.
"""

import time

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from tagrank.data import load_dataset
from tagrank.estimators import PriorMarginClassifier
from tagrank.kernels import Gaussian
from tagrank.resources import limited_threads
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.protocols.structured_svm import train_structured
from tagrank_papers.text import show

QUICK = {"only": DRAWN, "sizes": (60, 120), "seconds": 20.0}
TITLES = {"rcv1_joined": "RCV1"}
TOLERANCE = 1e-2
LARGE_CACHE = 2000  # MB, of LIBSVM


def run(*, only="rcv1_joined", sizes=(2000, 10000, 15000), C=1.0, seconds=3600.0):
    X, Y = load(only)
    order, lines, slow = np.random.default_rng(0).permutation(len(Y)), [], set()
    for size in sizes:
        rows = order[:size]
        some, labels = X[rows], Y[rows]
        labels = labels[:, labels.any(axis=0) & ~labels.all(axis=0)]
        for method in METHODS:
            line = {"data": TITLES.get(only, only), "size": size, "labels": labels.shape[1], "method": method}
            if method in slow:  # more rows would take longer still
                lines.append(line | {"seconds": None, "gap": None})
                continue
            began = time.perf_counter()
            with limited_threads(1):
                gap = METHODS[method](some, labels, C, seconds)
            line |= {"seconds": time.perf_counter() - began, "gap": gap}
            if line["seconds"] > seconds:
                slow.add(method)
            lines.append(line)
            show(line, *line)
            yield {"lines": lines, "seconds": seconds}


def load(name):
    """Rows of unit length, and labels."""
    if name == DRAWN:
        X, Y = draw_rows(160, 5)
        return sparse.csr_array(normalize(X)), Y
    whole = load_dataset(name)
    return sparse.csr_array(normalize(whole.X)), dense(whole.Y)


def liblinear(X, Y, C, seconds):
    began = time.perf_counter()
    for label in Y.T:
        LinearSVC(C=2 * C, loss="hinge", fit_intercept=False, max_iter=100_000).fit(X, label)
        if time.perf_counter() - began > seconds:
            break


def linear_prior(X, Y, C, seconds):
    model = PriorMarginClassifier(C, prior=np.eye(Y.shape[1]), kernel="linear", tol=TOLERANCE, n_jobs=1)
    return float(model.set_params(max_seconds=seconds, random_state=0).fit(X, Y).duality_gap_)


def libsvm(kernel):
    def train(X, Y, C, seconds):
        began, gamma = time.perf_counter(), Gaussian().fit(X).gamma if kernel == "rbf" else "scale"
        for label in Y.T:
            SVC(C=2 * C, kernel=kernel, gamma=gamma, cache_size=LARGE_CACHE).fit(X, label)
            if time.perf_counter() - began > seconds:
                break

    return train


def kernel_prior(kernel):
    def train(X, Y, C, seconds):
        K = dense(X @ X.T) if kernel == "linear" else Gaussian().fit_gram(X)[1]
        model = PriorMarginClassifier(C, prior=np.eye(Y.shape[1]), kernel="precomputed", tol=TOLERANCE)
        model.set_params(max_seconds=seconds, random_state=0, n_jobs=1)
        return float(model.fit(K.astype(np.float32), Y).duality_gap_)

    return train


def structured(X, Y, C, seconds):
    return train_structured(lambda B: X @ (X.T @ B), Y, C, tol=TOLERANCE, max_seconds=seconds).gap


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
    return Answer(Figures(methods, rows), _verdict(lines, limit))


def _cell(cells, limit, data, size, method):
    if (data, size, method) not in cells:
        return ""
    seconds = cells[data, size, method]
    return f"> {limit:.0f}" if seconds is None or seconds > limit else f"{seconds:.3g}"


def _verdict(lines, limit):
    """How many times as long the structural SVM takes, size by size."""
    words = []
    for size in distinct(lines, "size"):
        seconds = {line["method"]: line["seconds"] for line in lines if line["size"] == size}
        if {"SVMStruct", "LM3L"} <= set(seconds):
            least = "at least " if seconds["SVMStruct"] is None or seconds["SVMStruct"] > limit else ""
            ratio = (seconds["SVMStruct"] or limit) / seconds["LM3L"]
            words.append(f"{least}{ratio:.3g} times ({size:,})")
    return f"The structural SVM takes as long as LM3L: {', '.join(words)}; published 81 to 131 times."
