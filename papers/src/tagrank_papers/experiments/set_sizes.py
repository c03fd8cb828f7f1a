"""Sizes of data sets, counted, and how their labels go together (JSVM, figure 3).

Of two sets only the labels are at hand. Correlations are those of every pair of labels that vary in a part;
beside the two parts stand as many training pictures as the test part has, drawn at random, because few
pictures alone make correlations of rare labels look strong.
"""

import csv
import json
from itertools import pairwise

import numpy as np

from tagrank.data import Collection, load_dataset
from tagrank.data.catalog import data_folders
from tagrank.files import open_text
from tagrank_papers.catalogue import find_table
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.protocols.data import DRAWN, dense, draw_rows
from tagrank_papers.text import show

QUICK = {"only": (DRAWN,)}
PICTURES = {"corel5k_images_260": "Corel5k", "espgame": "ESP Game", "iaprtc12": "IAPR TC-12"}
ROWS = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
CLASSES = {"caltech101": "Caltech 101", "voc2007": "VOC 2007"}
LABELS_ALONE = {"espgame": "espgame_annotations/annotations.csv.gz", "voc2007": "voc2007_labels/labels.jsonl"}
EDGES = (-1, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.3, 0.5, 1)  # of correlations
NEAR_ZERO, STRONG = 0.05, 0.3
DRAWS = 20


def run(*, only=(*ROWS, *PICTURES, *CLASSES)):
    lines = []
    for name in only:
        whole = draw() if name == DRAWN else read_labels(name) if name in LABELS_ALONE else load_dataset(name)
        lines.append({"data": name, **count(whole, name)})
        show(lines[-1], *(key for key in lines[-1] if key != "correlations"))
        yield lines


def read_labels(name):
    """A set whose labels alone are at hand."""
    path = next((folder / LABELS_ALONE[name] for folder in data_folders() if _is_file(folder, name)), None)
    if path is None:
        raise FileNotFoundError(f"{LABELS_ALONE[name]} is in none of {', '.join(map(str, data_folders()))}")
    with open_text(path) as stream:
        if path.suffix == ".jsonl":
            entries = [json.loads(line) for line in stream]
            sets, part = [entry["tags"] for entry in entries], [entry["part"] for entry in entries]
        else:
            entries = list(csv.DictReader(stream))
            sets, part = (
                [entry["words"].split("|") for entry in entries],
                [entry["split"] for entry in entries],
            )
    tags = sorted(set().union(*sets))
    Y = np.array([[tag in one for tag in tags] for one in map(set, sets)], dtype=float)
    return Collection({"none": np.zeros((len(Y), 1))}, Y, tags=tags, part=part, name=name)


def _is_file(folder, name):
    return (folder / LABELS_ALONE[name]).is_file()


def count(whole, name):
    Y = dense(whole.Y) > 0
    parts = np.array([None] * len(Y) if whole.part is None else list(whole.part))
    line = {
        "labels": Y.shape[1],
        "features": int(whole.X.shape[1]) if name in ROWS or name == DRAWN else None,
        "cardinality": float(Y.sum(axis=1).mean()),
        "samples": len(Y),
        "training": int(np.sum(parts == "train")),
        "test": int(np.sum(parts == "test")),
        "single": float(np.mean(Y.sum(axis=1) == 1)),
    }
    if name in PICTURES or name == DRAWN:
        line["correlations"] = describe_correlations(Y[parts == "train"], Y[parts == "test"])
    return line


def describe_correlations(train, test):
    """Histograms of both parts, and of as many training samples as the test part has, drawn at random."""
    rng = np.random.default_rng(0)
    drawn = [histogram(train[rng.permutation(len(train))[: len(test)]]) for _ in range(DRAWS)]
    return {
        "training": histogram(train),
        "test": histogram(test),
        "drawn": {key: np.mean([one[key] for one in drawn], axis=0).tolist() for key in drawn[0]},
    }


