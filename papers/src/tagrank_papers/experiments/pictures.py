"""Photographs: every set of features alone and together, and what it costs to compute them.

In the manner of table 3 of the joint SVM paper, for LabelRanker and one-vs-all SVMs. C and a power of the
kernel are chosen by 3-fold cross-validation on the training part. `cache` names a folder with features of an
earlier run, which are not timed then.
"""

import tempfile

import numpy as np

from tagrank.annotation import FeatureBank, describe_pictures, tune_cost
from tagrank.annotation.choosing import mean_kernel
from tagrank.data import load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.estimators import LabelRanker, OneVsAllSVM
from tagrank.features import PRESETS, choose_features, usual_features
from tagrank.kernels import Precomputed
from tagrank.kernels.gram import gram
from tagrank.metrics import annotation_scores, image_auc, image_average_precision
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import listed
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import dense
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("pictures")
PAGES = ("picture-results.md",)
QUICK = {"only": ("drawn-pictures",), "features": ("gist", "hsv_v3h1", "lbp")}
MORE = ("hog", "phog", "lbp", "covariance")
COSTS, POWERS = (1.0, 3.0, 10.0), (1, 2, 4)
COSTS_ALONE, POWERS_ALONE = (3.0, 10.0), (1, 2)  # of a single set
TOLERANCE, SEED, N_TAGS = 2e-3, 0, 5
PLAIN = "the 15 sets, plain mean kernel"


def run(
    *,
    only=("corel5k_images_260", "coco_multilabel_4k"),
    features=(*PRESETS["papers"], *PRESETS["embedding"], *MORE),
    cache=None,
):
    results = []
    for name in only:
        with tempfile.TemporaryDirectory() as fresh:
            results.append(measure(name, cache or fresh, features))
        yield results


def measure(name, cache, names):
    """All lines of one data set."""
    collection = draw_pictures(60) if name == "drawn-pictures" else load_dataset(name)
    seconds = extract(collection, names, cache)
    train = describe_pictures(collection.train, choose_features(names), cache=cache)
    test = describe_pictures(collection.test, train.features, cache=cache)
    pairs = {feature: similarities(train, test, feature) for feature in names}
    Y, truth = dense(train.collection.Y), dense(test.collection.Y)
    lines = []
    for title, chosen in combinations(names).items():
        for Estimator in (LabelRanker, OneVsAllSVM) if len(chosen) > 1 else (LabelRanker,):
            K, KZ = combine(pairs, {name: train.features[name] for name in chosen})
            grid = (COSTS_ALONE, POWERS_ALONE) if len(chosen) == 1 else (COSTS, POWERS)
            if title == PLAIN:
                grid = COSTS, (1,)
            line = evaluate(Estimator, K, KZ, Y, truth, *grid)
            lines.append({"features": title, "method": Estimator.__name__, **line})
            show(lines[-1], *lines[-1])
    return {"data": name, "n_train": len(Y), "n_test": len(truth), "seconds": seconds, "lines": lines}


def extract(collection, names, cache):
    """Compute the features, cold and then warm, and time it; the vocabularies are learned on the way."""
    seconds = {}
    groups = {"papers": PRESETS["papers"], "embedding": PRESETS["embedding"], "more": MORE}
    for title, group in groups.items():
        features = choose_features([name for name in group if name in names] or ["gist"])
        for word in ("cold", "warm"):
            timing = best_time(describe, collection, features, cache, repeats=1)
            seconds[f"{title}, {word}"] = timing.seconds
        each = {name: 1000 * value for name, value in timing.answer.seconds_a_picture.items()}
        seconds.setdefault("ms a picture", {}).update(each)
        print(f"{title}: {seconds[f'{title}, cold']:.1f} s, again {seconds[f'{title}, warm']:.2f} s")
    return seconds


def describe(collection, features, cache):
    bank = FeatureBank(features, folder=cache).fit(collection.train.view("pictures"))
    return bank.extract(collection.view("pictures"))


def similarities(train, test, name):
    """Gram matrix of the training pictures, and similarities of the test pictures with them."""
    (_, kernel), *_ = mean_kernel({name: train.features[name]}).terms
    views = {name: train.collection.view(name)}
    fitted, K = kernel.fit_gram(views, dtype=np.float32)
    return K, gram(fitted, {name: test.collection.view(name)}, views, dtype=np.float32)


def combine(pairs, features):
    kernel = mean_kernel(features)
    weighted = [(weight, pairs[part.view]) for weight, part in kernel.terms]
    return sum(weight * K for weight, (K, _) in weighted), sum(weight * KZ for weight, (_, KZ) in weighted)


