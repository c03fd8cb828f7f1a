"""The page docs/choice-results.md, from the results of automatic_choice.py."""

from tagrank.reproduction.protocols.logistic_peer import EXPONENTS, FIRST_EXPONENT, FOLDS
from tagrank.reproduction.text import markdown_table

MOST_BELOW = 0.3  # points that the choice may rank worse than the peer
TUNED_ON = {"delicious": 2000, "corel5k_images_260": 1500}  # rows for the C of the peer; all take hours
INTRO = f"""
# The automatic choice against logistic regression

Measured by `tagrank reproduce automatic-choice`; written by `make docs` from the figures that are kept, with
machine and versions, in `src/tagrank/reproduction/results/automatic_choice.json`. Do not edit it by hand.

- Ours is `Annotator()` with nothing given: it chooses among four methods, with and without intercept, kernels
  and C, and may add up two models. Its log-odds are what is ranked by.
- The peer is scikit-learn's `LogisticRegression`, one tag after another: liblinear on sparse rows, lbfgs on
  dense columns, which are brought to mean 0 and deviation 1. One C for all tags, a power of ten from
  {10.0 ** EXPONENTS[0]:g} to {10.0 ** EXPONENTS[-1]:g}: from {10.0**FIRST_EXPONENT:g} on down, or else up,
  as long as {FOLDS} folds, in which each tag keeps its share, are ranked better; by the mean of image AUC and
  image MAP, which is what ours goes by. On delicious the peer chooses C on {TUNED_ON["delicious"]:,} rows
  drawn at random, on the photographs of Corel5k on {TUNED_ON["corel5k_images_260"]:,}; it is trained on all.
- Of photographs ours sees what `tagrank train` takes (two embeddings, dense SIFT, colour), the peer the two
  embeddings side by side.
- The official parts; where there are none (corel16k001, rcv1_subset1), a third is held out for the test.
  Everything is chosen on the training part. Image AUC and 11-point image MAP in percent.
- Seconds: choosing and training, picture features in the cache. Other programs kept the two cores busy, so
  that they tell the order of magnitude only.
- Differences are in points, with their standard error over the test samples: what is below two of them may be
  chance. One split, one seed.
"""


def render_page(lines, missing, machine):
    """The page: what was aimed at and reached, both tables."""
    parts = [INTRO.strip(), f"Measured on {machine}.", "## Ranking", _ranking(lines), _verdict(lines)]
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.")
    parts += ["## What was chosen", _chosen(lines)]
    return "\n\n".join(parts) + "\n"


def _ranking(lines):
    header = ("data", "train", "test", "tags", "AUC", "peer", "differ", "MAP", "peer", "differ")
    rows = [
        [
            line["data"],
            *(f"{line[key]:,}" for key in ("n_train", "n_test", "n_tags")),
            *_compared(line, "auc"),
            *_compared(line, "map"),
        ]
        for line in lines
    ]
    return markdown_table(header, rows, numbers=True)


def _compared(line, measure):
    ours, peer = line[f"ours_{measure}"], line[f"peer_{measure}"]
    return f"{ours:.2f}", f"{peer:.2f}", f"{ours - peer:+.2f} ± {line[f'{measure}_error']:.2f}"


def _chosen(lines):
    header = ("data", "chosen", "lead", "seconds", "C of the peer", "its seconds")
    rows = [
        [
            line["data"],
            line["chosen"],
            f"{100 * line['lead']:.2f}",
            f"{line['seconds']:.1f}",
            f"{line['peer_C']:g}",
            f"{line['peer_seconds']:.1f}",
        ]
        for line in lines
    ]
    return (
        "Lead: points of the mean of image AUC and MAP, on held-out rows, before the best of what was not "
        f"chosen.\n\n{markdown_table(header, rows)}"
    )


def _verdict(lines):
    """How often it is above, and every set on which it is further below than it should."""
    sentences = []
    for title, measure in (("image AUC", "auc"), ("image MAP", "map")):
        lead = {line["data"]: round(line[f"ours_{measure}"] - line[f"peer_{measure}"], 2) for line in lines}
        above = sum(value > 0 for value in lead.values())
        missed = [f"{name} ({value:+.2f})" for name, value in lead.items() if value < -MOST_BELOW]
        below = f"more than {MOST_BELOW:g} points below"
        sentences.append(
            f"In {title} the choice is above the peer on {above} of {len(lead)} sets, and "
            + (f"{below} on {', '.join(missed)}." if missed else f"nowhere {below}.")
        )
    aim = f"The aim was: never more than {MOST_BELOW:g} points below in either, above on most."
    return " ".join([aim, *sentences])
