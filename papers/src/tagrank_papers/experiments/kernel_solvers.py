"""All solvers of several kernels on the same problems: objective, gap, rounds, seconds (tables 2.9 and 2.11).

One label against the rest at a time, hinge loss, the same C and the same gap asked of all, on one core;
processor seconds. A training that takes longer than `seconds` of the clock ends there, and tells the gap that
it reached.
"""

import warnings

import numpy as np

from tagrank.estimators import MultipleKernelSVM
from tagrank.reports.charts import line_chart
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import exponent, where
from tagrank_papers.measuring import best_time
from tagrank_papers.plots import draw_charts
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.protocols.kernel_sets import (
    PAPER_NAMES,
    PHOTOGRAPHS,
    gaussian_stack,
    read_photographs,
    read_views,
)
from tagrank_papers.text import fill, markdown_table, read_text, show

TEXT = read_text("kernel_solvers")
PAGES = ("kernel-solver-results.md", "kernel-solvers.svg")
QUICK = {
    "only": (DRAWN,),
    "grown": DRAWN,
    "samples": (40, 80),
    "widths": (1, 2),
    "labels": 1,
    "seconds": 1.0,
}
L1 = ("silp", "simple", "gradient", "mirror", "level", "group-lasso")
BEYOND = ("silp", "group-lasso", "smo")
CASES = [(name, 1.0) for name in L1] + [(name, norm) for norm in (2.0, 4.0) for name in BEYOND]
WIDTHS = {"mfeat": 1}  # on each view; of other sets OTHER_WIDTHS
OTHER_WIDTHS = 5
WIDTHS_OF_SAMPLES = 2  # where the number of samples grows
MOST_SAMPLES = 1000  # where it does not
C = 10.0
TOLERANCE = 1e-3


def run(
    *,
    only=("mfeat", "yeast", "emotions", PHOTOGRAPHS),
    grown="mfeat",
    samples=(250, 500, 1000, 2000),
    widths=(1, 2, 4, 8, 16),
    labels=3,
    seconds=30.0,
):
    warnings.filterwarnings("ignore", message=".*duality gap")
    results = {"seconds": seconds, "lines": [], "kernels": [], "samples": []}
    for name in only:
        stack, Y = read_data(name)
        results["lines"].append({"data": name, **compare(stack, Y, labels, seconds)})
        yield results
    views, Y = read_views(grown)
    for n_widths in widths:
        stack, labels_of_rows = make_stack(views, Y, MOST_SAMPLES, n_widths)
        results["kernels"].append({"data": grown, **compare(stack, labels_of_rows, 1, seconds)})
    for n_samples in samples:
        stack, labels_of_rows = make_stack(views, Y, n_samples, WIDTHS_OF_SAMPLES)
        results["samples"].append({"data": grown, **compare(stack, labels_of_rows, 1, seconds)})
    yield results


def read_data(name):
    """Kernels and labels of at most MOST_SAMPLES training samples."""
    if name == PHOTOGRAPHS:
        photographs = read_photographs(MOST_SAMPLES)
        return photographs.stack, photographs.Y
    return make_stack(*read_views(name), MOST_SAMPLES, WIDTHS.get(name, OTHER_WIDTHS))


def make_stack(views, Y, n_samples, n_widths):
    """Gaussians of several widths, from a quarter to four times the mean distance, on drawn samples."""
    rows = np.random.default_rng(0).permutation(len(Y))[:n_samples]
    widths = np.geomspace(1 / 4, 4, n_widths) if n_widths > 1 else (1.0,)
    return gaussian_stack({view: X[rows] for view, X in views.items()}, widths), Y[rows]


def compare(stack, Y, n_labels, seconds):
    """Every solver on the most frequent labels, one by one."""
    labels = np.argsort(-Y.sum(axis=0), kind="stable")[:n_labels]
    line = {"n_samples": stack.n_samples, "n_kernels": stack.n_kernels, "cases": []}
    for solver, norm in CASES:
        model = MultipleKernelSVM(C, kernel="precomputed", solver=solver, norm=norm, tol=TOLERANCE, n_jobs=1)
        model.set_params(max_iter=30).fit(stack, Y[:, labels[:1]])  # compiles what is not compiled yet
        model.set_params(max_iter=100_000, max_seconds=seconds)
        line["cases"].append({"solver": solver, "norm": norm, **measure(model, stack, Y[:, labels])})
        show(line | line["cases"][-1], "n_samples", "n_kernels", *line["cases"][-1])
    return line


