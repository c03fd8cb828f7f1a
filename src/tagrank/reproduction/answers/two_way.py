"""F-measures of nine methods: table 3 of the two-way paper."""

from tagrank.reproduction.declarations import Answer, Figures

TITLES = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
AVERAGES = ("micro", "macro", "example")


def answer(table, results):
    """Micro F under the heading of the paper, which does not say how it averages; the others beside it."""
    lines = {(TITLES.get(line["data"], line["data"]), line["method"]): line for line in results}
    sets, methods = ([*dict.fromkeys(key[place] for key in lines)] for place in (0, 1))
    headings = {
        name if average == "micro" else f"{name}, {average}": (name, average)
        for average in AVERAGES
        for name in sets
    }

    def cell(method, heading):
        name, average = headings[heading]
        line = lines.get((name, method))
        return "" if line is None else f"{line[average]:.3f}"

    return Answer(Figures.fill(methods, headings, cell), _order(lines, sets) + _cut_short(lines))


def _order(lines, sets):
    words = []
    for name in sets:
        some = sorted(
            (line for (data, _), line in lines.items() if data == name), key=lambda line: -line["micro"]
        )
        words.append(f"{name}: " + ", ".join(line["method"] for line in some))
    return f"By our micro F, best first: {'; '.join(words)}."


def _cut_short(lines):
    found = [f"{method} ({name})" for (name, method), line in lines.items() if not line["is_complete"]]
    return f" The search ran out of time, and the best so far was taken: {', '.join(found)}." if found else ""
