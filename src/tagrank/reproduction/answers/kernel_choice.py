"""One kernel, their mean or learned weights: tables 2.4 and 2.5, figures 2.5 and 2.6 of the dissertation."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    lines = results["lines"]
    if table == "mkl-figure2.5":
        key = "noise"
        some = [line for line in lines if line["n_train"] == results["noisy_size"]]
        what = "{} kernels of noise"
    else:
        key = "n_train"
        some = [line for line in lines if not line["noise"]]
        what = "{} samples"
    sets, methods = ([*dict.fromkeys(line[name] for line in some)] for name in ("data", "method"))
    sizes = sorted({line[key] for line in some})
    means = {
        (name, method, size): _mean(
            line["map"] for line in some if (line["data"], line["method"], line[key]) == (name, method, size)
        )
        for name in sets
        for method in methods
        for size in sizes
    }
    rows = {
        f"{name}: {method}": tuple(f"{means[name, method, size]:.1f}" for size in sizes)
        for name in sets
        for method in methods
    }
    figures = Figures(tuple(what.format(size) for size in sizes), rows)
    return Answer(figures, (_noise if key == "noise" else _few_and_many)(means, sets, sizes))


def _few_and_many(means, sets, sizes):
    few, many = sizes[0], sizes[-1]
    words = []
    for size in (few, many):
        points = {
            method: [means[name, method, size] - means[name, "Average", size] for name in sets]
            for method in ("L1", "L2")
        }
        listed = "; ".join(
            f"{method} {', '.join(f'{value:+.1f}' for value in values)}" for method, values in points.items()
        )
        words.append(f"With {size} samples, points above Average ({', '.join(sets)}): {listed}.")
    return " ".join(words)


def _noise(means, sets, sizes):
    methods = dict.fromkeys(method for _, method, _ in means)
    lost = {
        method: _mean(means[name, method, sizes[0]] - means[name, method, sizes[-1]] for name in sets)
        for method in methods
    }
    listed = ", ".join(f"{method} {value:.2f}" for method, value in lost.items())
    return f"Mean points lost to {sizes[-1]} kernels of noise: {listed}."


def _mean(values):
    values = list(values)
    return sum(values) / len(values)
