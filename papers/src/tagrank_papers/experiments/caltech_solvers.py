"""Solvers of several kernels on Caltech 101: tables 2.7, 2.8, 2.10 and figures 2.2 to 2.4, 2.7 of chapter 2.

One class against the others at a time, those of its figures 2.2 to 2.4: rounds and processor seconds of
training, with more pictures and with more kernels. Solvers end after 40 rounds or at a relative gap of 0.001.
"""

import warnings

import numpy as np

from tagrank.estimators import MultipleKernelSVM, SharedKernelSVM
from tagrank.kernels import KernelStack
from tagrank.metrics import category_average_precision
from tagrank.reports.charts import line_chart
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, mean, where
from tagrank_papers.measuring import best_time
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.caltech_pictures import open_pictures
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.protocols.kernel_sets import PAPER_NAMES
from tagrank_papers.text import fill, read_text, show

TEXT = read_text("caltech_solvers")
PAGES = ("caltech-solver-results.md", "caltech-solver-rounds.svg", "caltech-active-kernels.svg")
QUICK = {"only": DRAWN, "sizes": (10, 20), "widths": ((1.5,), (1.5, 2.0)), "rounds": (1, 5, 10)}
CLASSES = ("anchor", "bonsai", "camera")
L1 = tuple(PAPER_NAMES)[:-1]
CASES = [*((name, 1) for name in L1), *((name, p) for name in ("group-lasso", "silp", "smo") for p in (2, 4))]
C = 10.0
ROUNDS, TOLERANCE = 40, 1e-3
BEST = 15  # kernels that get more widths
OPTIONS = {"kernel": "precomputed", "normalization": "trace", "random_state": 0, "n_jobs": 1}


def run(
    *,
    only="caltech101",
    sizes=(10, 30),
    draws=1,
    widths=((1.5,), (1.25, 1.5, 1.75, 2.0)),
    rounds=(1, 2, 3, 5, 10, 20, 30, 40),
):
    """`widths` of the best kernels, in means of the distance, for table 2.10, with the first of `sizes`."""
    warnings.filterwarnings("ignore", message=".*duality gap|.*never positive")
    results = {"lines": [], "rounds": []}
    read = open_pictures(only)
    for draw in range(draws):
        read.draw(draw, max(sizes))
        for size in sizes:
            data, labels = read.part(size), read.places(CLASSES)
            stacks = [data.stack]
            if size == sizes[0]:
                best = np.argsort(-rank(data), kind="stable")[:BEST]
                stacks += [widen(data.stack, best, some) for some in widths]
                if draw == 0:
                    results["rounds"] = list(follow(data, labels, rounds))
            for stack in stacks:
                for line in compare(stack, data.Y[:, labels]):
                    results["lines"].append({"size": size, "draw": draw, **line})
                    yield results


def make_model(solver, norm):
    rounds = 1000 if solver == "smo" else ROUNDS
    options = {**OPTIONS, "solver": solver, "norm": float(norm), "tol": TOLERANCE}
    return MultipleKernelSVM(C, **options, max_iter=rounds)


def compare(stack, Y):
    """Every solver on every class, one by one."""
    few = np.argsort(-Y[:, 0], kind="stable")[:50]
    for solver, norm in CASES:
        model = make_model(solver, norm)
        model.fit(
            stack[np.ix_(few, few)], 1.0 * (np.arange(len(few)) < 5)
        )  # compiles what is not compiled yet
        for k, y in enumerate(np.hsplit(Y, Y.shape[1])):
            timing = best_time(model.fit, stack, y, repeats=1)
            line = {
                "n_kernels": stack.n_kernels,
                "solver": solver,
                "norm": norm,
                "label": k,
                "seconds": timing.processor_seconds,
                "rounds": int(model.trace_[-1].n_iter),
                "gap": float(model.duality_gap_),
                "active": np.count_nonzero(model.weight_path_ > 0, axis=1).tolist(),
            }
            show(line, "n_kernels", "solver", "norm", "label", "seconds", "rounds", "gap")
            yield line