def measure(model, stack, Y):
    """Means over the labels; of the gap the largest, and how many labels reached the one asked for."""
    found = []
    for y in np.hsplit(Y, Y.shape[1]):
        timing = best_time(model.fit, stack, y, repeats=1)
        found.append(
            {
                "objective": float(model.primal_objective_),
                "rounds": int(model.trace_[-1].n_iter),
                "seconds": timing.processor_seconds,
                "active": len(model.active_kernels_),
                "gap": float(model.duality_gap_),
            }
        )
    means = {key: float(np.mean([line[key] for line in found])) for key in found[0]}
    gaps = [line["gap"] for line in found]
    return means | {"gap": max(gaps), "reached": sum(gap <= TOLERANCE for gap in gaps), "labels": len(gaps)}


# Its answers to tables

GROWN = {"mkl-table2.11": "kernels"}


def answer(table, results):
    grown = results[GROWN.get(table, "samples")] or results["lines"]
    columns = [
        f"{line['n_samples']:,} x {line['n_kernels']}: {what}" for line in grown for what in ("s", "rounds")
    ]
    rows = {}
    for solver in PAPER_NAMES:
        for norm in (1.0, 2.0, 4.0):
            cases = [_case(line, solver, norm) for line in grown]
            if all(cases):
                cells = [
                    cell for case in cases for cell in (f"{case['seconds']:.2f}", f"{case['rounds']:.0f}")
                ]
                rows[f"{PAPER_NAMES[solver]}-L{norm:.0f}"] = tuple(cells)
    return Answer(Figures(tuple(columns), rows), f"Samples x kernels. {_order(grown)}")


def _order(lines):
    seconds = {
        solver: sum(case["seconds"] for case in cases)
        for solver in PAPER_NAMES
        if all(cases := [_case(line, solver, 1.0) for line in lines])
    }
    order = sorted(seconds, key=seconds.get)
    listed = ", ".join(f"{PAPER_NAMES[solver]} {seconds[solver]:.2f}" for solver in order)
    return f"L1 solvers from fast to slow, seconds of all sizes together: {listed}."


def _case(line, solver, norm):
    return next(iter(where(line["cases"], solver=solver, norm=norm)), None)


# Its page

SHORT_NAMES = {
    "silp": "SILP, SIP",
    "simple": "SimpleMKL",
    "gradient": "GMKL",
    "mirror": "VSKL",
    "level": "level",
    "group-lasso": "MKL-GL",
    "smo": "MKL-SMO",
}


def render(results, machine):
    """Tables of all solvers, of growth, and the published conclusions."""
    lines = results["lines"]
    where = f"{machine['processor']}, one core"
    labels = lines[0]["cases"][0]["labels"]
    parts = [TEXT.intro.format(machine=where, seconds=results["seconds"], labels=labels)]
    parts += [_data(line) for line in lines]
    if results["samples"]:
        kernels = _grown(results["kernels"], "n_kernels", "kernels")
        samples = _grown(results["samples"], "n_samples", "samples")
        exponents = _exponents(results["samples"])
        parts.append(TEXT.growth.format(kernels=kernels, samples=samples, exponents=exponents))
        parts.append(_compared(lines, results["kernels"]))
    return {PAGES[0]: fill("".join(parts)), PAGES[1]: draw_growth(results)}


def _data(line):
    rows = [
        [
            f"`{case['solver']}` ({SHORT_NAMES[case['solver']]})",
            f"{case['norm']:g}",
            f"{case['objective']:.5g}",
            f"{case['gap']:.1e}",
            f"{case['rounds']:.0f}",
            f"{case['seconds']:.2f}",
            f"{case['active']:.1f}",
        ]
        for case in line["cases"]
    ]
    header = ["solver", "p", "objective", "gap", "rounds", "seconds", "active"]
    missed = [case for case in line["cases"] if case["reached"] < case["labels"]]
    words = ", ".join(
        f"`{case['solver']}` (p = {case['norm']:g}) for {case['labels'] - case['reached']}" for case in missed
    )
    return TEXT.data.format(
        **line,
        table=markdown_table(header, rows, numbers=True),
        missed=f"\nThe gap was missed by {words} of {missed[0]['labels']} labels.\n" if missed else "",
    )


