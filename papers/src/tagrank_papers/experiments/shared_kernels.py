"""Weights of kernels shared by all labels, or of each label, or none (tables 3.2, 3.4, 6.1 to 6.9).

Quality and times of all methods on photographs and rows; time as the labels grow; how weights move; and
himalaya's MultipleKernelRidgeCV as a peer. C is chosen on a third of the training samples. On one core,
processor seconds.
"""

import warnings

import numpy as np

from tagrank.data import load_dataset
from tagrank.estimators import MultipleKernelRanker, MultipleKernelSVM, SharedKernelSVM
from tagrank.metrics import category_auc, category_average_precision, image_auc, image_average_precision
from tagrank.reports.charts import line_chart
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, exponent, where
from tagrank_papers.measuring import best_time, read_record
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.data import DRAWN, dense
from tagrank_papers.protocols.kernel_sets import (
    PHOTOGRAPHS,
    gaussian_stack,
    read_kernels,
    read_photographs,
    read_views,
)
from tagrank_papers.protocols.peers import rank_by_ridge
from tagrank_papers.text import fill, markdown_table, read_text, show

TEXT = read_text("shared_kernels")
PAGES = ("shared-kernel-results.md", "shared-kernel-labels.svg", "shared-kernel-weights.svg")
QUICK = {"only": (DRAWN,), "tags": DRAWN, "labels": (2, 4), "rows": 60, "seconds": 1.0, "peer": False}
METHODS = {
    "SK-SVM": (SharedKernelSVM, {"weights": "best"}),
    "AVG-SVM": (SharedKernelSVM, {"weights": "uniform"}),
    "MKL L1": (MultipleKernelSVM, {}),
    "MKL L2": (MultipleKernelSVM, {"norm": 2.0}),
    "ML-MKL-Sum": (SharedKernelSVM, {}),
    "ML-MKL worst, exact": (SharedKernelSVM, {"objective": "worst"}),
    "ML-MKL-SA": (SharedKernelSVM, {"objective": "worst", "solver": "stochastic"}),
    "SK-MLR": (MultipleKernelRanker, {"weights": "best"}),
    "AVG-MLR": (MultipleKernelRanker, {"weights": "uniform"}),
    "MK-MLR": (MultipleKernelRanker, {}),
    "MLR, held-out weights": (MultipleKernelRanker, {"weights": "held-out"}),
}
GROWN = {
    "sum": {},
    "worst, exact": {"objective": "worst"},
    "worst, stochastic": {"objective": "worst", "solver": "stochastic"},
}
FOLLOWED = {
    "ML-MKL-Sum, level": {"solver": "level"},
    "ML-MKL-Sum, silp": {"solver": "silp"},
    "worst, exact": {"objective": "worst"},
    "ML-MKL-SA": {"objective": "worst", "solver": "stochastic"},
}
COSTS = (1.0, 10.0, 100.0)
TOLERANCE = 1e-3
CHOOSING_TOLERANCE = 1e-2
GROWING_TOLERANCE = 5e-2  # where labels grow; the stochastic method takes minutes to a smaller gap
PATIENCE = 5  # times the seconds of other trainings, where labels grow
WIDTHS = (1 / 4, 1 / 2, 1, 2, 4)
OPTIONS = {"kernel": "precomputed", "n_jobs": 1}


def run(
    *,
    only=(PHOTOGRAPHS, "yeast"),
    rows=1000,
    tags="delicious",
    labels=(10, 20, 50, 100, 200, 500),
    seconds=30.0,
    peer=True,
):
    warnings.filterwarnings("ignore", message=".*never positive|.*always positive|.*duality gap")
    results = {"lines": [], "grown": [], "followed": [], "seconds": seconds}
    for name in only:
        data = read_photographs(rows, 50) if name == PHOTOGRAPHS else read_kernels(name, WIDTHS, rows)
        for method in METHODS:
            line = {"data": name, "method": method, **describe(data), **measure(method, data, seconds)}
            results["lines"].append(line)
            show(line, *(key for key in line if key != "active_names"))
        if name == only[0]:
            results["followed"] = [follow(name, options, data, seconds) for name, options in FOLLOWED.items()]
            if peer:
                results["lines"].append({"data": name, **describe(data), **measure_peer(data)})
                show(results["lines"][-1], "method", "image_auc", "image_map", "seconds")
        yield results
    for line in grow(tags, rows, labels, seconds):
        results["grown"].append(line)
        show(line, *line)
    yield results


