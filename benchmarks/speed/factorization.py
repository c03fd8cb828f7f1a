"""TwoWayFactorization: 120 passes over rows as many as Corel5k and Bibtex have; a stream of a million rows.

`--device cuda` (or cpu) trains with torch in the place of numpy. "limit_share" is the rate of the products
that a fit makes over that of a large product in single precision in the same place; of a processor both take
one thread. The peer of the fits is the same descent in numpy as its formulas stand, with dense rows and
residuals, for two passes and scaled; that of the stream is scikit-learn's SGDClassifier, one for each label,
on some rows and scaled. The public sets are trained on too where TAGRANK_DATA has them. Numpy, scipy,
scikit-learn, numba and torch are enough.
"""

import os
import resource
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from tagrank.arrays import on_device, to_host
from tagrank.estimators.factorization import TwoWayFactorization
from tagrank.resources import limited_threads
from tagrank_papers.text import show

MINUTES = 5
QUICK = {"epochs": 2, "scale": 0.03, "n_components": 5, "samples": 600, "chunk": 300, "data": False}
# samples, columns, labels, filled columns and labels of a sample
SIZES = {"corel5k": (4000, 499, 374, 8, 3.5), "bibtex": (5916, 1836, 159, 69, 2.4)}
PEER_PASSES = 2


def run(
    *,
    device="numpy",
    epochs=120,
    batch_size=512,
    n_components=200,
    scale=1.0,
    samples=1_000_000,
    chunk=10_000,
    data=True,
):
    place = None if device == "numpy" else device
    with limited_threads(1):  # as many as a fit takes
        rate, lines = product_rate(place, 4096 if scale == 1 else 256), []
    for name, X, Y in problems(scale, data and "TAGRANK_DATA" in os.environ):
        model = TwoWayFactorization(
            n_components=n_components, batch_size=batch_size, max_iter=epochs, device=place, random_state=0
        )
        lines.append({"rows": name, "device": device} | measure_fit(model, X, Y, rate))
        show(lines[-1], *lines[-1])
        yield lines
    model = TwoWayFactorization(device=place, random_state=0)
    lines.append({"rows": "stream", "device": device} | measure_stream(model, samples, chunk))
    show(lines[-1], *lines[-1])
    yield lines


def measure_fit(model, X, Y, rate):
    """Times of a fit, the rate of its products in 1e9 operations a second, and their share of `rate`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels without a sample
        clone(model).set_params(max_iter=1).fit(X, Y)  # loads what the first fit loads
        wall, processor = time.perf_counter(), time.process_time()
        model.fit(X, Y)
        seconds, processor = time.perf_counter() - wall, time.process_time() - processor
    gigaflops = model.max_iter * operations(model, X, Y) / seconds / 1e9
    with limited_threads(1):
        peer = peer_seconds(model, X, Y)
    return {
        "passes": model.n_iter_,
        "seconds": seconds,
        "processor_seconds": processor,
        "gigaflops": gigaflops,
        "limit_gigaflops": rate,
        "limit_share": gigaflops / rate,
        "peer_seconds_scaled": peer,
        "ratio": peer / seconds,
    }


def measure_stream(model, samples, chunk):
    """Rows a second and memory of `partial_fit`; rows and labels are drawn as they are asked for."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((500, 100), dtype=np.float32)
    seconds, memory = 0.0, []
    for _ in range(0, samples, chunk):
        X, Y = draw_chunk(rng, mixing, chunk)
        started = time.perf_counter()
        model.partial_fit(X, Y)
        seconds += time.perf_counter() - started
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    X, Y = draw_chunk(rng, mixing, chunk)
    peer = peer_stream_seconds(X[:2000], Y[:2000]) * samples / min(chunk, 2000)
    return {
        "samples": model.n_seen_,
        "seconds": seconds,
        "rows_a_second": model.n_seen_ / seconds,
        "megabytes_after_first_chunks": memory[min(3, len(memory) - 1)],
        "megabytes_at_the_end": memory[-1],
        "auc_on_other_rows": float(model.score(X, Y)),
        "peer_seconds_scaled": peer,
        "ratio": peer / seconds,
    }


