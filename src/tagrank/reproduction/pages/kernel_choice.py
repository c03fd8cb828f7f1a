"""The page docs/kernel-choice-results.md, from the results of kernel_choice.py."""

import numpy as np

from tagrank.reproduction.entries import find_table
from tagrank.reproduction.text import fill, markdown_table

# Table 2.4 has several solvers of each norm; those that the dissertation names for them
PUBLISHED = {
    "Single": "Single",
    "Average": "Average",
    "L1": "level-MKL, p = 1",
    "L2": "MKL-SIP, p = 2",
    "L4": "MKL-SIP, p = 4",
}
INTRO = """# One kernel, their mean, or learned weights

Measured by `tagrank reproduce mkl-table2.4`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/kernel_choice.json`. Do not edit it by hand.

The question, from section 2.5.4 of the dissertation (tables 2.4 and 2.5, figures 2.5 and 2.6): when is it
worth learning the weights of kernels, and which norm of the weights stands weak kernels?

How it was measured:

- `MultipleKernelSVM`, each label with weights of its own. *Single*: `weights="best"`, for each label the
  kernel that does best in cross-validation on the training samples. *Average*: `weights="uniform"`. *L1*,
  *L2*, *L4*: learned, `norm` 1, 2 and 4. *Held-out*, which the dissertation does not have:
  `SharedKernelSVM(weights="held-out")`, one set of weights for all labels, by which held-out samples are
  ranked best.
- mfeat: Gaussians of three widths on each of six views. emotions, yeast: of five widths on each of two views.
  Widths from a quarter to four times the mean distance: some of the kernels are weak.
- C is chosen among 0.1, 1, 10 and 100 on a third of the training samples, for each method by itself; 0.1
  was added after a first run.
- Category MAP (%) on up to 600 test samples: mean and standard deviation of {draws} draws of training and
  test samples. Labels that do not vary among the training samples are left out.
"""
SIZES = """
## {data}: few and many training samples ({n_kernels} kernels)

{table}

{sentence}
"""
NOISE = """
## {data}: kernels of noise, {noisy_size} training samples

Appended: Gaussians on columns drawn at random.

{table}

With {most} of them: {sentence}.
"""
COMPARED = """
## Beside the published conclusions

Table 2.4, category MAP on Caltech 101 with 48 kernels, 10, 20 and 30 training samples of each class (L1:
level-MKL; L2, L4: MKL-SIP):

{table}

- *With few samples L1 is worse than Average, and L2 is not; with many samples L1 is the best.* {few} {many}
- *Average and all of MKL are better than the best single kernel.* {single}
- *"L1-MKL is more resilient to the introduction of weak kernels"*; Average and L2 lose when they are added.
  Mean loss by {most} kernels of noise over all sets: {losses}.

Here there are 10 to 18 kernels, in the dissertation 48. With {draws} draws, differences below the standard
deviations tell nothing.
"""


def render_page(results):
    """Tables by number of samples and of noise kernels, and the published conclusions."""
    lines = results["lines"]
    draws = 1 + max(line["draw"] for line in lines)
    parts = [INTRO.format(draws=draws)]
    names = list(dict.fromkeys(line["data"] for line in lines))
    for data in names:
        parts.append(_sizes(data, lines))
        parts.append(_noise(data, lines, results["noisy_size"]))
    parts.append(_compared(names, lines, results["noisy_size"], draws))
    return fill("".join(parts))


def _table(some, key, what):
    columns = sorted({line[key] for line in some})
    rows = [
        [method, *(_mean_and_spread(_of(some, method, key, column)) for column in columns)]
        for method in _methods(some)
    ]
    return markdown_table([what, *map(str, columns)], rows, numbers=True)


def _sizes(data, lines):
    some = [line for line in lines if line["data"] == data and not line["noise"]]
    best = []
    for size in sorted({line["n_train"] for line in some}):
        means = {method: np.mean(_of(some, method, "n_train", size)) for method in _methods(some)}
        best.append(f"{max(means, key=means.get)} ({size})")
    largest = max(line["n_train"] for line in some)
    active = np.mean(
        [line["active"] for line in some if line["method"] == "L1" and line["n_train"] == largest]
    )
    sentence = f"Best, by number of samples: {', '.join(best)}.\n"
    sentence += f"L1 gives {active:.1f} kernels a label a weight with {largest} samples."
    return SIZES.format(
        data=data,
        n_kernels=some[0]["n_kernels"],
        table=_table(some, "n_train", "samples"),
        sentence=sentence,
    )


