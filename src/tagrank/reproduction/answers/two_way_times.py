"""Seconds of the factorizations: tables 1 and 4 of the two-way paper."""

from tagrank.reproduction.declarations import Answer, Figures

TITLES = {"corel5k": "Corel5k", "bibtex": "Bibtex"}
METHODS = {"online-factorization": "OMMF", "two-way-factorization": "TWMMF"}


def answer(table, results):
    return _convergence(results) if table == "twmmf-table4" else _epochs(results)


def _epochs(results):
    place = "GPU" if results["device"] == "cuda" else "CPU"
    seconds = {(_title(line), line["epochs"]): line["seconds"] for line in results["epochs"]}
    sets, epochs = ([*dict.fromkeys(key[part] for key in seconds)] for part in (0, 1))
    rows = {f"{name}, {place}": tuple(_clock(seconds[name, number]) for number in epochs) for name in sets}
    most = max(epochs)
    listed = ", ".join(f"{seconds[name, most]:.1f} ({name})" for name in sets)
    return Answer(
        Figures(tuple(f"{number} epoch{'s' if number > 1 else ''}" for number in epochs), rows),
        f"Seconds of {most} epochs from loading to the F-measure: {listed}.",
    )


def _convergence(results):
    lines = {(_title(line), METHODS[line["method"]]): line for line in results["convergence"]}
    sets, methods = ([*dict.fromkeys(key[part] for key in lines)] for part in (0, 1))
    listed = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{method} {lines[name, method]['seconds']:.1f} ({lines[name, method]['passes']})"
            for method in methods
        )
        for name in sets
    )
    figures = Figures.fill(sets, methods, lambda name, method: _clock(lines[name, method]["seconds"]))
    return Answer(
        figures,
        f"Seconds (passes) until a tenth of the training samples, held out, gets no better: {listed}.",
    )


def _title(line):
    return TITLES.get(line["data"], line["data"])


def _clock(seconds):
    """Hours, minutes and seconds, as the paper has them."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
