"""Joint SVM, its variants and four other systems on Corel5k and IAPR TC-12: tables 4 and 5 of its paper.

The joint SVMs have the two sets of features that the paper takes, the other systems several, as their own
papers do. Everything is chosen on pictures held out of the training part; the test part is looked at once,
with what was chosen. "Gau" is the mean of exponential chi-square kernels, widths of the mean distance, raised
to a power (that is, narrower); "Pol" the mean of cosines, raised to a power. `n_train` is how many training
pictures of each data set are taken, all by default; `several` names the sets of features of the other
systems; `cache` is a folder of picture features, by default the user's.
"""

from functools import partial
from itertools import product

from tagrank.estimators import (
    JointSVM,
    LabelCompletion,
    LabelRanker,
    LabelTransfer,
    OneVsAllSVM,
    OnlineJointSVM,
    RelevanceModel,
    TagPropagation,
)
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
    mean_cosine,
    mean_of,
    measure_method,
    percent,
    read_photographs,
)
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("joint_svm")
PAGES = ("joint-svm-results.md",)
QUICK = {"only": (DRAWN,), "several": ("gist", "hsv"), "powers": (1, 4, 8), "costs": (1.0,)}
PAIRS = {COREL5K: ("dense_sift_v3h1", "rgb_v3h1"), IAPR: ("dense_sift_v3h1", "harris_sift_v3h1")}
PAIRS[DRAWN] = PAIRS[COREL5K]
GRAM = Precomputed(trusted=True)
MEASURES = ("precision", "recall", "f1")
WEIGHTS = (None, "rare")
VARIANTS = {
    "JSVM": {"output_kernel": "linear"},
    "JSVM+Odd": {"output_kernel": "odds-ratio"},
    "JSVM+Pol(2)": {"output_kernel": "poly2"},
    "JSVM+Pol(3)": {"output_kernel": "poly3"},
}
FOUR = ("independent SVMs (Gau)", "independent SVMs (Pol)", "Joint SVM (Gau)", "Joint SVM (Pol)")
RANKER, PRINTED, PERCEPTRON = "MLR-L1 (Gau)", "JSVM as printed: +-1 labels", "JSVM-Per"
FIVE = (*VARIANTS, PERCEPTRON)
OTHERS = ("MBRM", "JEC", "TagProp", "FastTag")


def run(
    *,
    only=(COREL5K, IAPR),
    several=PRESETS["papers"],
    powers=(1, 2, 4, 8, 16, 32),
    costs=(1.0, 10.0),
    n_train=None,
    cache=None,
):
    lines = []
    for name in only:
        pictures = read_photographs(
            name, dict.fromkeys((*PAIRS[name], *several)), n_train=n_train, cache=cache
        )
        kernels = {
            "Gau": mean_of([pictures.kernels[view] for view in PAIRS[name]]),
            "Pol": mean_cosine(PAIRS[name]),
            "several": mean_of([pictures.kernels[view] for view in several]),
        }
        inside, outside = (Bench(part, kernels) for part in (pictures.inside, pictures.whole))
        methods = variants(powers) | others()
        if name != IAPR:
            methods = joint_and_independent(powers, costs) | methods
        for method, candidates in methods.items():
            found = measure_method(inside, outside, candidates)
            n_views = len(several if found["chosen"]["kernel"] == "several" else PAIRS[name])
            lines.append({"data": name, "method": method, "n_views": n_views, **found})
            show(lines[-1] | found[f"top {N_TAGS}"], "data", "method", "train_seconds", *MEASURES, "n_plus")
            yield lines


# What is tried: name of each line to candidates (class, kernel, power, settings)


def joint_and_independent(powers, costs):
    """The lines of table 4, our ranker, and the joint SVM as the paper prints it."""
    lines = {}
    joint, independent, ranker = (
        partial(make, kernel=GRAM, random_state=0) for make in (JointSVM, OneVsAllSVM, LabelRanker)
    )
    for kernel in ("Gau", "Pol"):
        lines[f"Joint SVM ({kernel})"] = [
            (joint, kernel, power, {"class_weight": weight}) for power, weight in product(powers, WEIGHTS)
        ]
        lines[f"independent SVMs ({kernel})"] = [
            (independent, kernel, power, {"C": C, "tol": 1e-2}) for power, C in product((1, 2), (1.0, 10.0))
        ]
    lines[PRINTED] = [
        (joint, kernel, power, {"center": False, "decoding": decoding})
        for kernel, power, decoding in product(("Pol", "Gau"), (1, 2), ("direct", "transfer"))
    ]
    return lines | {RANKER: [(ranker, "Gau", 1, {"C": C, "tol": 1e-2}) for C in costs]}


def variants(powers):
    """The joint SVMs of table 5; wider kernels than the three narrowest were never the best ones."""
    joint, online = (partial(make, kernel=GRAM, random_state=0) for make in (JointSVM, OnlineJointSVM))
    lines = {
        name: [
            (joint, "Gau", power, {**settings, "class_weight": weight})
            for power, weight in product(powers[-3:], WEIGHTS)
        ]
        for name, settings in VARIANTS.items()
    }
    lines[PERCEPTRON] = [
        (online, "Gau", power, {"margin": margin}) for power, margin in product(powers[-3:], (0.0, 0.05))
    ]
    return lines