def combinations(names):
    """Title to sets of features: each alone, then together."""
    papers = [name for name in PRESETS["papers"] if name in names]
    embeddings = [name for name in PRESETS["embedding"] if name in names]
    more = [name for name in MORE if name in names]
    together = {
        PLAIN: papers,
        "the 15 sets of the papers": papers,
        "two embeddings": embeddings,
        "what `train` takes": [name for name in usual_features() if name in names],
        "15 sets and embeddings": [*papers, *embeddings],
        "all": [*papers, *more, *embeddings],
    }
    return {name: [name] for name in names} | {title: sets for title, sets in together.items() if sets}


def evaluate(Estimator, K, KZ, Y, truth, costs, powers):
    """Choose power and C on the training part, train on all of it, and measure on the test part."""
    estimator = Estimator(kernel=Precomputed(trusted=True), tol=TOLERANCE, random_state=SEED)
    best = tune_cost(estimator, K, Y, costs=costs, powers=powers, criterion="Image-MAP", seed=SEED)
    estimator.set_params(C=best.best("Image-MAP")).fit(K**best.power, Y)
    scores = estimator.decision_function(KZ**best.power)
    annotation = annotation_scores(truth, scores, n_tags=N_TAGS)
    return {
        "C": estimator.C,
        "power": best.power,
        "AUC": float(image_auc(truth, scores)),
        "MAP": float(image_average_precision(truth, scores)),
        "P": float(annotation.precision),
        "R": float(annotation.recall),
        "F1": float(annotation.f1),
        "N+": int(annotation.n_plus),
        "gap": float(estimator.duality_gap_),
    }


# Its answer to a question of ours


def answer(table, results):
    """Of photographs of Corel5k where they were measured, and of the first set otherwise."""
    result = next((one for one in results if one["data"].startswith("corel5k")), results[0])
    lines = [line for line in result["lines"] if line["method"] == LabelRanker.__name__]
    rows = {
        line["features"]: tuple(f"{100 * line[key]:.1f}" for key in ("AUC", "MAP", "P", "R", "F1"))
        for line in lines
    }
    single = {*PRESETS["papers"], *PRESETS["embedding"], *MORE}
    alone = max((line for line in lines if line["features"] in single), key=_quality)
    together = max(lines, key=_quality)
    return Answer(
        Figures(("AUC", "MAP", "P", "R", "F1"), rows),
        f"{result['data']}: the best single set is {alone['features']} (MAP {100 * alone['MAP']:.1f}), "
        f"the best of all lines is {together['features']} ({100 * together['MAP']:.1f}).",
    )


def _quality(line):
    return line["MAP"]


# Its page


def render(results, machine):
    """A table of all sets of features for each data set, and what they cost."""
    parts = [
        TEXT.intro.format(
            n_tags=N_TAGS,
            costs=listed(COSTS),
            powers=listed(POWERS),
            costs_alone=listed(COSTS_ALONE),
            powers_alone=listed(POWERS_ALONE),
            tolerance=TOLERANCE,
            plain=PLAIN,
        ).strip()
    ]
    for result in results:
        parts.append(
            f"## {result['data']}\n\n"
            f"{result['n_train']:,} training and {result['n_test']:,} test pictures.\n\n"
            + table(result)
            + "\n\n"
            + timings(result["seconds"])
        )
    parts.append(f"Measured on {machine['cores']} cores, {machine['processor']}.")
    return {PAGES[0]: "\n\n".join(parts) + "\n"}


def table(result):
    with_published = result["data"].startswith("corel5k")
    head = ["features", "method", "power", "C", "AUC", "MAP", "P", "R", "F1", "N+"]
    head += ["published F1 (joint SVM)"] if with_published else []
    # in percent, of a joint SVM on each set alone
    published, rows = find_table("jsvm-table3").published.rows, []
    for line in result["lines"]:
        cells = [line["features"], line["method"], str(line["power"]), f"{line['C']:g}"]
        cells += [f"{line[name]:.3f}" for name in ("AUC", "MAP", "P", "R", "F1")] + [str(line["N+"])]
        if with_published:
            figures = published.get(line["features"])
            cells.append("" if figures is None else f"{float(figures[2]) / 100:.3f}")
        rows.append(cells)
    return markdown_table(head, rows)


def timings(seconds):
    whole = ", ".join(
        f"{name} {value:.1f} s" for name, value in seconds.items() if not isinstance(value, dict)
    )
    each = sorted(seconds["ms a picture"].items(), key=lambda entry: -entry[1])
    lines = ", ".join(f"{name} {value:.1f}" for name, value in each)
    return (
        f"Computing the features, vocabularies included: {whole}.\n\n"
        f"Milliseconds of one core a picture: {lines}."
    )
