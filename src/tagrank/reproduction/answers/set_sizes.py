"""Sizes of data sets: table 2 of the two-way paper, table 1 of the Joint SVM paper."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    if table == "jsvm-table1":
        line = next((line for line in results if line["features"] is None), results[0])
        cells = (line["labels"], line["training"], line["test"], f"{line['cardinality']:.4f}")
        columns = ("labels", "training", "test", "labels a picture")
        return Answer(Figures(columns, {"Corel5k": tuple(map(str, cells))}))
    titles = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
    some = {titles.get(line["data"], line["data"]): line for line in results if line["features"]}
    rows = {
        "Labels": "{labels}",
        "Features": "{features:,}",
        "Label cardinality": "{cardinality:.3f}",
        "Examples": "{samples:,}",
    }
    return Answer(Figures.fill(rows, some, lambda row, name: rows[row].format(**some[name])))
