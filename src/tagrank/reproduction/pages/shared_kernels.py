"""The page docs/shared-kernel-results.md and its plots, from the results of shared_kernels.py."""

import numpy as np

from tagrank.reports.charts import line_chart
from tagrank.reproduction.pages.plots import draw_charts
from tagrank.reproduction.pages.shared_conclusions import (
    GROWING_TOLERANCE,
    compare_published,
    find_exponent,
    method_names,
)
from tagrank.reproduction.protocols.kernel_sets import PHOTOGRAPHS
from tagrank.reproduction.record import read_record
from tagrank.reproduction.text import fill, markdown_table

MOST_LINES = 5
INTRO = """# Weights shared by all labels, weights of each label

Measured by `tagrank reproduce mk-mlr-table6.2`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/shared_kernels.json`. Do not edit it by hand.
Measured on {machine}, one core, processor seconds, because the machine was shared.

The questions, from chapters 3 and 6 of the dissertation (tables 3.1 to 3.4, 6.1 to 6.9, figures 3.3 to 3.6):
does it cost quality if all labels share the weights of kernels, what does it save, and is ranking better?

- *SVM*: `SharedKernelSVM`, *MLR*: `MultipleKernelRanker`; SK: `weights="best"`, AVG: `weights="uniform"`.
  *MKL L1*, *L2*: `MultipleKernelSVM`, one-vs-all, each label with weights of its own. *ML-MKL-Sum*:
  `objective="sum"`. *worst, exact* and *ML-MKL-SA*: `objective="worst"`, by cutting planes and by the
  stochastic game. *MK-MLR*: learned weights with the ranking loss. *Held-out weights*: one set of weights by
  which held-out samples are ranked best; the dissertation does not have it.
- C is chosen among 1, 10 and 100 on a third of the training samples, by image AUC and MAP (gap 0.01); then
  all are trained to gap 0.001, or for {seconds:g} seconds of the clock, but for MKL. Gram matrices are not
  counted. C = 100 was added after a first run, in which most methods took the largest.
- One draw of training and test samples: differences of a few tenths tell nothing.
"""
DATA = """
## {data}: {n_train:,} training and {n_test:,} test samples, {n_labels} labels, {n_kernels} kernels

{quality}

{times}
{after}"""
PEER = """
*himalaya* is its `MultipleKernelRidgeCV`: kernel ridge regression, the weights of each label are the best of
{n_iter} random draws (its default) by 5-fold cross-validation, with seven penalties from 0.001 to 1000; folds
are drawn at random, because with its own, blocks of rows, it was far worse. Its seconds contain all choices.
Training and choice of C take MK-MLR {ours}, held-out weights {held_out}; himalaya takes {peer:.1f} seconds,
{ratios} times as long. {quality}
"""
COST = """
*ms a picture*: what the features of the active kernels take to compute, by
[our measurements](picture-results.md).
"""
LABELS = """
## More and more labels

![Seconds over the number of labels](shared-kernel-labels.svg)

`SharedKernelSVM` on {n_samples:,} rows of {data} with its most frequent labels, {n_kernels} Gaussians of
several widths, C = 1, to gap {tolerance:g} (`*`: not reached; the stochastic method missed 0.01 from 50
labels on). Processor seconds (rounds; of the stochastic method a round is as many trainings as there are
labels):

{table}

Exponents of seconds ~ labels^e, by least squares on the logarithms of what reached the gap: {exponents}.
{verdict}
"""
VERDICT = """The stochastic method reached the gap for {n_reached} of {n_all} numbers of labels, and a round
of it has exponent {slope:.2f}: growth below linear is {seen}. A step trains one label only, but every gap
that it tells trains all, and with {n_labels} labels it takes {ratio:.0f} times as long as the exact method,
which trains all labels at once."""
WEIGHTS = """
## How the weights move

![Weights of kernels over rounds](shared-kernel-weights.svg)

The photographs above, C = 10, the kernels with the largest weights. How far the weights went in all, the
sum over rounds of the changes: {moved}.
"""


def render_page(results, machine):
    """Tables of quality and times, growth, weights, and the published conclusions."""
    parts = [INTRO.format(machine=machine["processor"], seconds=results["seconds"])]
    names = list(dict.fromkeys(line["data"] for line in results["lines"]))
    parts += [_data([line for line in results["lines"] if line["data"] == data]) for data in names]
    if results["grown"]:
        parts += [_labels(results["grown"]), _weights(results["followed"]), compare_published(results, names)]
    return fill("".join(parts))


def _data(lines):
    quality = [
        [
            line["method"],
            *(f"{line[key]:.2f}" for key in ("image_auc", "image_map", "category_auc", "category_map")),
        ]
        for line in lines
    ]
    own = [line for line in lines if "C" in line]
    costs = _costs(own[0]["data"])
    times = [_times(line, costs) for line in own]
    header = ["", "C", "gap", "choosing, s", "training, s", "predicting, s", "active", "a label", "nonzero"]
    after = _peer(lines) + (COST if costs else "")
    return DATA.format(
        **own[0],
        quality=markdown_table(
            ["", "image AUC", "image MAP", "category AUC", "category MAP"], quality, numbers=True
        ),
        times=markdown_table([*header, *(["ms a picture"] if costs else [])], times, numbers=True),
        after=after,
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
    return PEER.format(
        n_iter=peer["n_iter"],
        ours=f"{seconds[0]:.1f} seconds (C = {ours['C']:g})",
        held_out=f"{seconds[1]:.1f} (C = {held_out['C']:g})",
        peer=peer["seconds"],
        ratios=" and ".join(f"{peer['seconds'] / own:.0f}" for own in seconds),
        quality=f"Points of MK-MLR above it: {', '.join(differences)}.",
    )


def _labels(grown):
    numbers = sorted({line["n_labels"] for line in grown})
    rows = []
    for method in method_names(grown):
        cells = {line["n_labels"]: _cell(line) for line in grown if line["method"] == method}
        rows.append([method, *(cells[number] for number in numbers)])
    exponents = {method: find_exponent(grown, method) for method in method_names(grown)}
    return LABELS.format(
        **grown[0],
        table=markdown_table(["labels", *map(str, numbers)], rows, numbers=True),
        exponents=", ".join(f"{method} {value:.2f}" for method, value in exponents.items()),
        verdict=_verdict(grown),
        tolerance=GROWING_TOLERANCE,
    )


def _verdict(grown):
    some = [line for line in grown if line["method"] == "worst, stochastic"]
    exact = [line for line in grown if line["method"] == "worst, exact"][-1]
    n_reached = sum(line["gap"] <= GROWING_TOLERANCE for line in some)
    labels, rounds = [line["n_labels"] for line in some], [line["seconds"] / line["rounds"] for line in some]
    slope = np.polyfit(np.log(labels), np.log(rounds), 1)[0]
    return VERDICT.format(
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
    return WEIGHTS.format(moved=moved)


def draw_labels(results):
    """Seconds over the number of labels, as SVG."""
    series = []
    for method in method_names(results["grown"]):
        some = [line for line in results["grown"] if line["method"] == method]
        series.append((method, [line["n_labels"] for line in some], [line["seconds"] for line in some]))
    if not series:
        return "\n"
    plain = line_chart("seconds", series, description="", x_label="labels")
    return draw_charts(
        [plain, line_chart("seconds", series, description="", x_label="labels", logarithmic=True)]
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
