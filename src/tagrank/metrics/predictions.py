"""Metrics of the tags that samples are given: 0/1 predictions, or the best of each by its scores.

They are counted over the known labels. A ratio 0/0 (nothing present, nothing predicted) is undefined and
left out of a mean, as scikit-learn does with ``zero_division=nan``; if nothing is left the result is nan.
Precision and recall of each tag, averaged, and the F1 of the two means are the protocol of the annotation
papers.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from tagrank.arrays import row_blocks, rows_within
from tagrank.metrics.metric import Metric, check_predictions, check_scores
from tagrank.metrics.ranks import mean_defined
from tagrank.validation import check_choice, check_count


def f_measure(Y, P, *, average="micro") -> float:
    """F1 = 2 TP / (2 TP + FP + FN) over the known labels; 1 is best.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    P : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), predictions 0 or 1
    average : {"micro", "macro", "example"}, counts of the whole matrix; mean over labels; mean over samples

    Returns
    -------
    float; a label or sample with nothing present and nothing predicted is left out; nan if none is left
    """
    check_choice("average", average, ("micro", "macro", "example"))
    axis = {"micro": None, "macro": 0, "example": 1}[average]
    return mean_defined(f_scores(*check_predictions(Y, P), axis=axis))


def hamming_loss(Y, P) -> float:
    """Share of the known labels that are predicted wrongly; 0 is best, nan if no label is known.

    Parameters as for `f_measure`. Some papers print it times 100.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    P : array-like, shape (n_samples, n_labels), predictions of 1 and 0
    """
    return mean_defined(error_share(*check_predictions(Y, P)))


def error_share(states, predicted):
    """The share of wrong predictions among the known labels, an array of one; nan if none is known."""
    n_known = np.count_nonzero(states)
    n_wrong = np.count_nonzero((states > 0) & ~predicted) + np.count_nonzero((states < 0) & predicted)
    return np.array([n_wrong / n_known if n_known else np.nan])


def f_scores(states, predicted, *, axis):
    """F1 along an axis (None: of the whole matrix); nan where nothing is present and nothing predicted."""
    present = states > 0
    n_hits = np.atleast_1d(np.count_nonzero(present & predicted, axis=axis))
    size = np.count_nonzero(present, axis=axis) + np.count_nonzero(predicted & (states != 0), axis=axis)
    return divide(2 * n_hits, np.atleast_1d(size), empty=np.nan)


def divide(numerator, denominator, *, empty):
    """numerator / denominator, and `empty` where the denominator is 0."""
    answer = np.full(np.shape(denominator), float(empty))
    return np.divide(numerator, denominator, out=answer, where=denominator > 0)


@dataclass(frozen=True)
class AnnotationScores:
    """Means over tags, and the F1 of the two means.

    Attributes
    ----------
    precision, recall : float, means over the tags; nan if no tag is left
    f1 : float, 2 P R / (P + R) of the two means (not the mean of the tags' F1)
    n_plus : int, N+, tags with recall above 0
    n_labels : int, tags in the means
    n_dropped : int, tags left out because they are present in no sample
    """

    precision: float
    recall: float
    f1: float
    n_plus: int
    n_labels: int
    n_dropped: int


@dataclass(frozen=True)
class LabelCounts:
    """Counts of each label over the samples where it is known; float where ties are shared.

    Attributes
    ----------
    n_present, n_predicted, n_hits : arrays, shape (n_labels,)
    n_sure_hits : int array, shape (n_labels,), hits that do not hang on how a tie is broken
    """

    n_present: np.ndarray
    n_predicted: np.ndarray
    n_hits: np.ndarray
    n_sure_hits: np.ndarray

    def precision(self):
        """Per label, 0 where it is never predicted."""
        return divide(self.n_hits, self.n_predicted, empty=0)

    def recall(self):
        """Per label, 0 where it is never present."""
        return divide(self.n_hits, self.n_present, empty=0)


def annotation_scores(Y, F=None, *, predictions=None, n_tags=5, absent_tags="drop") -> AnnotationScores:
    """Annotation precision, recall, F1 of the means, and N+.

    Each sample gets its `n_tags` best labels, or those in `predictions`. Per label, precision is 0 if it is
    never predicted. Unknown labels are neither predicted nor counted. Where a tie crosses the cut, the tied
    labels share the remaining places in equal parts; N+ counts only hits that do not hang on a tie.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame, shape (n_samples, n_labels), of 1, 0 and nan (unknown)
    F : array-like, shape (n_samples, n_labels), scores; not needed with predictions
    predictions : array-like or sparse matrix, shape (n_samples, n_labels), of 0 and 1, instead of the best
        `n_tags`
    n_tags : int, labels given to each sample
    absent_tags : {"drop", "zero"}, a label present in no sample is left out of the means, or counts as 0

    Returns
    -------
    AnnotationScores
    """
    check_choice("absent_tags", absent_tags, ("drop", "zero"))
    if (F is None) == (predictions is None):
        raise ValueError("annotation_scores needs either scores F or predictions, got both or neither")
    if predictions is not None:
        counts = count_labels(*check_predictions(Y, predictions))
    else:
        counts = count_top_labels(*check_scores(Y, F), n_tags=check_count("n_tags", n_tags))
    return summarise(counts, drop_absent=absent_tags == "drop")


def summarise(counts, *, drop_absent=True):
    """AnnotationScores of the counts of each label."""
    n_labels = len(counts.n_present)
    kept = counts.n_present > 0 if drop_absent else np.ones(n_labels, dtype=bool)
    n_kept = np.count_nonzero(kept)
    if not n_kept:
        return AnnotationScores(np.nan, np.nan, np.nan, 0, 0, n_labels)
    precision, recall = counts.precision()[kept].mean(), counts.recall()[kept].mean()
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    n_plus = np.count_nonzero(counts.n_sure_hits[kept])
    return AnnotationScores(float(precision), float(recall), float(f1), n_plus, n_kept, n_labels - n_kept)


def count_labels(states, predicted):
    """LabelCounts of 0/1 predictions."""
    present, n_hits = states > 0, np.count_nonzero((states > 0) & predicted, axis=0)
    n_predicted = np.count_nonzero(predicted & (states != 0), axis=0)
    return LabelCounts(np.count_nonzero(present, axis=0), n_predicted, n_hits, n_hits)


def count_top_labels(states, scores, *, n_tags):
    """LabelCounts when each sample gets its `n_tags` best known labels."""
    n_samples, n_labels = states.shape
    n_predicted, n_hits = np.zeros(n_labels), np.zeros(n_labels)
    n_sure_hits = np.zeros(n_labels, dtype=np.int64)
    for block in row_blocks(n_samples, rows_within(n_labels, megabytes=1)):
        present = states[block] > 0
        shares = top_shares(states[block], scores[block], n_tags)
        n_predicted += shares.sum(axis=0)
        n_hits += shares.sum(axis=0, where=present)
        n_sure_hits += np.count_nonzero((shares == 1) & present, axis=0)
    return LabelCounts(np.count_nonzero(states > 0, axis=0), n_predicted, n_hits, n_sure_hits)


def top_shares(states, scores, n_tags):
    """What part of each label is among the `n_tags` best of its sample: 1, 0, or its share of a tie."""
    known = states != 0
    if n_tags >= states.shape[1]:
        return known.astype(np.float64)
    keys = np.where(known, -scores, np.nan)
    # nan, sorted last, marks a sample with fewer known labels than places: it gets them all
    cut = np.partition(keys, n_tags - 1, axis=1)[:, n_tags - 1 : n_tags]
    above, tied = (keys < cut) | (np.isnan(cut) & known), keys == cut
    places_left = n_tags - np.count_nonzero(above, axis=1, keepdims=True)
    n_tied = np.maximum(1, np.count_nonzero(tied, axis=1, keepdims=True))
    return np.where(tied, places_left / n_tied, above)


_of_predictions = partial(Metric, takes="predictions")
PREDICTION_METRICS = (
    _of_predictions(
        "Micro-F1",
        partial(f_measure, average="micro"),
        over="entries",
        measure=partial(f_scores, axis=None),
        about="The balance of precision and recall over all predictions.",
        formula="2 TP / (2 TP + FP + FN) of the whole matrix",
    ),
    _of_predictions(
        "Macro-F1",
        partial(f_measure, average="macro"),
        over="labels",
        measure=partial(f_scores, axis=0),
        about="The same for each tag, averaged: a rare tag counts as much as a frequent one.",
        formula="per label, mean over labels",
    ),
    _of_predictions(
        "Example-F1",
        partial(f_measure, average="example"),
        over="samples",
        measure=partial(f_scores, axis=1),
        about="The same for each picture, averaged.",
        formula="per sample, mean over samples",
    ),
    _of_predictions(
        "Hamming loss",
        hamming_loss,
        over="entries",
        higher_is_better=False,
        measure=error_share,
        about="The share of wrong predictions among all pairs of picture and tag.",
        formula="share of known labels predicted wrongly (some papers print it times 100)",
    ),
)
# the field of AnnotationScores of each, what it tells, and its definition
ANNOTATION_FIELDS = {
    "Annotation-P": (
        "precision",
        "{n_tags} tags per picture: the precision of a tag, averaged over the tags.",
        "per tag TP / (TP + FP), mean over tags",
    ),
    "Annotation-R": (
        "recall",
        "{n_tags} tags per picture: the recall of a tag, averaged over the tags.",
        "per tag TP / (TP + FN), mean over tags",
    ),
    "Annotation-F1": ("f1", "The balance of the two, 2 P R / (P + R).", "F1 *of the two means*"),
    "N+": (
        "n_plus",
        "{n_tags} tags per picture: the number of tags that are found at least once.",
        "tags with recall > 0",
    ),
}


def annotation_metrics(n_tags):
    """Entries of the annotation scores, each sample with its `n_tags` best labels."""

    def annotate(Y, F, field):
        return float(getattr(annotation_scores(Y, F, n_tags=n_tags), field))

    return [
        Metric(
            name,
            partial(annotate, field=field),
            takes="scores",
            over="labels",
            about=about.format(n_tags=n_tags),
            formula=formula,
        )
        for name, (field, about, formula) in ANNOTATION_FIELDS.items()
    ]