def rank(data):
    """MAP of each kernel alone on held-out pictures of the training part."""
    held_out = np.arange(len(data.Y)) % 2 == 0
    a, b = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    found = []
    for j in range(data.stack.n_kernels):
        alone = KernelStack([data.stack.kernel(j)], trusted=True)
        model = SharedKernelSVM(C, weights="uniform", tol=1e-2, **OPTIONS)
        model.fit(alone[np.ix_(a, a)], data.Y[a])
        found.append(category_average_precision(data.Y[b], model.decision_function(alone[np.ix_(b, a)])))
    return np.array(found)


def widen(stack, best, widths):
    """All kernels, and the best ones with other widths: powers of exp(-d / width)."""
    matrices = [stack.kernel(j) for j in range(stack.n_kernels)]
    wider = [np.power(matrices[j], np.float32(1 / width)) for width in widths for j in best]
    return KernelStack([*matrices, *wider], trusted=True)


def follow(data, labels, rounds):
    """Average precision of each class after so many rounds, all L1 solvers, as figures 2.2 to 2.4."""
    for solver in L1:
        for k, label in enumerate(labels):
            path = make_model(solver, 1).fit(data.stack, data.Y[:, [label]]).weight_path_
            for number in rounds:
                weights = path[min(number, len(path)) - 1]
                model = SharedKernelSVM(C, weights=weights, **OPTIONS).fit(data.stack, data.Y[:, [label]])
                scores = model.decision_function(data.test)
                precision = category_average_precision(data.truth[:, [label]], scores.reshape(-1, 1))
                yield {"solver": solver, "label": k, "round": number, "ap": 100 * float(precision)}


# Its answers to tables


def answer(table, results):
    lines = results["lines"]
    if table == "mkl-figure2.2":
        return _rounds(results["rounds"])
    if table == "mkl-figure2.7":
        return _active(lines)
    usual = min(distinct(lines, "n_kernels"))
    first = lines[0]["size"]
    by_size = {f"{size}": where(lines, size=size, n_kernels=usual) for size in distinct(lines, "size")}
    by_kernels = {f"{n}": where(lines, size=first, n_kernels=n) for n in distinct(lines, "n_kernels")}
    if table == "mkl-table2.7":
        return _smo(by_size, by_kernels)
    columns = by_size if table == "mkl-table2.8" else by_kernels
    return Answer(_times(columns), _order(columns))


def _times(columns):
    rows = {
        f"{PAPER_NAMES[solver]}-L{norm}": tuple(
            cell
            for lines in columns.values()
            for cell in (
                f"{mean(lines, 'seconds', solver=solver, norm=norm):.2f}",
                f"{mean(lines, 'rounds', solver=solver, norm=norm):.1f}",
            )
        )
        for solver, norm in CASES
        if solver != "smo"
    }
    return Figures(tuple(f"{name}: {what}" for name in columns for what in ("s", "rounds")), rows)


def _order(columns):
    """The L1 solvers from fast to slow; rounds beyond; how many ended before their gap."""
    words = []
    for name, lines in columns.items():
        seconds = {solver: mean(lines, "seconds", solver=solver, norm=1) for solver in L1}
        order = sorted(seconds, key=seconds.get)
        words.append(f"{name}: {', '.join(f'{PAPER_NAMES[one]} {seconds[one]:.2f}' for one in order)}")
    every = [line for lines in columns.values() for line in lines if line["solver"] != "smo"]
    late = [line for line in every if line["gap"] > TOLERANCE]
    return (
        f"L1 solvers from fast to slow, processor seconds a class, {'; '.join(words)}. "
        f"{len(late)} of {len(every)} trainings ended after {ROUNDS} rounds, before their gap was reached."
    )


def _smo(by_size, by_kernels):
    rows = {
        f"Caltech 101, {what}: {PAPER_NAMES[solver]}": _three(
            f"{mean(lines, 'seconds', solver=solver, norm=2):.2f}" for lines in columns.values()
        )
        for what, columns in (("samples", by_size), ("kernels", by_kernels))
        for solver in ("silp", "smo")
    }
    ratios = [
        mean(lines, "seconds", solver="silp", norm=2) / mean(lines, "seconds", solver="smo", norm=2)
        for lines in (*by_size.values(), *by_kernels.values())
    ]
    return Answer(
        Figures(("first", "second", "third"), rows),
        f"Processor seconds a class, {', '.join(by_size)} pictures a class, {', '.join(by_kernels)} kernels. "
        f"SIP takes {min(ratios):.1f} to {max(ratios):.1f} times the seconds of SMO.",
    )