def describe(data):
    n_train, n_labels = data.Y.shape
    sizes = {"n_train": n_train, "n_test": len(data.truth), "n_labels": n_labels}
    return sizes | {"n_kernels": data.stack.n_kernels}


def measure(method, data, seconds):
    """One method: chosen on a third of the training samples, trained on all, measured on the test samples."""
    Estimator, options = METHODS[method]
    model = Estimator(**OPTIONS, **options, max_seconds=None if Estimator is MultipleKernelSVM else seconds)
    choosing = best_time(choose_cost, model, data, repeats=1)
    model.set_params(C=choosing.answer, tol=TOLERANCE)
    training = best_time(model.fit, data.stack, data.Y, repeats=1)
    predicting = best_time(model.decision_function, data.test)
    return {
        **rate(data.truth, predicting.answer),
        "C": model.C,
        "gap": float(model.duality_gap_),
        "choosing_seconds": choosing.processor_seconds,
        "seconds": training.processor_seconds,
        "predicting_seconds": predicting.processor_seconds,
        "active": len(model.active_kernels_),
        "active_a_label": float(np.count_nonzero(np.atleast_2d(model.kernel_weights_), axis=1).mean()),
        "support": float(np.count_nonzero(model.dual_coef_) / model.dual_coef_.size),
        "active_names": [model.kernel_names_[j] for j in model.active_kernels_],
    }


def rate(truth, scores):
    measures = {
        "image_auc": image_auc,
        "image_map": image_average_precision,
        "category_auc": category_auc,
        "category_map": category_average_precision,
    }
    return {name: 100 * float(measure(truth, scores)) for name, measure in measures.items()}


