"""Sizes of data sets, counted."""

from tagrank.data import Collection, load_dataset
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.text import show

QUICK = {"only": (DRAWN,)}
PICTURES = {"corel5k_images_260": "Corel5k", "iaprtc12": "IAPR TC-12"}


def run(*, only=("corel5k", "bibtex", *PICTURES)):
    lines = []
    for name in only:
        lines.append({"data": name, **count(draw() if name == DRAWN else load_dataset(name), name)})
        show(lines[-1], *lines[-1])
    yield lines


def count(whole, name):
    Y = dense(whole.Y) > 0
    parts = [] if whole.part is None else list(whole.part)
    return {
        "labels": Y.shape[1],
        "features": None if name in PICTURES else int(whole.X.shape[1]),
        "cardinality": float(Y.sum(axis=1).mean()),
        "samples": len(Y),
        "training": parts.count("train"),
        "test": parts.count("test"),
    }


def draw():
    X, Y = draw_rows(20, 4)
    return Collection({"features": X}, Y, name=DRAWN)


# Its answers to tables


def answer(table, results):
    if table == "jsvm-table1":
        counted = [line for line in results if line["features"] is None] or results[:1]
        columns = ("labels", "training", "test", "labels a picture")
        return Answer(
            Figures(columns, {PICTURES.get(line["data"], "Corel5k"): _cells(line) for line in counted})
        )
    titles = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
    some = {titles.get(line["data"], line["data"]): line for line in results if line["features"]}
    rows = {
        "Labels": "{labels}",
        "Features": "{features:,}",
        "Label cardinality": "{cardinality:.3f}",
        "Examples": "{samples:,}",
    }
    return Answer(Figures.fill(rows, some, lambda row, name: rows[row].format(**some[name])))


def _cells(line):
    return str(line["labels"]), str(line["training"]), str(line["test"]), f"{line['cardinality']:.4f}"