def _three(cells):
    return (*cells, "", "", "")[:3]


def _rounds(lines):
    numbers = distinct(lines, "round")
    rows, spread = {}, {}
    for k in distinct(lines, "label"):
        for solver in L1:
            values = [mean(lines, "ap", solver=solver, label=k, round=number) for number in numbers]
            rows[f"{CLASSES[k]}: {PAPER_NAMES[solver]}"] = tuple(f"{value:.1f}" for value in values)
            spread.setdefault(solver, []).append(np.abs(np.diff(values)).sum())
    listed = ", ".join(f"{PAPER_NAMES[solver]} {np.mean(ways):.1f}" for solver, ways in spread.items())
    return Answer(
        Figures(tuple(f"{number} rounds" if number > 1 else "1 round" for number in numbers), rows),
        f"Average precision (%). Sum of its changes from column to column, mean of the classes: {listed}.",
    )


def _active(lines):
    """Of MKL-SIP, with most pictures and the usual kernels, mean of the classes."""
    numbers = (1, 2, 5, 10, 20, 40)
    rows = {}
    for norm in (1, 2, 4):
        paths = _paths(lines, norm)
        rows[f"L{norm}"] = tuple(f"{np.mean([_at(path, n) for path in paths]):.1f}" for n in numbers)
    columns = tuple(f"{n} rounds" if n > 1 else "1 round" for n in numbers)
    usual = min(distinct(lines, "n_kernels"))
    return Answer(Figures(columns, rows), f"Active kernels of MKL-SIP, of {usual}, mean of the classes.")


def _paths(lines, norm):
    size, usual = max(distinct(lines, "size")), min(distinct(lines, "n_kernels"))
    return [line["active"] for line in where(lines, solver="silp", norm=norm, size=size, n_kernels=usual)]


def _at(path, number):
    """Training may end before."""
    return path[min(number, len(path)) - 1]


# Its page


def render(results, machine):
    """Tables of seconds and rounds, and the drawings."""
    lines = results["lines"]
    answers = {
        name: answer(table, results)
        for name, table in (
            ("samples", "mkl-table2.8"),
            ("kernels", "mkl-table2.10"),
            ("smo", "mkl-table2.7"),
            ("rounds", "mkl-figure2.2"),
            ("active", "mkl-figure2.7"),
        )
    }
    page = TEXT.page.format(
        machine=machine["processor"],
        classes=", ".join(CLASSES),
        first=lines[0]["size"],
        n_kernels=min(distinct(lines, "n_kernels")),
        **{name: one.figures.to_markdown() for name, one in answers.items()},
        **{f"{name}_verdict": one.verdict for name, one in answers.items()},
    )
    return dict(zip(PAGES, (fill(page), draw_rounds(results["rounds"]), draw_active(lines)), strict=True))


def draw_rounds(lines):
    """Average precision over rounds, a chart for each class, as figures 2.2 to 2.4, as SVG."""
    charts = []
    for k in distinct(lines, "label"):
        series = [
            (PAPER_NAMES[solver], [line["round"] for line in some], [line["ap"] for line in some])
            for solver in L1
            for some in [where(lines, solver=solver, label=k)]
        ]
        charts.append(line_chart(f"AP (%), {CLASSES[k]}", series, description="", x_label="rounds"))
    return draw_charts(charts)


def draw_active(lines):
    """Active kernels of MKL-SIP over rounds, as figure 2.7, as SVG."""
    series = []
    for norm in (1, 2, 4):
        paths = _paths(lines, norm)
        rounds = range(1, max(map(len, paths)) + 1)
        series.append((f"L{norm}", list(rounds), [np.mean([_at(path, n) for path in paths]) for n in rounds]))
    return draw_charts([line_chart("active kernels", series, description="", x_label="rounds")])
