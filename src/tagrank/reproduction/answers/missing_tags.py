"""Who finds hidden tags."""

from tagrank.reproduction.declarations import Answer, Figures


def answer(table, results):
    found, cases = {}, {}
    for line in results:
        case = f"{line['data']}, {line['share']:.0%}"
        cases[case] = None
        found.setdefault(line["proposer"], {})[case] = f"{line['average_precision']:.3f}"
    rows = {who: tuple(values.get(case, "") for case in cases) for who, values in found.items()}
    return Answer(Figures(tuple(cases), rows), "Average precision of the hidden tags among all absent ones.")