def choose_cost(model, data):
    """The cost of the highest sum of image AUC and MAP on a third of the training samples."""
    held_out, kept = np.split(np.random.default_rng(0).permutation(len(data.Y)), [len(data.Y) // 3])
    model.set_params(tol=CHOOSING_TOLERANCE)
    found = []
    for cost in COSTS:
        model.set_params(C=cost).fit(data.stack[np.ix_(kept, kept)], data.Y[kept])
        scores = model.decision_function(data.stack[np.ix_(held_out, kept)])
        found.append(image_auc(data.Y[held_out], scores) + image_average_precision(data.Y[held_out], scores))
    return COSTS[int(np.argmax(found))]


def measure_peer(data):
    """The peer chooses its weights and penalties by cross-validation inside its training."""
    timing = best_time(rank_by_ridge, data, repeats=1)
    scores, settings = timing.answer
    return {"method": "himalaya", **rate(data.truth, scores), "seconds": timing.processor_seconds, **settings}


def follow(name, options, data, seconds):
    """How the weights of SharedKernelSVM move, C = 10."""
    model = SharedKernelSVM(10.0, **OPTIONS, **options, tol=TOLERANCE, max_seconds=seconds)
    model.fit(data.stack, data.Y)
    weights = [point.weights.round(4).tolist() for point in model.trace_]
    return {
        "method": name,
        "kernels": model.kernel_names_,
        "rounds": [point.n_iter for point in model.trace_],
        "weights": weights,
        "gap": float(model.duality_gap_),
        "moved": float(np.abs(np.diff(weights, axis=0)).sum()),
    }


def grow(tags, n_rows, numbers, seconds):
    """Training time of SharedKernelSVM on the most frequent labels, more and more of them."""
    stack, Y = read_tags(tags, n_rows, max(numbers))
    for method, options in GROWN.items():
        for n_labels in numbers:
            model = SharedKernelSVM(
                **OPTIONS, **options, tol=GROWING_TOLERANCE, max_seconds=PATIENCE * seconds
            )
            timing = best_time(model.fit, stack, Y[:, :n_labels], repeats=1)
            yield {
                "data": tags,
                "method": method,
                "n_samples": len(Y),
                "n_kernels": stack.n_kernels,
                "n_labels": n_labels,
                "seconds": timing.processor_seconds,
                "gap": float(model.duality_gap_),
                "rounds": int(model.trace_[-1].n_iter),
            }


def read_tags(name, n_rows, n_labels):
    """Gaussians of several widths on drawn rows, and their most frequent labels first."""
    if name == DRAWN:
        views, Y = read_views(name)
    else:
        train = load_dataset(name).train
        views, Y = {"words": dense(train.X)}, dense(train.Y)
    rows = np.random.default_rng(0).permutation(len(Y))[:n_rows]
    frequent = np.argsort(-Y[rows].sum(axis=0), kind="stable")[:n_labels]
    return gaussian_stack({view: X[rows] for view, X in views.items()}, WIDTHS), Y[np.ix_(rows, frequent)]


# Its answers to tables

ORDER = ("SK-SVM", "SK-MLR", "AVG-SVM", "MKL L1", "MKL L2", "ML-MKL-Sum", "ML-MKL-SA", "AVG-MLR", "MK-MLR")
NAMES = {method: method.replace("MKL L", "MKL-L") for method in ORDER}
MEASURES = {
    "ml-mkl-table3.2": "category_map",
    **dict.fromkeys(("ml-mkl-table3.4", "mk-mlr-figure6.2"), "seconds"),
    **{f"mk-mlr-table6.{number}": "category_auc" for number in (1, 3, 5, 7)},
    **{f"mk-mlr-table6.{number}": "image_auc" for number in (2, 4, 6, 8)},
}


def answer(table, results):
    if table == "mk-mlr-table6.9":
        return _sparsity(results["lines"])
    measure = MEASURES[table]
    by_set = {}
    for line in results["lines"]:
        if line["method"] in NAMES:
            by_set.setdefault(line["data"], {})[line["method"]] = line[measure]
    figures = Figures(
        tuple(by_set),
        {
            NAMES[method]: tuple(f"{values[method]:.2f}" for values in by_set.values())
            for method in NAMES
            if all(method in values for values in by_set.values())
        },
    )
    return Answer(figures, (_compare_times if measure == "seconds" else _quality)(by_set))


def _quality(by_set):
    pairs = (("ML-MKL-Sum", "MKL L1"), ("MK-MLR", "AVG-MLR"), ("MK-MLR", "ML-MKL-Sum"))
    listed = "; ".join(
        f"{first} less {NAMES[second]} "
        + ", ".join(f"{values[first] - values[second]:+.2f}" for values in by_set.values())
        for first, second in pairs
    )
    best = ", ".join(f"{NAMES[max(values, key=values.get)]} ({name})" for name, values in by_set.items())
    return f"Points: {listed}. Best: {best}."


def _compare_times(by_set):
    listed = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{NAMES[method]} {values[method] / values['ML-MKL-Sum']:.1f}"
            for method in ("MKL L1", "MKL L2", "ML-MKL-SA", "MK-MLR")
        )
        for name, values in by_set.items()
    )
    return f"Processor seconds of training in units of ML-MKL-Sum: {listed}."


def _sparsity(lines):
    rows = {}
    for line in lines:
        if line["method"] in ("AVG-SVM", "MKL L1", "MKL L2", "ML-MKL-Sum", "ML-MKL-SA", "MK-MLR"):
            active = (line[key] / line["n_kernels"] for key in ("active_a_label", "active"))
            shares = (*active, line["support"])
            rows[f"{line['data']}: {NAMES[line['method']]}"] = (
                *(f"{100 * (1 - share):.1f}" for share in shares),
                f"{line['predicting_seconds']:.3f}",
            )
    return Answer(
        Figures(("weights, each label", "weights, all labels", "coefficients", "seconds, all"), rows),
        "Share that is zero (%); seconds for all test samples from their similarities on.",
    )


# Its page

MOST_LINES = 5


def render(results, machine):
    """Tables of quality and times, growth, weights, and the published conclusions."""
    parts = [TEXT.intro.format(machine=machine["processor"], seconds=results["seconds"])]
    names = distinct(results["lines"], "data")
    parts += [_data(where(results["lines"], data=data)) for data in names]
    if results["grown"]:
        parts += [_labels(results["grown"]), _weights(results["followed"]), _compared(results, names)]
    pages = fill("".join(parts)), draw_labels(results), draw_weights(results)
    return dict(zip(PAGES, pages, strict=True))


