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
from tagrank.reproduction.pages.honest_probability import BINS, FROM, N_TAGS, render_page
from tagrank.reproduction.protocols.data import DRAWN, dense, read_parts
from tagrank.reproduction.protocols.timing import best_time
from tagrank.reproduction.text import show

PAGES = ("probability-results.md",)
QUICK = {"only": (DRAWN,), "hidden": (0.4,)}
SEED = 0


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


def render(results, machine):
    return {PAGES[0]: render_page(results, f"{machine['processor']}, {machine['cores']} cores")}


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