def others():
    """The other systems of table 5. JEC as published; MBRM compares whole pictures instead of their parts."""
    fasttag = partial(LabelCompletion, kernel=GRAM)
    return {
        "FastTag": [
            (fasttag, "several", power, {"alpha": alpha})
            for power, alpha in product((1, 4), (0.01, 0.03, 0.1, 0.3))
        ],
        "JEC": [(LabelTransfer, "several", None, {"distance_unit": "largest"})],
        "MBRM": [(RelevanceModel, "several", None, {"bandwidth": width}) for width in (0.1, 0.2, 0.3)],
        "TagProp": [(TagPropagation, "several", None, {})],
    }


# Its answers to tables


def answer(table, results):
    return _answer_four(results) if table == "jsvm-table4" else _answer_five(results)


def _first(results):
    """The lines of the first data set, by method."""
    return {line["method"]: line for line in where(results, data=results[0]["data"])}


def _answer_four(results):
    lines = _first(results)
    rows = {
        name[0].upper() + name[1:]: (*_seconds(lines[name]), *percent(lines[name], *MEASURES))
        for name in FOUR
        if name in lines
    }
    verdict = ""
    if len(rows) == len(FOUR):
        ratio = lines[FOUR[0]]["train_seconds"] / max(lines[FOUR[2]]["train_seconds"], 1e-3)
        lead = 100 * (_f1(lines[FOUR[2]]) - _f1(lines[FOUR[0]]))
        verdict = (
            f"With the Gaussian kernel the joint SVM trains {ratio:.0f} times as fast as independent ones "
            f"(published 78) and its F1 is {lead:+.1f} points from theirs (published +20.8)."
        )
    return Answer(Figures(("training s", "test s", "P", "R", "F1"), rows), verdict)


def _seconds(line):
    return f"{line['train_seconds']:.2f}", f"{line['test_seconds']:.2f}"


def _f1(line):
    return line[f"top {N_TAGS}"]["f1"]


def _answer_five(results):
    sets = distinct(results, "data")
    by_set = [{line["method"]: line for line in where(results, data=name)} for name in sets]
    rows = {
        method: tuple(cell for lines in by_set for cell in _cells(lines.get(method)))
        for method in (*OTHERS, *FIVE)
        if any(method in lines for lines in by_set)
    }
    columns = tuple(f"{COLUMNS[name]} {word}" for name in sets for word in ("P", "R", "F1", "N+"))
    return Answer(Figures(columns, rows), " ".join(map(_verdict, sets, by_set)))


def _cells(line):
    return (*percent(line, *MEASURES), f"{line[f'top {N_TAGS}']['n_plus']:.0f}") if line else ("",) * 4


def _verdict(name, lines):
    """How joint SVMs stand to each other and to the other systems."""
    ours = [_f1(lines[method]) for method in FIVE if method in lines]
    order = sorted((method for method in OTHERS if method in lines), key=lambda method: -_f1(lines[method]))
    told = ", ".join(f"{method} {100 * _f1(lines[method]):.1f}" for method in order)
    return (
        f"{TITLES[name]}: F1 of the joint SVMs is {100 * min(ours):.1f} to {100 * max(ours):.1f} "
        f"(published {_published(name)}); {told}."
    )


def _published(name):
    table = find_table("jsvm-table5").published
    column = table.columns.index(f"{COLUMNS[name]} F1")
    found = [float(table.rows[method][column]) for method in FIVE]
    return f"{min(found):.1f} to {max(found):.1f}"


# Its page


def render(results, machine):
    """Both tables beside the published ones, with what was chosen, and what earlier runs told."""
    parts = [TEXT.intro.format(n_tags=N_TAGS), TEXT.four.format(table=_table_four(results))]
    for name in distinct(results, "data"):
        lines = {line["method"]: line for line in where(results, data=name)}
        parts.append(
            TEXT.five.format(
                title=TITLES[name],
                n_train=max(line["n_train"] for line in lines.values()),
                views=len(PAIRS[name]),
                several=max(line["n_views"] for line in lines.values()),
                table=_table_five(name, lines),
            )
        )
    parts.append(TEXT.rest)
    return {PAGES[0]: "\n".join(parts) + f"\nMeasured on {machine['cores']} cores, {machine['processor']}.\n"}


def _table_four(results):
    lines, published = _first(results), find_table("jsvm-table4").published.rows
    rows = []
    for method in (*FOUR, RANKER):
        if method in lines:
            figures = published.get(method[0].upper() + method[1:], ("",) * 5)
            ours = (*_seconds(lines[method]), *percent(lines[method], *MEASURES))
            rows.append([method, *ours, figures[0], *figures[2:]])
    header = ["", "train s", "test s", "P", "R", "F1", "published: train s", "P", "R", "F1"]
    return markdown_table(header, rows, numbers=True)


def _table_five(name, lines):
    published = find_table("jsvm-table5").published
    first = published.columns.index(f"{COLUMNS[name]} P")
    rows = []
    for method in (*OTHERS, *FIVE, PRINTED):
        if method in lines:
            line = lines[method]
            figures = published.rows.get(method, ("",) * len(published.columns))[first : first + 3]
            rows.append([method, *_cells(line), *figures, *_seconds(line), _chosen(line["chosen"])])
    header = ["", "P", "R", "F1", "N+", "published P", "R", "F1", "train s", "test s", "chosen"]
    return markdown_table(header, rows, numbers=True)


def _chosen(chosen):
    """What was chosen among several candidates, in a few words."""
    kernel = chosen["kernel"]
    words = [kernel if chosen["power"] is None else f"{kernel}^{chosen['power']}"]
    words += ["rare tags weigh more"] if chosen.get("class_weight") == "rare" else []
    words += [f"{key} {chosen[key]:g}" for key in ("C", "alpha", "bandwidth", "margin") if key in chosen]
    return ", ".join([*words, chosen["decoding"]] if "decoding" in chosen else words)
