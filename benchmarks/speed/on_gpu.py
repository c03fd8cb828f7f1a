"""Exact kernel training, many rows and similarities on a GPU, from rows to a certified model.

Rows and labels are drawn as in many_rows. Seconds are those of a whole `fit` of arrays of numpy, checks and
transfers included; `learning` is what follows the similarities. `limit` is the share of what the device
could compute in the time of `learning`: products of float32 at `--teraflops`, one of all rows with all
coefficients for each pass. `ratio` is the seconds of such products alone, measured in the same place, over
those of `learning` (or of answers, or of similarities). Without a device the CPU works, and there is no
share.
"""

import time

import numpy as np

from benchmarks.speed.many_rows import draw_rows
from tagrank import ChiSquared, Gaussian, Intersection, LabelRanker, OneVsAllLogistic, OneVsAllSVM
from tagrank.arrays import free_memory_beside, namespace_of, on_device
from tagrank_papers.text import show

MINUTES = 5
NEEDS_GPU = True
QUICK = {"samples": 400, "columns": 8, "labels": 5, "many": 0, "rows": 3_000, "landmarks": 8, "device": None}
TOL = 1e-2


def run(
    *,
    samples=40_000,
    columns=512,
    labels=500,
    many=150_000,
    rows=1_000_000,
    landmarks=2_048,
    row_labels=300,
    teraflops=67.0,
    device="cuda",
):
    lines = []

    def keep(line):
        line |= {"device": _name(device)}
        show(line, *line)
        lines.append(line)
        return lines

    X, Y = draw_rows(samples, columns, labels)
    for kind in (OneVsAllSVM, LabelRanker):
        yield keep(_exact(kind, X, Y, device, teraflops))
    yield keep(_predict(X, Y, device))
    for kernel in (Gaussian(), ChiSquared(), Intersection()):
        yield keep(_similarities(kernel, np.abs(X), device))
    del X, Y
    if device is not None:
        for kind, tol in ((OneVsAllLogistic, 1e-3), (OneVsAllSVM, TOL)):
            yield keep(_rows(kind, tol, rows, landmarks, row_labels, device))
    if many:
        yield keep(_exact(OneVsAllSVM, *draw_rows(many, columns, labels), device, teraflops))


def _exact(kind, X, Y, device, teraflops):
    """All rows compared with each other."""
    options = {"tol": TOL, "device": device, "random_state": 0}
    kind(**options).fit(X[:2_000], Y[:2_000])  # compiled, and the device awake
    seconds, model = _time(lambda: kind(**options).fit(X, Y), device)
    learning = model.trace_[-1].seconds
    line = {
        "what": kind.__name__,
        "samples": len(X),
        "columns": X.shape[1],
        "labels": Y.shape[1],
        "seconds": seconds,
        "gap": model.duality_gap_,
        "passes": model.n_iter_,
        "learning": learning,
    }
    line["ratio"] = model.n_iter_ * _bare_seconds(len(X), len(X), Y.shape[1], device) / learning
    if device is not None:
        operations = 2.0 * len(X) ** 2 * Y.shape[1] * model.n_iter_
        line["limit"] = operations / learning / (teraflops * 1e12)
    return line


def _predict(X, Y, device):
    """Rows a second that a kernel model answers."""
    model = OneVsAllSVM(tol=TOL, device=device, random_state=0).fit(X[:10_000], Y[:10_000])
    model.decision_function(X[:100])
    seconds, _ = _time(lambda: model.decision_function(X), device)
    n_support = len(model.support_)
    bare = _bare_seconds(len(X), X.shape[1], n_support, device)
    bare += _bare_seconds(len(X), n_support, Y.shape[1], device)
    return {
        "what": "decision_function",
        "support": n_support,
        "seconds": seconds,
        "rows_a_second": len(X) / seconds,
        "ratio": bare / seconds,
    }


