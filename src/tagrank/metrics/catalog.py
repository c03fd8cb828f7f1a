"""Every metric by name and property, so that tables and shared tests need no list of their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tagrank.metrics import measures, ranking
from tagrank.metrics.annotation import annotation_scores
from tagrank.metrics.predictions import f_measure, hamming_loss
from tagrank.validation import check_count

# {k} and {n_tags} are filled in
ABOUT = {
    "Image-AUC": "In a picture, how often a right tag stands above a wrong one; 0.5 is guessing.",
    "Image-MAP": "Precision on the way down the tags of a picture, at eleven steps, averaged.",
    "Category-AUC": "Of a tag, how often a picture with it stands above one without; 0.5 is guessing.",
    "Category-MAP": "Precision on the way down the pictures of a tag, at eleven steps, averaged.",
    "LRAP": "Of the tags down to each right one, the share that is right, too.",
    "Ranking loss": "Pairs of a right and a wrong tag of a picture that stand in the wrong order.",
    "Coverage": "How far down the ranking all tags of a picture are found.",
    "One-error": "Pictures whose best tag is wrong.",
    "P@1": "Pictures whose best tag is right.",
    "P@k": "Of the {k} best tags of a picture, the share that is right.",
    "R@1": "How much of the tags of a picture its best one makes up, if it is right.",
    "R@k": "Of the tags of a picture, the share that is among its {k} best.",
    "NDCG@k": "As P@{k}, but a right tag counts the more the higher it stands.",
    "Annotation-P": "{n_tags} tags for every picture: how often a tag is right, mean over the tags.",
    "Annotation-R": "{n_tags} tags for every picture: how often a tag is found, mean over the tags.",
    "Annotation-F1": "The balance of the two, 2 P R / (P + R).",
    "N+": "{n_tags} tags for every picture: tags that are found at all.",
    "Micro-F1": "The balance of right and found, over all that is predicted.",
    "Macro-F1": "The same of each tag, averaged: a rare tag counts as much as a frequent one.",
    "Example-F1": "The same of each picture, averaged.",
    "Hamming loss": "Pairs of picture and tag that are decided wrongly.",
}


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    name : str, as shown in tables
    function : callable of (Y, F) or (Y, P), returns a float
    takes : {"scores", "predictions"}, the second argument of `function`
    over : {"samples", "labels", "entries"}, what the mean runs over
    higher_is_better : bool
    measure : callable of PositiveRanks or None, the value of one row of a ranking metric
    about : str, what it tells, in a line for people
    """

    name: str
    function: Callable
    takes: str
    over: str
    higher_is_better: bool = True
    measure: Callable | None = None
    about: str = ""

    def __call__(self, Y, values):
        return self.function(Y, values)


def catalog_metrics(*, ks=(1, 3, 5), n_tags=5):
    """All metrics, in the order of the table.

    Parameters
    ----------
    ks : sequence of int, lengths of the lists of P@k, R@k and NDCG@k
    n_tags : int, labels given to each sample by the annotation scores

    Returns
    -------
    dict of name -> Metric
    """
    ks = [check_count("each of ks", k) for k in ks]
    n_tags = check_count("n_tags", n_tags)
    metrics = [*_rankings(), *_lists(ks), *_annotations(n_tags), *_predictions()]
    return {metric.name: replace(metric, about=_about(metric.name, n_tags)) for metric in metrics}


def _about(name, n_tags):
    kind, _, k = name.partition("@")
    return ABOUT[name if name in ABOUT else f"{kind}@k"].format(k=k, n_tags=n_tags)


def _rankings():
    samples = partial(Metric, takes="scores", over="samples")
    labels = partial(Metric, takes="scores", over="labels")
    return [
        samples("Image-AUC", ranking.image_auc, measure=measures.auc),
        samples("Image-MAP", ranking.image_average_precision, measure=measures.eleven_point_precision),
        labels("Category-AUC", ranking.category_auc, measure=measures.auc),
        labels("Category-MAP", ranking.category_average_precision, measure=measures.eleven_point_precision),
        samples("LRAP", ranking.label_ranking_average_precision, measure=measures.average_precision),
        samples("Ranking loss", ranking.ranking_loss, higher_is_better=False, measure=measures.pair_loss),
        samples("Coverage", ranking.coverage, higher_is_better=False, measure=measures.depth),
        samples("One-error", ranking.one_error, higher_is_better=False, measure=measures.miss_at_top),
    ]


def _lists(ks):
    kinds = [
        ("P", ranking.precision_at_k, measures.precision_at),
        ("R", ranking.recall_at_k, measures.recall_at),
        ("NDCG", ranking.ndcg_at_k, measures.discounted_gain_at),
    ]
    return [
        Metric(f"{name}@{k}", partial(function, k=k), "scores", "samples", measure=partial(measure, k=k))
        for name, function, measure in kinds
        for k in ks
    ]


def _annotations(n_tags):
    fields = {"Annotation-P": "precision", "Annotation-R": "recall", "Annotation-F1": "f1", "N+": "n_plus"}

    def annotate(Y, F, field):
        return float(getattr(annotation_scores(Y, F, n_tags=n_tags), field))

    return [
        Metric(name, partial(annotate, field=field), "scores", "labels") for name, field in fields.items()
    ]


def _predictions():
    averages = [("Micro-F1", "micro", "entries"), ("Macro-F1", "macro", "labels")]
    averages.append(("Example-F1", "example", "samples"))
    return [
        *(
            Metric(name, partial(f_measure, average=average), "predictions", over)
            for name, average, over in averages
        ),
        Metric("Hamming loss", hamming_loss, "predictions", "entries", higher_is_better=False),
    ]
