"""A joint SVM on each of 15 sets of features, on Corel5k and IAPR TC-12: table 3 of its paper.

The power of the kernel, weights of tags and whether labels are centred are chosen on pictures held out of
the training part, for each set of features. `n_train` is how many training pictures of each data set
are taken, all by default.
"""

from functools import partial
from itertools import product

from tagrank.estimators import JointSVM
from tagrank.features import PRESETS
from tagrank.kernels import Precomputed
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, where
from tagrank_papers.protocols.data import DRAWN
from tagrank_papers.protocols.photographs import (
    COLUMNS,
    COREL5K,
    IAPR,
    N_TAGS,
    TITLES,
    Bench,
    measure_method,
    percent,
    read_photographs,
)
from tagrank_papers.text import show

QUICK = {"only": (DRAWN,), "features": ("gist", "hsv_v3h1"), "powers": (1, 8)}
MEASURES = ("precision", "recall", "f1")


def run(
    *,
    only=(COREL5K, IAPR),
    features=PRESETS["papers"],
    powers=(4, 8, 16, 32),
    n_train=None,
    cache=None,
):
    lines = []
    joint = partial(JointSVM, kernel=Precomputed(trusted=True), random_state=0)
    for name in only:
        pictures = read_photographs(name, features, n_train=n_train, cache=cache)
        for view in features:
            benches = (Bench(part, pictures.kernels) for part in (pictures.inside, pictures.whole))
            weighted = product(powers, (None, "rare"))
            candidates = [(joint, view, power, {"class_weight": weight}) for power, weight in weighted]
            candidates += [(joint, view, power, {"center": False}) for power in powers[-2:]]
            lines.append({"data": name, "features": view, **measure_method(*benches, candidates)})
            show(lines[-1] | lines[-1][f"top {N_TAGS}"], "data", "features", "train_seconds", *MEASURES)
            yield lines


# Its answer to the table


def answer(table, results):
    published = find_table(table).published
    sets = distinct(results, "data")
    by_set = {name: {line["features"]: line for line in where(results, data=name)} for name in sets}
    rows = {
        view: tuple(cell for lines in by_set.values() for cell in _cells(lines.get(view)))
        for view in published.rows
        if any(view in lines for lines in by_set.values())
    }
    columns = tuple(f"{COLUMNS[name]} {word}" for name in sets for word in ("P", "R", "F1"))
    return Answer(
        Figures(columns, rows), " ".join(_verdict(name, by_set[name], published) for name in by_set)
    )


def _cells(line):
    return percent(line, *MEASURES) if line else ("",) * len(MEASURES)


def _verdict(name, lines, published):
    """How far below the published figures, which sets are best, and how alike the two orders are."""
    column = published.columns.index(f"{COLUMNS[name]} F1")
    theirs = {view: float(published.rows[view][column]) for view in lines}
    ours = {view: 100 * line[f"top {N_TAGS}"]["f1"] for view, line in lines.items()}
    pairs = [(a, b) for a, b in product(lines, lines) if theirs[a] > theirs[b]]
    n_alike = sum(ours[a] > ours[b] for a, b in pairs)
    gaps = [theirs[view] - ours[view] for view in lines]
    n_train = max(line["n_train"] for line in lines.values())
    alike = f"; of {len(pairs)} pairs of sets {n_alike} are in the published order"
    return (
        f"{TITLES[name]}, {n_train:,} training pictures: our F1 is {min(gaps):.1f} to {max(gaps):.1f} points "
        f"below the published one{alike}; best is {max(ours, key=ours.get)} "
        f"(published {max(theirs, key=theirs.get)})."
    )
