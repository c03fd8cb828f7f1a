"""The page docs/picture-results.md, from the results of pictures.py."""

from tagrank.reproduction.entries import find_table
from tagrank.reproduction.text import markdown_table

COSTS, POWERS = (1.0, 3.0, 10.0), (1, 2, 4)
COSTS_ALONE, POWERS_ALONE = (3.0, 10.0), (1, 2)  # of a single set
TOLERANCE, SEED, N_TAGS = 2e-3, 0, 5
PLAIN = "the 15 sets, plain mean kernel"
# Joint SVM paper, table 3, Corel5k: F1 of a joint SVM on each feature set alone, in percent
PUBLISHED = {name: float(cells[2]) for name, cells in find_table("jsvm-table3").published.rows.items()}
INTRO = f"""
# Results on photographs

Measured by `tagrank reproduce jsvm-table3`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/pictures.json`. Do not edit it by hand.

- Official training and test parts. Image-AUC and 11-point Image-MAP of the ranking; precision, recall and F1
  averaged over tags, and the number of tags found at all (N+), where every picture is given its {N_TAGS} best
  tags.
- Kernels are exp(-d / mean d), d the chi-square distance for histograms and the squared Euclidean one
  otherwise. Several sets are combined by the mean of their kernels, in which embeddings together weigh as
  much as all others together.
- C among {", ".join(f"{cost:g}" for cost in COSTS)} and a power of the kernel among
  {", ".join(map(str, POWERS))} are chosen by Image-MAP in 3-fold cross-validation on the training part
  (for single sets among {", ".join(f"{cost:g}" for cost in COSTS_ALONE)} and
  {", ".join(map(str, POWERS_ALONE))}).
  Relative duality gap {TOLERANCE:g}, one seed. Sets of features, the weight of the embeddings and the grid
  were chosen on a part of the training pictures of Corel5k; single embeddings and kernel widths had been
  looked at on its test part before. The lines "{PLAIN}" (power 1, C chosen) were added when the
  others had been seen.
- The published figures are those of a joint SVM on the features of the INRIA group, which are not ours: other
  detectors, other grids, other vocabularies. Published F1 on Corel5k with all 15 of them: TagProp 0.37,
  FastTag 0.37; joint SVM on two of them 0.426.
"""


def render_page(results, machine):
    parts = [INTRO.strip()]
    for result in results:
        parts.append(
            f"## {result['data']}\n\n"
            f"{result['n_train']:,} training and {result['n_test']:,} test pictures.\n\n"
            + table(result)
            + "\n\n"
            + timings(result["seconds"])
        )
    parts.append(f"Measured on {machine['cores']} cores, {machine['processor']}.")
    return "\n\n".join(parts) + "\n"


def table(result):
    with_published = result["data"].startswith("corel5k")
    head = ["features", "method", "power", "C", "AUC", "MAP", "P", "R", "F1", "N+"]
    head += ["published F1 (joint SVM)"] if with_published else []
    rows = []
    for line in result["lines"]:
        cells = [line["features"], line["method"], str(line["power"]), f"{line['C']:g}"]
        cells += [f"{line[name]:.3f}" for name in ("AUC", "MAP", "P", "R", "F1")] + [str(line["N+"])]
        if with_published:
            published = PUBLISHED.get(line["features"])
            cells.append("" if published is None else f"{published / 100:.3f}")
        rows.append(cells)
    return markdown_table(head, rows)


def timings(seconds):
    whole = ", ".join(
        f"{name} {value:.1f} s" for name, value in seconds.items() if not isinstance(value, dict)
    )
    each = sorted(seconds["ms a picture"].items(), key=lambda entry: -entry[1])
    lines = ", ".join(f"{name} {value:.1f}" for name, value in each)
    return (
        f"Computing the features, vocabularies included: {whole}.\n\n"
        f"Milliseconds of one core a picture: {lines}."
    )