def _noise(data, lines, noisy_size):
    some = [line for line in lines if line["data"] == data and line["n_train"] == noisy_size]
    losses = {method: _loss(some, method) for method in _methods(some)}
    return NOISE.format(
        data=data,
        noisy_size=noisy_size,
        table=_table(some, "noise", "kernels of noise"),
        most=max(line["noise"] for line in some),
        sentence=", ".join(f"{method} {-loss:+.2f}" for method, loss in losses.items()) + " points",
    )


def _loss(some, method):
    """Points of MAP that the largest number of noise kernels costs."""
    most = max(line["noise"] for line in some)
    return np.mean(_of(some, method, "noise", 0)) - np.mean(_of(some, method, "noise", most))


def _compared(names, lines, noisy_size, draws):
    plain = [line for line in lines if not line["noise"]]
    noisy = [line for line in lines if line["n_train"] == noisy_size]
    losses = {
        method: np.mean([_loss([line for line in noisy if line["data"] == data], method) for data in names])
        for method in _methods(lines)
    }
    published = find_table("mkl-table2.4").published
    rows = [
        [method, *(cell.split(" ± ")[0] for cell in published.rows[name])]
        for method, name in PUBLISHED.items()
    ]
    return COMPARED.format(
        table=markdown_table(["", "10", "20", "30"], rows, numbers=True),
        few=_few_or_many(plain, names, min),
        many=f"{_few_or_many(plain, names, max)} {_seen(plain, names)}",
        single=_single(plain, names),
        most=max(line["noise"] for line in noisy),
        losses=", ".join(f"{method} {loss:.2f}" for method, loss in losses.items()),
        draws=draws,
    )


def _few_or_many(plain, names, pick):
    size = pick(line["n_train"] for line in plain)
    ours = [f"{method} is {_against(plain, names, pick, method)}" for method in ("L1", "L2")]
    return f"With {size} samples, in points from Average, {'; '.join(ours)}."


def _seen(plain, names):
    """On how many sets the conclusion holds."""
    few, many = (pick(line["n_train"] for line in plain) for pick in (min, max))
    below, best = {"L1": 0, "L2": 0}, 0
    for data in names:
        some = [line for line in plain if line["data"] == data]
        means = {
            size: {method: np.mean(_of(some, method, "n_train", size)) for method in _methods(some)}
            for size in (few, many)
        }
        below = {
            method: count + (means[few][method] < means[few]["Average"]) for method, count in below.items()
        }
        best += max(means[many], key=means[many].get) == "L1"
    return (
        f"So L1 is below Average with few samples on {below['L1']} of {len(names)} sets, L2 on "
        f"{below['L2']}; "
        f"with many samples L1 is the best on {best}."
    )


def _against(plain, names, pick, method):
    """Points of MAP above Average on each data set, with the fewest or the most samples."""
    size = pick(line["n_train"] for line in plain)
    values = []
    for data in names:
        some = [line for line in plain if line["data"] == data]
        difference = np.mean(_of(some, method, "n_train", size)) - np.mean(
            _of(some, "Average", "n_train", size)
        )
        values.append(f"{difference:+.1f} ({data})")
    return ", ".join(values)


def _single(plain, names):
    better, total = 0, 0
    for data in names:
        some = [line for line in plain if line["data"] == data]
        for size in {line["n_train"] for line in some}:
            single = np.mean(_of(some, "Single", "n_train", size))
            others = [np.mean(_of(some, method, "n_train", size)) for method in _methods(some)[1:]]
            better += sum(other > single for other in others)
            total += len(others)
    return f"So in {better} of {total} cells of the tables above."


def _methods(lines):
    return list(dict.fromkeys(line["method"] for line in lines))


def _of(some, method, key, value):
    return [line["map"] for line in some if line["method"] == method and line[key] == value]


def _mean_and_spread(values):
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"
