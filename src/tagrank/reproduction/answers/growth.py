"""Training times as samples and labels grow: table 2 of the ranking paper and figures of the dissertation."""

from tagrank.reproduction.declarations import Answer, Figures

PEER, RANKER = "one-vs-all LIBSVM", "LabelRanker"
SHORT = {PEER: "LIBSVM", "OneVsAllSVM": "SVM", RANKER: "MLR-L1", "IncompleteLabelRanker": "MLR-GL"}


def answer(table, results):
    """Seconds of every size that was measured; the ratios of the two that the ranking paper has."""
    sizes = {}
    for line in results:
        size = f"{line['data']}, {line['n_samples']:,} x {line['n_labels']}"
        sizes.setdefault(size, {})[line["method"]] = line["seconds"]
    figures = Figures(
        tuple(SHORT.values()),
        {size: tuple(f"{seconds[method]:.3g}" for method in SHORT) for size, seconds in sizes.items()},
    )
    other = "IncompleteLabelRanker" if table == "mlr-gl-figure5.3" else PEER
    ratios = [seconds[other] / seconds[RANKER] for seconds in sizes.values()]
    return Answer(
        figures,
        f"Seconds by samples x labels. {SHORT[other]} takes {min(ratios):.1f} to {max(ratios):.1f} times as "
        "long as MLR-L1.",
    )
