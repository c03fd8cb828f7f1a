"""One, two or four looks at every photograph: what embeddings gain by them, and what `--looks auto` takes."""

import warnings

import numpy as np

from tagrank.annotation import Annotator, describe_pictures
from tagrank.annotation.choosing.looks import choose_looks
from tagrank.data import load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.features import choose_features, usual_features
from tagrank.features.networks.looks import LOOKS, with_looks
from tagrank.metrics import image_auc, image_average_precision
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.protocols.data import DRAWN, dense, draw_some
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("several_looks")
PAGES = ("looks-results.md",)
QUICK = {"only": (DRAWN,), "n_train": 40, "n_test": 20}
SETS = ("corel5k_images_260", "coco_multilabel_4k", "iaprtc12")
MEASURES = {"auc": image_auc, "map": image_average_precision}


def run(*, only=SETS, n_train=2000, n_test=1000):
    warnings.filterwarnings("ignore", message=".*never present in training")
    lines = []
    for name in only:
        for line in measure(*draw_parts(name, n_train, n_test)):
            lines.append({"data": name, **line})
            show(lines[-1], *lines[-1])
            yield lines


def draw_parts(name, n_train, n_test):
    """Training and test pictures, drawn from the official parts."""
    if name == DRAWN:
        whole = draw_pictures(n_train + n_test, size=48, random_state=0)
        return whole.subset(np.arange(n_train)), whole.subset(np.arange(n_train, n_train + n_test))
    return draw_some(load_dataset(name), n_train, n_test)


def measure(train, test):
    """A line for every number of looks: image AUC and MAP in percent, and the gain over one look."""
    once = describe_pictures(train, choose_features(usual_features()), cache=True)
    choice = choose_looks(once.collection, once.features, cache=True)
    truth, before = dense(test.Y), None
    for n_looks in LOOKS:
        features = with_looks(once.features, n_looks)
        rows = describe_pictures(train, features, cache=True)
        model = Annotator(features=features).fit(rows.collection)
        scores = model.scores(describe_pictures(test, features, cache=True).collection)
        values = {name: 100 * by_picture(function, truth, scores) for name, function in MEASURES.items()}
        before = before or values
        yield {
            "looks": n_looks,
            "n_train": len(train),
            "n_test": len(truth),
            "milliseconds": 1000 * sum(rows.seconds_a_picture[name] for name in model.features_),
            "chosen": model.choice_.words,
            "taken": choice.n_looks,
            **{name: float(one.mean()) for name, one in values.items()},
            **{f"{name}_gain": float((values[name] - before[name]).mean()) for name in values},
            **{f"{name}_error": standard_error(values[name] - before[name]) for name in values},
        }


def by_picture(function, truth, scores):
    rows = [slice(row, row + 1) for row in range(len(truth)) if truth[row].any() and not truth[row].all()]
    return np.array([function(truth[row], scores[row]) for row in rows])


def standard_error(values):
    return float(values.std(ddof=1) / np.sqrt(len(values)))


# Its answers to tables


def answer(table, results):
    rows = {
        f"{line['data']}, {line['looks']}": (f"{line['auc']:.2f}", f"{line['map']:.2f}") for line in results
    }
    return Answer(Figures(("AUC", "MAP"), rows), verdict(results))


# Its page


def render(results, machine):
    measured_on = f"Measured on {machine['processor']}, {machine['cores']} cores."
    return {
        PAGES[0]: "\n\n".join([TEXT.intro.strip(), measured_on, table_of(results), verdict(results)]) + "\n"
    }


def table_of(results):
    header = ("data", "train", "test", "looks", "AUC", "gain", "MAP", "gain", "ms a picture")
    rows = [
        [
            line["data"],
            *(f"{line[key]:,}" for key in ("n_train", "n_test", "looks")),
            *(cell for name in MEASURES for cell in (f"{line[name]:.2f}", gain(line, name))),
            f"{line['milliseconds']:.0f}",
        ]
        for line in results
    ]
    return markdown_table(header, rows, numbers=True)


def gain(line, name):
    return "" if line["looks"] == 1 else f"{line[f'{name}_gain']:+.2f} ± {line[f'{name}_error']:.2f}"


def verdict(results):
    taken = {line["data"]: line["taken"] for line in results}
    words = ", ".join(f"{n_looks} on {name}" for name, n_looks in taken.items())
    return f"`--looks auto` takes, from training pictures alone: {words}."
