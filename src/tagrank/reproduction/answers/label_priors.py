"""Priors on labels: table 3 and figure 1 of the M3L paper."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    return _sweep(results) if table == "m3l-figure1" else _losses(results)


def _losses(results):
    means = {
        line["dataset"]: {method: sum(values) / len(values) for method, values in line["hamming"].items()}
        for line in results
    }
    first = next(iter(means.values()))
    figures = Figures.fill(first, means, lambda method, name: f"{means[name][method]:.2f}")
    changes = []
    for name, losses in means.items():
        prior = min("M3L, correlation", "M3L, second moment", key=losses.__getitem__)
        changes.append(f"{losses[prior] - losses['1-vs-All']:+.2f} ({name}, {prior.split(', ')[1]})")
    return Answer(
        figures,
        "The better prior of the third part against 1-vs-All, in points: "
        f"{', '.join(changes)}; published -2.74 (Siam), -0.91 (Media Mill), -0.80 (RCV1).",
    )


def _sweep(results):
    chosen = (-0.9, -0.5, 0.0, 0.5, 0.9)
    rows, words = {}, []
    for line in results:
        sweep = line["sweep"]
        by_r = {round(r, 1): loss for r, loss in zip(sweep["r"], sweep["hamming"], strict=True)}
        rows[line["dataset"]] = tuple(f"{by_r[r]:.1f}" for r in chosen)
        best = min(by_r, key=by_r.get)
        words.append(
            f"{line['dataset']} best at r = {best:+.1f} (correlation {sweep['correlation_in_training']:+.2f} "
            f"in training, {sweep['correlation_in_third_part']:+.2f} in the third part)"
        )
    columns = tuple(f"r = {r:+.1f}" for r in chosen)
    return Answer(Figures(columns, rows), f"Test Hamming loss (%): {'; '.join(words)}.")
