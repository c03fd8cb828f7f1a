"""Hidden labels: tables 1.1, 1.2, 4.1 to 4.4, 5.2, 5.3 and 5.5 of the dissertation."""

from tagrank.reproduction.declarations import Answer, Figures

METHODS = ("SVM", "PLATT", "MLR-L1", "MLR-GL")
BY_MAP = {"mlr-l1-table4.3", "mlr-gl-table5.3"}


def answer(table, results):
    means = _Means(results["lines"])
    if table == "dissertation-table1.2":
        return Answer(_first_and_last(means), means.lost("auc"))
    if table in ("mlr-l1-table4.1", "mlr-l1-table4.4"):
        return Answer(_both_measures(means), f"{means.above('auc')} {means.above('map')}")
    measure = "map" if table in BY_MAP else "auc"
    if table.startswith("mlr-gl"):
        return Answer(_by_share(means, measure), means.lost(measure))
    figures = Figures.fill(
        means.methods, means.sets, lambda method, name: f"{means(measure, name, method, 0):.1f}"
    )
    return Answer(figures, means.above(measure))


def _first_and_last(means):
    columns = [(name, share) for name in means.sets for share in (0, means.shares[-1])]
    rows = {
        method: tuple(f"{means('auc', name, method, share):.1f}" for name, share in columns)
        for method in means.methods
    }
    return Figures(
        tuple(f"{name}, {'complete' if not share else f'{share:.0%}'}" for name, share in columns), rows
    )


def _both_measures(means):
    rows = {
        f"{title}, {name}": tuple(f"{means(measure, name, method, 0):.1f}" for method in means.methods)
        for measure, title in (("auc", "AUC-ROC"), ("map", "MAP"))
        for name in means.sets
    }
    return Figures(tuple(means.methods), rows)


def _by_share(means, measure):
    rows = {
        f"{name}: {method}": tuple(f"{means(measure, name, method, share):.1f}" for share in means.shares)
        for name in means.sets
        for method in means.methods
    }
    return Figures(tuple(f"{share:.0%}".replace("%", " %") for share in means.shares), rows)


class _Means:
    """Percentages by set, method and share of hidden labels: means over the draws."""

    def __init__(self, lines):
        self.lines = lines
        self.sets = list(dict.fromkeys(line["set"] for line in lines))
        self.shares = sorted({line["fraction"] for line in lines})
        known = {line["method"] for line in lines}
        self.methods = [method for method in METHODS if method in known]

    def __call__(self, measure, name, method, share):
        wanted = (name, method, share)
        values = [
            line[measure] for line in self.lines if (line["set"], line["method"], line["fraction"]) == wanted
        ]
        return 100 * sum(values) / len(values)

    def above(self, measure):
        """On how many sets the ranking methods are above SVM, and who is best."""
        words = []
        for method in ("MLR-L1", "MLR-GL"):
            above = [
                name for name in self.sets if self(measure, name, method, 0) > self(measure, name, "SVM", 0)
            ]
            words.append(f"{method} on {len(above)}")
        best = {
            name: max(self.methods, key=lambda method: self(measure, name, method, 0)) for name in self.sets
        }
        listed = ", ".join(f"{method} ({name})" for name, method in best.items())
        return (
            f"{_title(measure)}, complete labels: above SVM is {', '.join(words)} of {len(self.sets)} sets; "
            f"best is {listed}."
        )

    def lost(self, measure):
        """On how many sets MLR-GL loses less than SVM and MLR-L1, and the points lost."""
        last = self.shares[-1]
        lost = {
            name: {
                method: self(measure, name, method, 0) - self(measure, name, method, last)
                for method in self.methods
            }
            for name in self.sets
        }
        least = [
            name for name, points in lost.items() if points["MLR-GL"] < min(points["SVM"], points["MLR-L1"])
        ]
        listed = "; ".join(
            f"{name} {', '.join(f'{method} {value:.1f}' for method, value in points.items())}"
            for name, points in lost.items()
        )
        return (
            f"{_title(measure)}: MLR-GL loses less than SVM and MLR-L1 on {len(least)} of {len(self.sets)} "
            f"sets. Points lost from complete to most hidden: {listed}."
        )


def _title(measure):
    return {"auc": "Image AUC", "map": "Image MAP"}[measure]
