"""Shared weights of kernels: tables 3.1 to 3.4 and 6.1 to 6.9 of the dissertation, and figures."""

from tagrank.reproduction.declarations import Answer, Figures

NAMES = {
    "SK-SVM": "SK-SVM",
    "SK-MLR": "SK-MLR",
    "AVG-SVM": "AVG-SVM",
    "MKL L1": "MKL-L1",
    "MKL L2": "MKL-L2",
    "ML-MKL-Sum": "ML-MKL-Sum",
    "ML-MKL-SA": "ML-MKL-SA",
    "AVG-MLR": "AVG-MLR",
    "MK-MLR": "MK-MLR",
}
MEASURES = {
    **dict.fromkeys(("ml-mkl-table3.1", "ml-mkl-table3.2"), "category_map"),
    **dict.fromkeys(("ml-mkl-table3.3", "ml-mkl-table3.4", "mk-mlr-figure6.2"), "seconds"),
    **dict.fromkeys(
        ("mk-mlr-table6.1", "mk-mlr-table6.3", "mk-mlr-table6.5", "mk-mlr-table6.7"), "category_auc"
    ),
    **dict.fromkeys(
        ("mk-mlr-table6.2", "mk-mlr-table6.4", "mk-mlr-table6.6", "mk-mlr-table6.8"), "image_auc"
    ),
}


def answer(table, results):
    if table == "ml-mkl-figure3.3":
        return _moved(results["followed"])
    if table == "mk-mlr-table6.9":
        return _sparsity(results["lines"])
    measure = MEASURES[table]
    by_set = {}
    for line in results["lines"]:
        if line["method"] in NAMES:
            by_set.setdefault(line["data"], {})[line["method"]] = line[measure]
    figures = Figures(
        tuple(by_set),
        {
            NAMES[method]: tuple(f"{values[method]:.2f}" for values in by_set.values())
            for method in NAMES
            if all(method in values for values in by_set.values())
        },
    )
    return Answer(figures, (_times if measure == "seconds" else _quality)(by_set))


def _quality(by_set):
    pairs = (("ML-MKL-Sum", "MKL L1"), ("MK-MLR", "AVG-MLR"), ("MK-MLR", "ML-MKL-Sum"))
    listed = "; ".join(
        f"{first} less {NAMES[second]} "
        + ", ".join(f"{values[first] - values[second]:+.2f}" for values in by_set.values())
        for first, second in pairs
    )
    best = ", ".join(f"{NAMES[max(values, key=values.get)]} ({name})" for name, values in by_set.items())
    return f"Points: {listed}. Best: {best}."


def _times(by_set):
    listed = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{NAMES[method]} {values[method] / values['ML-MKL-Sum']:.1f}"
            for method in ("MKL L1", "MKL L2", "ML-MKL-SA", "MK-MLR")
        )
        for name, values in by_set.items()
    )
    return f"Processor seconds of training in units of ML-MKL-Sum: {listed}."


def _sparsity(lines):
    rows = {}
    for line in lines:
        if line["method"] in ("AVG-SVM", "MKL L1", "MKL L2", "ML-MKL-Sum", "ML-MKL-SA", "MK-MLR"):
            shares = (
                line["active_a_label"] / line["n_kernels"],
                line["active"] / line["n_kernels"],
                line["support"],
            )
            rows[f"{line['data']}: {NAMES[line['method']]}"] = (
                *(f"{100 * (1 - share):.1f}" for share in shares),
                f"{line['predicting_seconds']:.3f}",
            )
    return Answer(
        Figures(("weights, each label", "weights, all labels", "coefficients", "seconds, all"), rows),
        "Share that is zero (%); seconds for all test samples from their similarities on.",
    )


def _moved(followed):
    rows = {
        line["method"]: (f"{line['moved']:.1f}", str(len(line["rounds"])), f"{line['gap']:.0e}")
        for line in followed
    }
    return Answer(
        Figures(("way", "measurements", "gap"), rows),
        "The way is the sum of all changes of the weights.",
    )