def _similarities(kernel, X, device):
    X = X[: max(100, len(X) // 2)]
    if device is None:
        seconds, _ = _time(lambda: kernel(X), None)
    else:
        from tagrank.kernels.device.gram import device_gram, fit_on_device

        there = on_device(X, device)
        fitted = fit_on_device(kernel, there)
        device_gram(fitted, there[:100])
        seconds, _ = _time(lambda: device_gram(fitted, there), device)
    return {
        "what": f"similarities, {type(kernel).__name__}",
        "samples": len(X),
        "columns": X.shape[1],
        "seconds": seconds,
        "comparisons_a_second": len(X) ** 2 * X.shape[1] / seconds,
        "ratio": _bare_seconds(len(X), X.shape[1], len(X), device) / seconds,
    }


def _rows(kind, tol, n_rows, n_columns, n_labels, device):
    """Rows of landmarks that are on the device already."""
    X, Y = _draw_there(n_rows, n_columns, n_labels, device)
    options = {"kernel": "linear", "fit_intercept": True, "tol": tol}
    kind(**options).fit(X[:50_000], Y[:50_000])
    seconds, model = _time(lambda: kind(**options).fit(X, Y), device)
    learning = model.trace_[-1].seconds
    # a pass makes scores of rows, and coefficients of columns
    bare = 2 * model.n_iter_ * _bare_seconds(n_rows, n_columns, n_labels, device)
    return {
        "what": f"{kind.__name__}, rows on the device",
        "samples": n_rows,
        "columns": n_columns,
        "labels": n_labels,
        "seconds": seconds,
        "learning": learning,
        "ratio": bare / learning,
        "gap": model.duality_gap_,
        "passes": model.n_iter_,
        "free": free_memory_beside(X),
    }


def _draw_there(n_rows, n_columns, n_labels, device):
    """As `draw_rows`, on the device; the labels come to the host."""
    xp = namespace_of(on_device(np.zeros(1), device))
    xp.manual_seed(0)
    X = xp.empty((n_rows, n_columns), device=device, dtype=xp.float32)
    factors = 40
    loadings = xp.randn((factors, n_columns), device=device) / xp.sqrt(
        xp.arange(1, factors + 1, device=device, dtype=xp.float32)
    ).unsqueeze(1)
    directions = xp.randn((n_columns, n_labels), device=device) / n_columns**0.5
    Y = np.empty((n_rows, n_labels), dtype=np.int8)
    shares = xp.asarray(1 - 0.3 / np.arange(1, n_labels + 1) ** 0.7, device=device, dtype=xp.float32)
    least = None
    for start in range(0, n_rows, 100_000):
        part = X[start : start + 100_000]
        part[:] = xp.randn((len(part), factors), device=device) @ loadings
        part += 0.5 * xp.randn(part.shape, device=device)
        part /= part.std(0)
        strength = part @ directions
        strength += 0.3 * strength.std() * xp.randn(strength.shape, device=device)
        if least is None:
            ordered = strength.sort(0).values
            least = ordered[(shares * (len(part) - 1)).long(), xp.arange(n_labels, device=device)]
        Y[start : start + len(part)] = (strength > least).cpu().numpy()
    return X, Y


def _bare_seconds(n_rows, n_inner, n_columns, device):
    """Seconds of a product of float32 matrices: measured on some of its rows, for all of them."""
    some = min(n_rows, 8_192)
    left = on_device(np.ones((some, n_inner), np.float32), device)
    right = on_device(np.ones((n_inner, n_columns), np.float32), device)
    left @ right
    seconds = min(_time(lambda: left @ right, device)[0] for _ in range(3))
    return seconds * n_rows / some


def _time(work, device):
    """Seconds of a call to its end on the device, and what it answered."""
    started = time.perf_counter()
    answer = work()
    if device is not None and device.startswith("cuda"):
        namespace_of(on_device(np.zeros(1), device)).cuda.synchronize()
    return time.perf_counter() - started, answer


def _name(device):
    if device is None:
        return "CPU"
    xp = namespace_of(on_device(np.zeros(1), device))
    return xp.cuda.get_device_name() if device.startswith("cuda") else device