def _grown(lines, key, what):
    rows = []
    for case in lines[0]["cases"]:
        cells = [_cell(_case(line, case["solver"], case["norm"])) for line in lines]
        rows.append([f"`{case['solver']}`, p = {case['norm']:g}", *cells])
    return markdown_table([what, *(f"{line[key]:,}" for line in lines)], rows, numbers=True)


def _cell(case):
    mark = "" if case["reached"] == case["labels"] else "*"
    return f"{case['seconds']:.2f} ({case['rounds']:.0f}){mark}"


def _exponents(lines):
    powers = []
    for case in lines[0]["cases"]:
        seconds = [_case(line, case["solver"], case["norm"])["seconds"] for line in lines]
        slope = exponent([line["n_samples"] for line in lines], seconds)
        powers.append(f"`{case['solver']}` (p = {case['norm']:g}) {slope:.1f}")
    return ", ".join(powers)


def _compared(lines, kernels):
    seconds = {name: _total(lines, name, 1.0) for name in SHORT_NAMES if name != "smo"}
    order = sorted(seconds, key=seconds.get)
    rounds = {name: [_case(line, name, 1.0)["rounds"] for line in lines] for name in seconds}
    fewest = sum(
        rounds["simple"][k] == min(values[k] for values in rounds.values()) for k in range(len(lines))
    )
    last = kernels[-1]
    silp = {norm: _case(last, "silp", norm) for norm in (1.0, 2.0, 4.0)}
    active = [
        np.mean([_case(line, "silp", p)["active"] / line["n_kernels"] for line in lines]) for p in (1.0, 2.0)
    ]
    return TEXT.compared.format(
        fastest=f"`{order[0]}` ({seconds[order[0]]:.2f} seconds a label over all sets together)",
        silp=f"`silp` is number {order.index('silp') + 1} of {len(order)} ({seconds['silp']:.2f}); the "
        f"order is {', '.join(f'`{name}`' for name in order)}.",
        simple=f"It needs the fewest rounds on {fewest} of {len(lines)} sets; a round here is one training, "
        f"and its line search takes several. It is number {order.index('simple') + 1} of {len(order)} in "
        "seconds.",
        beyond=f"Rounds of `silp` for p = 1, 2, 4: {_mean_rounds(lines, 'silp')}; of `group-lasso`: "
        f"{_mean_rounds(lines, 'group-lasso')}.",
        many=f"With {last['n_kernels']} kernels `silp` takes, in seconds (rounds), "
        + ", ".join(f"{_cell(case)} for p = {norm:g}" for norm, case in silp.items())
        + ".",
        smo=f"`silp` takes {_against_smo(lines, 'silp')} times the seconds of `smo` with the same p"
        f"; `group-lasso` takes {_against_smo(lines, 'group-lasso')} times.",
        active=f"Share of active kernels, `silp`: {active[0]:.0%} with p = 1, {active[1]:.0%} with p = 2.",
    )


def _against_smo(lines, solver):
    ratios = [
        _case(line, solver, p)["seconds"] / _case(line, "smo", p)["seconds"]
        for line in lines
        for p in (2.0, 4.0)
    ]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def _mean_rounds(lines, solver):
    means = (np.mean([_case(line, solver, p)["rounds"] for line in lines]) for p in (1.0, 2.0, 4.0))
    return ", ".join(f"{value:.0f}" for value in means)


def _total(lines, solver, norm):
    return sum(_case(line, solver, norm)["seconds"] for line in lines)


def draw_growth(results):
    """Seconds of the solvers with p = 1 over the number of kernels and of samples, as SVG."""
    charts = []
    for lines, key, what in (
        (results["kernels"], "n_kernels", "kernels"),
        (results["samples"], "n_samples", "samples"),
    ):
        names = [case["solver"] for case in lines[0]["cases"] if case["norm"] == 1] if lines else []
        series = [
            (name, [line[key] for line in lines], [_case(line, name, 1.0)["seconds"] for line in lines])
            for name in names
        ]
        if series:
            charts.append(line_chart("seconds", series, description="", x_label=what, logarithmic=True))
    return draw_charts(charts) if charts else "\n"