def operations(model, X, Y):
    """Multiplications and additions of the products of one pass, as they are made."""
    (n, d), m, r, b = X.shape, Y.shape[1], model.n_components, model.batch_size
    whole = model.device is not None
    filled = n * (d + m) if whole else X.nnz + int(Y.sum())
    return -(-n // b) * 4 * r * r * (d + m) + 8 * n * r * r + 8 * filled * r


def product_rate(device, size):
    """1e9 operations a second of a product of two square matrices in single precision."""
    A = on_device(np.ones((size, size), np.float32), device)
    float(to_host((A @ A)[0, 0]))
    started = time.perf_counter()
    for _ in range(5):
        B = A @ A
    float(to_host(B[0, 0]))
    return 5 * 2 * size**3 / (time.perf_counter() - started) / 1e9


def problems(scale, data):
    """Names, sparse rows of zeros and ones, and labels."""
    for name, (n, d, m, filled, present) in SIZES.items():
        rng = np.random.default_rng(0)
        n = int(n * scale)
        X = sparse.random(n, d, filled / d, format="csr", dtype=np.float32, rng=rng)
        X.data[:] = 1
        yield f"drawn as {name}", X, (rng.random((n, m)) < present / m).astype(np.float32)
    for name in SIZES if data else ():
        from tagrank import load_dataset

        whole = load_dataset(name)
        part = np.random.default_rng(0).permutation(len(whole.Y.toarray()))[: SIZES[name][0]]
        X = sparse.csr_array(next(iter(whole.views.values())), dtype=np.float32)
        yield name, X[part], whole.Y.toarray()[part]


def peer_seconds(model, X, Y):
    """The same descent with dense rows and residuals, in numpy, scaled to all passes."""
    X, T, r, b = X.toarray(), np.asarray(Y, np.float32), model.n_components, model.batch_size
    rng = np.random.default_rng(0)
    shapes = [(X.shape[1], r), (X.shape[1], r), (T.shape[1], r), (T.shape[1], r)]
    weights = [rng.standard_normal(shape, dtype=np.float32) / np.sqrt(max(shape)) for shape in shapes]
    velocity = [0 * matrix for matrix in weights]
    started = time.perf_counter()
    for _ in range(PEER_PASSES):
        order = rng.permutation(len(X))
        for start in range(0, len(X), b):
            rows = order[start : start + b]
            slopes = plain_slopes(X[rows], T[rows], *weights, model)
            for k, slope in enumerate(slopes):
                velocity[k] = model.momentum * velocity[k] - 1e-6 * (slope + 2 * model.beta * weights[k])
                weights[k] = weights[k] + velocity[k]
    return (time.perf_counter() - started) * model.max_iter / PEER_PASSES


def plain_slopes(X, T, Wx, Dx, Wt, Dt, model):
    """Of the loss as it is written."""
    Z, Zt = X @ Wx, T @ Wt
    features, labels, across = Z @ Dx.T - X, Zt @ Dt.T - T, Z @ Dt.T - T
    a, c, d = 2 * model.alpha / len(X), 2 * (1 - model.alpha) / len(X), 2 * model.delta / len(X)
    return (
        X.T @ (a * (features @ Dx) + d * (across @ Dt)),
        a * (features.T @ Z),
        c * (T.T @ (labels @ Dt)),
        c * (labels.T @ Zt) + d * (across.T @ Z),
    )


def draw_chunk(rng, mixing, size):
    X = rng.standard_normal((size, len(mixing)), dtype=np.float32)
    return X, (X @ mixing > 1.6 * np.sqrt(len(mixing))).astype(np.int8)


def peer_stream_seconds(X, Y):
    started = time.perf_counter()
    for label in range(Y.shape[1]):
        SGDClassifier(random_state=0).partial_fit(X, Y[:, label], classes=[0, 1])
    return time.perf_counter() - started
