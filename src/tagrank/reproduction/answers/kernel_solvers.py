"""Solvers of several kernels: tables 2.7 to 2.11, figures 2.7 and 2.8 of the dissertation."""

from tagrank.reproduction.declarations import Answer, Figures

PAPER_NAMES = {
    "gradient": "GMKL",
    "simple": "SimpleMKL",
    "mirror": "VSKL",
    "group-lasso": "MKL-GL",
    "level": "MKL-Level",
    "silp": "MKL-SIP",
    "smo": "MKL-SMO",
}
GROWN = {"mkl-table2.10": "kernels", "mkl-table2.11": "kernels"}


def answer(table, results):
    if table == "mkl-table2.7":
        return _smo(results)
    if table == "mkl-figure2.7":
        return _active(results["lines"])
    grown = results[GROWN.get(table, "samples")] or results["lines"]
    columns = [
        f"{line['n_samples']:,} x {line['n_kernels']}: {what}" for line in grown for what in ("s", "rounds")
    ]
    rows = {}
    for solver in PAPER_NAMES:
        for norm in (1.0, 2.0, 4.0):
            cases = [_case(line, solver, norm) for line in grown]
            if all(cases):
                cells = [
                    cell for case in cases for cell in (f"{case['seconds']:.2f}", f"{case['rounds']:.0f}")
                ]
                rows[f"{PAPER_NAMES[solver]}-L{norm:.0f}"] = tuple(cells)
    return Answer(Figures(tuple(columns), rows), f"Samples x kernels. {_order(grown)}")


def _order(lines):
    seconds = {
        solver: sum(case["seconds"] for case in cases)
        for solver in PAPER_NAMES
        if all(cases := [_case(line, solver, 1.0) for line in lines])
    }
    order = sorted(seconds, key=seconds.get)
    listed = ", ".join(f"{PAPER_NAMES[solver]} {seconds[solver]:.2f}" for solver in order)
    return f"L1 solvers from fast to slow, seconds of all sizes together: {listed}."


def _smo(results):
    """Seconds with the L2 norm on every problem of the experiment."""
    lines = [*results["lines"], *results["samples"], *results["kernels"]]
    rows, faster = {}, {}
    for line in lines:
        silp, smo = (_case(line, solver, 2.0)["seconds"] for solver in ("silp", "smo"))
        rows[f"{line['data']}, {line['n_samples']:,} x {line['n_kernels']}"] = f"{silp:.2f}", f"{smo:.2f}"
        faster.setdefault(line["n_kernels"], []).append(silp / smo)
    listed = "; ".join(f"{count} kernels {_range(found)}" for count, found in sorted(faster.items()))
    return Answer(
        Figures(("MKL-SIP", "MKL-SMO"), rows),
        f"Samples x kernels. Seconds of SIP in units of those of SMO: {listed}.",
    )


def _range(values):
    return " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(values), max(values))))


def _active(lines):
    rows = {
        f"{line['data']}, {line['n_kernels']} kernels": tuple(
            f"{_case(line, 'silp', norm)['active']:.1f}" for norm in (1.0, 2.0, 4.0)
        )
        for line in lines
    }
    return Answer(Figures(("L1", "L2", "L4"), rows), "Active kernels of MKL-SIP at the end of training.")


def _case(line, solver, norm):
    found = [case for case in line["cases"] if (case["solver"], case["norm"]) == (solver, norm)]
    return found[0] if found else None
