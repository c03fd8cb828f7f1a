"""The page docs/missing-results.md, from the results of missing_tags.py."""

from tagrank.reproduction.protocols.proposers import FOLDS, LOGISTIC_COSTS, MOST_COLUMNS, MOST_TUNED
from tagrank.reproduction.text import markdown_table

FIRST = (100, 500)  # proposals, of which the share of hidden ones is shown
INTRO = f"""
# Finding tags that were hidden

Measured by `tagrank reproduce missing-tags`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/missing_tags.json`. Do not edit it by hand.

- A share of all present labels is hidden at random: they look absent. Each sample keeps at least one, except
  in scene, where nine in ten have no second one; there a sample may lose its only label, and counts as known
  to have none.
- All rows of the data, training and test parts together. Every proposer orders all absent pairs of sample and
  label.
- AP: average precision of the hidden pairs among all absent ones. P@k: share of hidden ones among the first k
  proposals. Found: share of the hidden that are among the first n, where n is their number.
- `tagrank missing` with several methods: {FOLDS} folds, C by the likelihood of held-out incomplete labels,
  Gaussian kernel (photographs: the mean of the kernels of their features). `label-frequency` proposes the
  most frequent label for everybody.
- Logistic regression (scikit-learn, one for each label, columns scaled alike), held out in the same folds, is
  what users of cleanlab usually hand to it; one C for all labels, among
  {", ".join(f"{cost:g}" for cost in LOGISTIC_COSTS)}, by the log loss on the first held-out fold of
  the (at most {MOST_TUNED}) most frequent labels. Of more than {MOST_COLUMNS} columns it sees the first
  {MOST_COLUMNS} principal components.
- cleanlab's scores of single labels (self-confidence) order absent pairs by probability: that is the line of
  logistic regression itself. What cleanlab adds is *confident learning*: "issues" puts the pairs first that
  its filter (default settings) flags; "adjusted" corrects probabilities by the mean confidence of each label.
  Both also with the probabilities of `missing` in the place of logistic regression.
- One drawing of hidden labels, one seed: differences in the third digit mean little.
"""


def render_page(lines, machine):
    """The page: a table for each data set and share, the best of each column in bold."""
    parts = [INTRO.strip(), f"Measured on {machine}."]
    for data, share in dict.fromkeys((line["data"], line["share"]) for line in lines):
        some = [line for line in lines if (line["data"], line["share"]) == (data, share)]
        columns = ["average_precision", *(f"precision_at_{k}" for k in FIRST), "found"]
        best = {column: max(round(line[column], 3) for line in some) for column in columns}
        rows = [
            [
                line["proposer"],
                *(
                    _cell(round(line[column], 3), is_best=round(line[column], 3) == best[column])
                    for column in columns
                ),
            ]
            for line in some
        ]
        n_hidden, n_candidates = some[0]["n_hidden"], some[0]["n_candidates"]
        parts.append(f"## {data}, {share:.0%} hidden")
        parts.append(
            f"{n_hidden:,} hidden labels among {n_candidates:,} absent ones ({n_hidden / n_candidates:.1%})."
        )
        header = ["proposer", "AP", *(f"P@{k}" for k in FIRST), "found"]
        parts.append(markdown_table(header, rows))
    return "\n\n".join(parts) + "\n"


def _cell(value, *, is_best):
    return f"**{value:.3f}**" if is_best else f"{value:.3f}"
