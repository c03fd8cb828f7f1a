"""Sizes of data sets, counted."""

from tagrank.data import Collection, load_dataset
from tagrank.reproduction.protocols.data import DRAWN, dense, draw_rows
from tagrank.reproduction.text import show

QUICK = {"only": (DRAWN,)}
PICTURES = "corel5k_images_260"


def run(*, only=("corel5k", "bibtex", PICTURES)):
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
        "features": None if name == PICTURES else int(whole.X.shape[1]),
        "cardinality": float(Y.sum(axis=1).mean()),
        "samples": len(Y),
        "training": parts.count("train"),
        "test": parts.count("test"),
    }


def draw():
    X, Y = draw_rows(20, 4)
    return Collection({"features": X}, Y, name=DRAWN)
