"""`train` with its whole choice on many rows, and rows of a file: seconds, memory and quality.

dense and sparse rows, and pictures as two sets of 1,280 features, are drawn into files. Each line is work in
a process of its own that maps them: seconds of the clock and of the processor, memory beyond that of the
imports without the mapped files, and the quality on rows that were held out. `asked` is what the work may
take, and `ratio` that over the seconds. `subset` trains the same pictures twice: with landmarks, and exactly
(`lost_map` and `lost_auc`, in points; `ratio` of their seconds). `disk` learns straight lines from rows of a
file; `ratio` is the larger of reading the file and of the bare products, as often as training does either,
over its seconds. Asked is 0.33. `--cases pictures subset` and `--disk 1000000` take half an hour and more,
and are not among the usual figures.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.fresh_process import measure
from benchmarks.speed.many_rows import draw_rows
from tagrank import Annotator, OneVsAllLogistic, OneVsAllSVM
from tagrank.annotation import Recipe
from tagrank.arrays import row_blocks, rows_within
from tagrank.data import Collection
from tagrank.features import choose_features
from tagrank.metrics import image_auc, image_average_precision
from tagrank.solvers.primal_rows import RowPart
from tagrank_papers.text import show

MINUTES = 4
QUICK = {"share": 0.002}
USUAL = ("dense", "sparse", "disk")
ASKED = {"dense": 60, "sparse": 60, "pictures": 900}  # seconds
VIEWS = ("efficientnet_lite0", "efficientnet_lite2")
HELD_OUT = 2_000
FACTORS, GROUPS = 48, 400
LOSSES = {"logistic": OneVsAllLogistic, "hinge": OneVsAllSVM}


def run(*, cases=USUAL, share=1.0, pictures=100_000, subset=20_001, disk=100_000, memory=8.0):
    lines = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            for line in _LINES[case](
                Path(folder), share, {"subset": subset, "disk": disk}.get(case, pictures), memory
            ):
                show(line, *line)
                lines.append({"case": case, **line})
                yield lines


def _lines_of_rows(case, draw):
    def lines(folder, share, pictures, memory):
        size = draw(folder, share, pictures)
        line = _trained(folder, {"memory": memory * 2**30}, size)
        yield line | {"asked": ASKED[case], "ratio": ASKED[case] / line["seconds"]}

    return lines


def _lines_of_subset(folder, share, pictures, memory):
    size = draw_pictures(folder, share, pictures)
    approximate = _trained(folder, {"memory": memory * 2**30}, size)
    exact = _trained(folder, {"exact": True}, size)
    lost = {f"lost_{name}": 100 * (exact[name] - approximate[name]) for name in ("map", "auc")}
    ratio = exact["seconds"] / approximate["seconds"]
    yield {"what": "landmarks"} | approximate | lost | {"ratio": ratio}
    yield {"what": "exact"} | exact | {"ratio": 1.0}


def _lines_of_disk(folder, share, rows, memory):
    size = {"rows": max(2_000, int(share * rows)), "columns": 512, "labels": 200}
    if share < 1:
        size |= {"columns": 16, "labels": 5}
    draw_file(folder, **size)
    for loss in LOSSES:
        cost = measure(learn_lines, folder, loss)
        yield {"loss": loss, **size, **cost.answer, "mebibytes": cost.memory / 2**20}


def _trained(folder, settings, size):
    cost = measure(train, folder, settings)
    used = {"processor_seconds": cost.seconds, "mebibytes": cost.memory / 2**20}
    return {**size, **cost.answer, **used}


# work in a process of its own


def train(folder, settings):
    """A model as `tagrank train` makes it, and how it ranks the rows that were held out."""
    training, held_out = _read(folder, "train"), _read(folder, "test")
    features = choose_features(list(VIEWS)) if VIEWS[0] in training.views else None
    started = time.perf_counter()
    model = Annotator(Recipe(**settings), features=features).fit(training)
    seconds = time.perf_counter() - started
    scores = model.scores(held_out)
    return {
        "seconds": seconds,
        "map": image_average_precision(held_out.labels, scores),
        "auc": image_auc(held_out.labels, scores),
        "chosen": model.choice_.words,
        "choosing": model.choice_.seconds,
        "plan": model.choice_.plan,
    }


def learn_lines(folder, loss):
    """Straight lines for all labels of the rows of a file, and the least that this takes."""
    X, Y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("rows", "labels"))
    counted = _count_products()
    started = time.perf_counter()
    model = LOSSES[loss](C=0.01, kernel="linear", fit_intercept=True, tol=1e-2).fit(X, Y)
    seconds = time.perf_counter() - started
    n_products, n_passes = counted["products"] / X.size, counted["rows"] / len(X)
    reading, multiplying = _time_reading(X), _time_products(X, Y.shape[1])
    least = max(n_passes * reading, n_products / Y.shape[1] * multiplying)
    return {
        "seconds": seconds,
        "gap": model.duality_gap_,
        "steps": model.n_iter_,
        "passes": n_passes,
        "reading": n_passes * reading,
        "products": n_products / Y.shape[1] * multiplying,
        "ratio": least / seconds,
    }


def _count_products():
    """Numbers that will be multiplied with labels, and rows that are read, by the parts of this process."""
    counted = {"products": 0.0, "rows": 0.0}

    def counting(name, n_labels_of):
        plain = getattr(RowPart, name)

        def work(part, A):
            counted["products"] += float(part.X.shape[0]) * part.X.shape[1] * n_labels_of(A)
            counted["rows"] += part.X.shape[0]
            return plain(part, A)

        setattr(RowPart, name, work)

    for name in ("_multiply", "_gather"):
        counting(name, len)
    return counted


def _time_reading(X):
    started = time.perf_counter()
    for block in row_blocks(len(X), rows_within(X.shape[1], itemsize=4)):
        X[block].max()
    return time.perf_counter() - started


def _time_products(X, n_labels):
    """Seconds of one product of all rows with weights."""
    W = np.random.default_rng(0).standard_normal((n_labels, X.shape[1]), dtype=np.float32)
    started = time.perf_counter()
    for block in row_blocks(len(X), rows_within(X.shape[1], itemsize=4)):
        W @ np.asarray(X[block]).T
    return time.perf_counter() - started


# drawn rows


def _read(folder, part):
    labels = np.load(folder / f"{part}-labels.npy")
    views = {
        path.stem.removeprefix(f"{part}-view-"): np.load(path, mmap_mode="r")
        for path in sorted(folder.glob(f"{part}-view-*.npy"))
    }
    views |= {
        path.stem.removeprefix(f"{part}-view-"): sparse.load_npz(path)
        for path in sorted(folder.glob(f"{part}-view-*.npz"))
    }
    return Collection(views, labels, [f"tag {i}" for i in range(labels.shape[1])])


def _write(folder, views, Y):
    parts = {"test": slice(0, HELD_OUT), "train": slice(HELD_OUT, None)}
    for part, rows in parts.items():
        np.save(folder / f"{part}-labels.npy", Y[rows].astype(np.float32))
        for name, X in views.items():
            path = folder / f"{part}-view-{name}"
            if sparse.issparse(X):
                sparse.save_npz(path, X[rows])
            else:
                np.save(path, X[rows])


def draw_dense(folder, share, pictures):
    """25,000 rows of 256 columns with 100 labels."""
    size = _scaled(share, rows=25_000, columns=256, labels=100)
    X, Y = draw_rows(size["rows"] + HELD_OUT, size["columns"], size["labels"])
    _write(folder, {"rows": X}, Y)
    return size


def draw_sparse(folder, share, pictures):
    """28,000 rows of 500 columns with 22 labels: words that are there or not."""
    size = _scaled(share, rows=28_000, columns=500, labels=22)
    rng = np.random.default_rng(0)
    n_rows, n_columns, n_labels = size["rows"] + HELD_OUT, size["columns"], size["labels"]
    Y = rng.random((n_rows, n_labels)) < 0.45 / np.arange(1, n_labels + 1) ** 0.8
    usual = 0.9 / np.arange(1, n_columns + 1) ** 0.6
    more = rng.gamma(0.2, 1.0, (n_labels, n_columns)) * usual
    expected = usual + Y @ more + 0.5 * rng.gamma(0.2, 1.0, (n_rows, n_columns)) * usual
    X = sparse.csr_array((rng.random((n_rows, n_columns)) < 1 - np.exp(-expected)).astype(np.float32))
    _write(folder, {"words": X}, Y)
    return size


def draw_pictures(folder, share, pictures):
    """Pictures as two networks see them: rows of length 1 with no entry below zero, and 300 labels.

    Pictures are near one of 400 scenes. A label is a direction of the scenes, or of two of their factors
    multiplied with each other, so that straight lines do not suffice.
    """
    size = _scaled(share, rows=pictures, columns=1280, labels=300)
    rng = np.random.default_rng(0)
    n_rows, n_labels = size["rows"] + HELD_OUT, size["labels"]
    scenes = rng.standard_normal((GROUPS, FACTORS), dtype=np.float32)
    factors = scenes[rng.integers(GROUPS, size=n_rows)]
    factors += 0.8 * rng.standard_normal(factors.shape, dtype=np.float32)
    strength = factors @ rng.standard_normal((FACTORS, n_labels), dtype=np.float32)
    one, other = rng.integers(FACTORS, size=(2, n_labels))
    strength += 4 * factors[:, one] * factors[:, other]
    strength += 0.5 * strength.std() * rng.standard_normal(strength.shape, dtype=np.float32)
    shares = 0.3 / np.arange(1, n_labels + 1) ** 0.7
    least = [np.quantile(column, 1 - one) for column, one in zip(strength.T, shares, strict=True)]
    Y, views = strength > np.array(least), {}
    for name in VIEWS:
        loadings = rng.standard_normal((FACTORS, size["columns"]), dtype=np.float32) / FACTORS**0.5
        X = factors @ loadings
        X += 0.7 * rng.standard_normal(X.shape, dtype=np.float32)
        np.sqrt(np.maximum(X, 0, out=X), out=X)
        views[name] = X / np.linalg.norm(X, axis=1, keepdims=True)
    _write(folder, views, Y)
    return size


def draw_file(folder, rows, columns, labels):
    """Rows and labels as `draw_rows` draws them, block by block into files."""
    shape = {"rows": (rows, columns), "labels": (rows, labels)}
    X = np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float32, shape["rows"])
    Y = np.lib.format.open_memmap(folder / "labels.npy", "w+", np.int8, shape["labels"])
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((40, columns), dtype=np.float32)
    loadings /= np.sqrt(np.arange(1, 41, dtype=np.float32))[:, None]
    directions = rng.standard_normal((columns, labels), dtype=np.float32) / np.sqrt(columns)
    shares, least = 0.3 / np.arange(1, labels + 1) ** 0.7, None
    for block in row_blocks(rows, 50_000):
        part = rng.standard_normal((block.stop - block.start, 40), dtype=np.float32) @ loadings
        part += 0.5 * rng.standard_normal(part.shape, dtype=np.float32)
        part /= part.std()
        strength = part @ directions
        strength += 0.3 * strength.std() * rng.standard_normal(strength.shape, dtype=np.float32)
        if least is None:
            least = [np.quantile(column, 1 - one) for column, one in zip(strength.T, shares, strict=True)]
        X[block], Y[block] = part, strength > np.array(least)


def _scaled(share, *, rows, columns, labels):
    """The size of a problem; of a quick run everything is smaller."""
    if share >= 1:
        return {"rows": rows, "columns": columns, "labels": labels}
    return {"rows": max(400, int(share * rows)), "columns": columns // 16, "labels": max(4, labels // 20)}


_LINES = {
    "dense": _lines_of_rows("dense", draw_dense),
    "sparse": _lines_of_rows("sparse", draw_sparse),
    "pictures": _lines_of_rows("pictures", draw_pictures),
    "subset": _lines_of_subset,
    "disk": _lines_of_disk,
}
