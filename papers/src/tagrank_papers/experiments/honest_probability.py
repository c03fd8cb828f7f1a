"""Training tags hidden on purpose: is a probability what it claims, and the estimated completeness true?

Of the training tags 0, 40 and 60 % are hidden (they look absent), and each sample keeps one. `Annotator()`
learns from the rest and is judged by the complete tags of the test part.
"""

import warnings

import numpy as np

from tagrank.annotation import Annotator
from tagrank.data import hide_labels
from tagrank.estimators.base import innermost_fitted
from tagrank.metrics import image_auc, image_average_precision
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, where
from tagrank_papers.measuring import best_time
from tagrank_papers.protocols.data import DRAWN, dense, read_parts
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("honest_probability")
PAGES = ("probability-results.md",)
QUICK = {"only": (DRAWN,), "hidden": (0.4,)}
SEED = 0
FROM, BINS = 0.1, 10  # pairs that are less likely are not counted; bins of the others, from 0 to 1
N_TAGS = 5
AIMS = {"claim": 5, "off": 5, "order": 0.5, "completeness": 10}  # points


def run(*, only=("corel5k_images_260", "yeast", "enron"), hidden=(0.0, 0.4, 0.6)):
    warnings.filterwarnings("ignore", message=".*never present in training")
    lines = []
    for name in only:
        train, test, features = read_parts(name)
        for share in hidden:
            labels = hide_labels(train.Y, share, random_state=SEED)
            fitted = best_time(Annotator(features=features).fit, train.with_labels(labels), repeats=1)
            case = {"data": name, "hidden": share, "n_train": len(train), "n_test": len(test)}
            case["true_completeness"] = float(labels.sum() / train.Y.sum())
            lines.append(case | measure(fitted.answer, test) | {"seconds": fitted.seconds})
            show(lines[-1], *lines[-1])
            yield lines


def measure(annotator, test):
    """What was chosen, what is claimed, and what holds on the test part."""
    truth = dense(test.Y)
    rows = annotator._rows(test)
    log_odds, own = (
        model.decision_function(rows)
        for model in (annotator.estimator_, innermost_fitted(annotator.estimator_))
    )
    probabilities, is_written = annotator.probabilities_of(log_odds), annotator.predict(test) > 0
    completeness, quality = annotator.estimator_.completeness_, annotator.estimator_.quality_
    return {
        "chosen": annotator.choice_.words,
        "claim": float(probabilities[is_written].mean()),
        "right": float(truth[is_written].mean()),
        "found": float(truth[is_written].sum() / truth.sum()),
        "per_sample": float(is_written.sum(axis=1).mean()),
        "held_out_right": quality.right,
        "held_out_found": quality.found,
        "off": distance_from_claims(probabilities, truth),
        **ranking(truth, log_odds, "probability"),
        **ranking(truth, own, "score"),
        "completeness": completeness.share,
        "completeness_low": completeness.low,
        "completeness_high": completeness.high,
    }


def distance_from_claims(probabilities, truth):
    """How far from the claim the share that is right lies, the mean over bins of likely pairs."""
    is_likely = probabilities > FROM
    claims, right = probabilities[is_likely], truth[is_likely]
    bins = np.minimum((claims * BINS).astype(int), BINS - 1)
    return float(np.mean([abs((claims - right)[bins == place].mean()) for place in np.unique(bins)]))


def ranking(truth, scores, who):
    best = np.argsort(-scores, axis=1, kind="stable")[:, :N_TAGS]
    return {
        f"first_{who}": float(np.take_along_axis(truth, best, axis=1).mean()),
        f"map_{who}": float(image_average_precision(truth, scores)),
        f"auc_{who}": float(image_auc(truth, scores)),
    }


# Its answers to tables


def answer(table, results):
    keys = ("claim", "right", "completeness", "true_completeness")
    rows = {
        f"{line['data']}, {line['hidden']:.0%} hidden": tuple(f"{line[key]:.2f}" for key in keys)
        for line in results
    }
    off = max(abs(line["claim"] - line["right"]) for line in results)
    return Answer(
        Figures(("claimed right", "right", "claimed complete", "complete"), rows),
        f"The claim is at most {100 * off:.0f} points from what holds.",
    )


# Its page


def render(results, machine):
    """The page: a section for each set, with what was aimed at and missed."""
    parts = [
        TEXT.intro.format(bins=BINS, least=FROM, n_tags=N_TAGS, **AIMS).strip(),
        f"Measured on {machine['processor']}, {machine['cores']} cores, other programs running.",
    ]
    for name in distinct(results, "data"):
        mine = where(results, data=name)
        parts.append(f"## {name}")
        parts.append(f"{mine[0]['n_train']:,} samples to learn from, {mine[0]['n_test']:,} to judge by.")
        parts += [_claims(mine), _order(mine), _completeness(mine), _verdict(mine)]
    return {PAGES[0]: "\n\n".join(parts) + "\n"}


def _claims(lines):
    header = ("hidden", "written", "claim", "right", "held out: right", "off", "found", "held out: found")
    rows = [
        [
            f"{line['hidden']:.0%}",
            f"{line['per_sample']:.1f}",
            *_percent(line, "claim", "right", "held_out_right", "off", "found", "held_out_found"),
        ]
        for line in lines
    ]
    return markdown_table(header, rows, numbers=True)


def _order(lines):
    header = ["hidden", f"P@{N_TAGS}", "by score", "MAP", "by score", "AUC", "by score"]
    keys = [f"{measure}_{who}" for measure in ("first", "map", "auc") for who in ("probability", "score")]
    rows = [[f"{line['hidden']:.0%}", *_percent(line, *keys)] for line in lines]
    return markdown_table(header, rows, numbers=True)


def _completeness(lines):
    rows = [
        [
            f"{line['hidden']:.0%}",
            f"{line['completeness']:.0%} ({line['completeness_low']:.0%} to {line['completeness_high']:.0%})",
            f"{line['true_completeness']:.0%}",
            line["chosen"],
        ]
        for line in lines
    ]
    return markdown_table(("hidden", "complete, estimated", "true", "chosen"), rows)


def _percent(line, *keys):
    return [f"{100 * line[key]:.1f}" for key in keys]


def _verdict(lines):
    """Every figure that misses its aim, and every interval that does not hold the true completeness."""
    missed = []
    for line in lines:
        hidden = f"with {line['hidden']:.0%} hidden"
        for aim, points in misses(line).items():
            if points > AIMS[aim]:
                missed.append(f"{aim} {hidden} ({points:.1f} points)")
        if not line["completeness_low"] <= line["true_completeness"] <= line["completeness_high"]:
            missed.append(f"the interval of the completeness {hidden}")
    return f"Missed: {'; '.join(missed)}." if missed else "All aims are reached."


def misses(line):
    """Points by which each aim differs from what it should be; the order may be better without end."""
    worse = [line[f"{measure}_score"] - line[f"{measure}_probability"] for measure in ("first", "map")]
    values = (
        abs(line["claim"] - line["right"]),
        line["off"],
        max(worse),
        abs(line["completeness"] - line["true_completeness"]),
    )
    return dict(zip(AIMS, (100 * value for value in values), strict=True))