def histogram(Y):
    """Shares of the pairs of labels whose correlations lie between two edges, near zero, or are strong."""
    Y = Y[:, Y.any(axis=0) & ~Y.all(axis=0)].astype(float)
    found = np.corrcoef(Y, rowvar=False)[np.triu_indices(Y.shape[1], 1)]
    return {
        "shares": (np.histogram(found, EDGES)[0] / len(found)).tolist(),
        "near_zero": float(np.mean(np.abs(found) < NEAR_ZERO)),
        "strong": float(np.mean(found > STRONG)),
    }


def draw():
    X, Y = draw_rows(40, 4)
    return Collection({"features": X}, Y, name=DRAWN, part=["train"] * 30 + ["test"] * 10)


# Its answers to tables


def answer(table, results):
    lines = {line["data"]: line for line in results}
    if table == "jsvm-figure3":
        return _correlations(_some(lines, PICTURES))
    if table == "jsvm-table1":
        columns = ("labels", "training", "test", "labels a picture")
        return Answer(Figures(columns, {name: _parts(line) for name, line in _some(lines, PICTURES).items()}))
    if table == "dissertation-tableA.2":
        return _statistics(_some(lines, CLASSES))
    some = _some(lines, ROWS)
    rows = {
        "Labels": "{labels}",
        "Features": "{features:,}",
        "Label cardinality": "{cardinality:.3f}",
        "Examples": "{samples:,}",
    }
    return Answer(Figures.fill(rows, some, lambda row, name: rows[row].format(**some[name])))


def _some(lines, titles):
    """Those of the sets that were counted, by their titles."""
    return {title: lines[name] for name, title in titles.items() if name in lines} or lines


def _parts(line):
    return str(line["labels"]), str(line["training"]), str(line["test"]), f"{line['cardinality']:.4f}"


def _statistics(lines):
    published = find_table("dissertation-tableA.2").published
    rows = {}
    for name, line in lines.items():
        each = line["cardinality"] * line["samples"] / line["labels"]
        rows[name] = (
            f"{line['samples']:,}",
            f"{line['labels']:,}",
            f"{line['cardinality']:.1f}",
            f"{each:.1f}",
        )
    odd = []
    for name in published.rows:
        samples, labels, cardinality, each = (value for row, _, value in published.numbers() if row == name)
        if not (cardinality - 0.06) * samples / labels < each < (cardinality + 0.06) * samples / labels:
            odd.append(f"{name} ({samples:,.0f} x {cardinality:g} / {labels:g} is not {each:g})")
    single = [f"{100 * line['single']:.0f} % of {name}" for name, line in lines.items()]
    return Answer(
        Figures(published.columns, rows),
        f"Printed rows whose own columns contradict each other: {', '.join(odd)}. Pictures with one label: "
        f"{', '.join(single)}.",
    )


def _correlations(lines):
    parts = ("training", "test", "drawn")
    columns = [f"{name}, {part}" for name in lines for part in parts]
    found = [line["correlations"][part] for line in lines.values() for part in parts]
    rows = {
        f"{low:g} to {high:g}": tuple(f"{100 * one['shares'][k]:.3g}" for one in found)
        for k, (low, high) in enumerate(pairwise(EDGES))
    }
    words = []
    for name, line in lines.items():
        near = [_percent(line, "near_zero", part) for part in parts[:2]]
        strong = [_percent(line, "strong", part) for part in parts]
        words.append(
            f"{name}: {near[0]} and {near[1]} % of the pairs lie between {-NEAR_ZERO} and {NEAR_ZERO}; "
            f"above {STRONG} lie {strong[0]} % in training, {strong[1]} % in the test part and {strong[2]} % "
            "in as many training pictures drawn at random"
        )
    return Answer(Figures(tuple(columns), rows), f"{'. '.join(words)}.")


def _percent(line, key, part):
    return f"{100 * line['correlations'][part][key]:.3g}"