def _data(lines):
    measures = ("image_auc", "image_map", "category_auc", "category_map")
    quality = [[line["method"], *(f"{line[key]:.2f}" for key in measures)] for line in lines]
    own = [line for line in lines if "C" in line]
    costs = _costs(own[0]["data"])
    times = [_times(line, costs) for line in own]
    header = ["", "C", "gap", "choosing, s", "training, s", "predicting, s", "active", "a label", "nonzero"]
    return TEXT.data.format(
        **own[0],
        quality=markdown_table(
            ["", "image AUC", "image MAP", "category AUC", "category MAP"], quality, numbers=True
        ),
        times=markdown_table([*header, *(["ms a picture"] if costs else [])], times, numbers=True),
        after=_peer(lines) + (TEXT.cost if costs else ""),
    )


def _times(line, costs):
    cells = [
        line["method"],
        f"{line['C']:g}",
        f"{line['gap']:.1e}",
        f"{line['choosing_seconds']:.1f}",
        f"{line['seconds']:.2f}",
        f"{line['predicting_seconds']:.3f}",
        f"{line['active']} of {line['n_kernels']}",
        f"{line['active_a_label']:.1f}",
        f"{line['support']:.0%}",
    ]
    if costs:
        cells.append(f"{sum(costs[name] for name in line['active_names']):.0f}")
    return cells


def _costs(data):
    """Milliseconds a picture of each set of features, where they were measured."""
    if data != PHOTOGRAPHS:
        return {}
    lines = read_record("pictures")["results"]
    return next(line["seconds"]["ms a picture"] for line in lines if line["data"] == data)


def _peer(lines):
    by_method = {line["method"]: line for line in lines}
    if "himalaya" not in by_method:
        return ""
    peer, ours = by_method["himalaya"], by_method["MK-MLR"]
    held_out = by_method["MLR, held-out weights"]
    seconds = [line["seconds"] + line["choosing_seconds"] for line in (ours, held_out)]
    differences = [
        f"{title} {ours[key] - peer[key]:+.2f} (held-out weights {held_out[key] - peer[key]:+.2f})"
        for key, title in (("image_auc", "image AUC"), ("image_map", "image MAP"))
    ]
    return TEXT.peer.format(
        n_iter=peer["n_iter"],
        ours=f"{seconds[0]:.1f} seconds (C = {ours['C']:g})",
        held_out=f"{seconds[1]:.1f} (C = {held_out['C']:g})",
        peer=peer["seconds"],
        ratios=" and ".join(f"{peer['seconds'] / own:.0f}" for own in seconds),
        quality=f"Points of MK-MLR above it: {', '.join(differences)}.",
    )


def _labels(grown):
    numbers = sorted(distinct(grown, "n_labels"))
    rows = []
    for method in distinct(grown, "method"):
        cells = {line["n_labels"]: _cell(line) for line in where(grown, method=method)}
        rows.append([method, *(cells[number] for number in numbers)])
    return TEXT.labels.format(
        **grown[0],
        table=markdown_table(["labels", *map(str, numbers)], rows, numbers=True),
        exponents=_exponents(grown),
        verdict=_verdict(grown),
        tolerance=GROWING_TOLERANCE,
    )


def _verdict(grown):
    some, exact = where(grown, method="worst, stochastic"), where(grown, method="worst, exact")[-1]
    n_reached = sum(line["gap"] <= GROWING_TOLERANCE for line in some)
    slope = exponent([line["n_labels"] for line in some], [line["seconds"] / line["rounds"] for line in some])
    return TEXT.verdict.format(
        n_reached=n_reached,
        n_all=len(some),
        seen="seen" if slope < 0.9 and n_reached == len(some) else "not seen",
        slope=slope,
        n_labels=exact["n_labels"],
        ratio=some[-1]["seconds"] / exact["seconds"],
    )


def _cell(line):
    return f"{line['seconds']:.2f} ({line['rounds']}){'*' if line['gap'] > GROWING_TOLERANCE else ''}"


def _weights(followed):
    moved = ", ".join(
        f"{line['method']} {line['moved']:.1f} in {len(line['rounds'])} measurements (gap {line['gap']:.0e})"
        for line in followed
    )
    return TEXT.weights.format(moved=moved)


def draw_labels(results):
    """Seconds over the number of labels, as SVG."""
    series = []
    for method in distinct(results["grown"], "method"):
        some = where(results["grown"], method=method)
        series.append((method, [line["n_labels"] for line in some], [line["seconds"] for line in some]))
    if not series:
        return "\n"
    return draw_charts(
        [
            line_chart("seconds", series, description="", x_label="labels", logarithmic=logarithmic)
            for logarithmic in (False, True)
        ]
    )


def draw_weights(results):
    """The largest weights of some methods over their rounds, one chart each, as SVG."""
    followed = results["followed"]
    largest = np.max([np.asarray(line["weights"])[-1] for line in followed], axis=0)
    shown = np.argsort(-largest)[:MOST_LINES]
    charts = []
    for line in followed:
        weights = np.asarray(line["weights"])
        series = [(line["kernels"][j], line["rounds"], weights[:, j]) for j in shown]
        charts.append(line_chart(line["method"], series, description="", x_label="rounds"))
    return draw_charts(charts)


def _compared(results, names):
    """The published figures beside ours, and one item for each conclusion."""
    several = {name: {line["method"]: line for line in where(results["lines"], data=name)} for name in names}
    moved = ", ".join(f"{line['method']} {line['moved']:.1f}" for line in results["followed"])
    seconds = (
        f"{some['MKL L1']['seconds']:.1f} and {some['ML-MKL-Sum']['seconds']:.1f} ({name})"
        for name, some in several.items()
    )
    quality = "image_auc", "image_map"
    return TEXT.compared.format(
        data=names[0],
        table=_table(several[names[0]]),
        shared=_differences(several, "ML-MKL-Sum", "MKL L1", ("category_map", "image_auc")),
        faster=f"Seconds of training, MKL L1 and ML-MKL-Sum: {'; '.join(seconds)}.",
        ranking=f"{_differences(several, 'MK-MLR', 'ML-MKL-Sum', quality)} {_best(several)}",
        learned=_differences(several, "MK-MLR", "AVG-MLR", quality),
        sparse=_sparse(several[names[0]]),
        stable=f"How far they went: {moved}.",
        growth=f"Our exponents: {_exponents(results['grown'])}.",
    )


def _table(lines):
    aucs, sparsities = (find_table(f"mk-mlr-table6.{number}").published for number in (2, 9))
    column = aucs.columns.index("200")
    rows = []
    for method in (method for method in METHODS if method in NAMES):
        line, name = lines[method], NAMES[method]
        sparsity = sparsities.rows.get(name)
        rows.append(
            [
                method,
                f"{float(aucs.rows[name.removesuffix('-SVM') if method == 'AVG-SVM' else name][column]):.1f}",
                f"{float(sparsity[0]):.0f} %" if sparsity else "",
                f"{line['image_auc']:.1f}",
                f"{100 * (1 - line['active'] / line['n_kernels']):.0f} %",
            ]
        )
    header = ["", "published AUC", "published sparsity", "our AUC", "our sparsity"]
    return markdown_table(header, rows, numbers=True)


def _sparse(lines):
    alone, n_kernels = lines["MKL L1"], lines["MKL L1"]["n_kernels"]
    others = ", ".join(f"{name} {lines[name]['active']}" for name in ("ML-MKL-Sum", "MK-MLR", "ML-MKL-SA"))
    return (
        f"Of {n_kernels} kernels MKL L1 uses {alone['active_a_label']:.1f} a label and {alone['active']} in "
        f"all; {others}."
    )


def _differences(several, first, second, keys):
    words = {"image_auc": "image AUC", "image_map": "image MAP", "category_map": "category MAP"}
    parts = []
    for name, some in several.items():
        values = ", ".join(f"{words[key]} {some[first][key] - some[second][key]:+.2f}" for key in keys)
        parts.append(f"{values} ({name})")
    return f"{first} against {second}, in points: {'; '.join(parts)}."


def _best(several):
    best = {name: max(some, key=lambda method: some[method]["image_auc"]) for name, some in several.items()}
    return f"Best in image AUC: {', '.join(f'{method} ({name})' for name, method in best.items())}."


def _exponents(grown):
    """e of seconds ~ labels^e of each method, where the gap was reached."""
    words = []
    for method in distinct(grown, "method"):
        some = [line for line in where(grown, method=method) if line["gap"] <= GROWING_TOLERANCE]
        sizes, seconds = ([line[key] for line in some] for key in ("n_labels", "seconds"))
        words.append(f"{method} {exponent(sizes, seconds) if len(some) > 1 else np.nan:.2f}")
    return ", ".join(words)
