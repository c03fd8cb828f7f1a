"""Equal to scikit-learn on complete labels, and to plain Python where scikit-learn has nothing."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as oracle

from tagrank.metrics import (
    annotation_scores,
    category_auc,
    category_average_precision,
    coverage,
    f_measure,
    hamming_loss,
    image_auc,
    image_average_precision,
    label_ranking_average_precision,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    recall_at_k,
)


def draw(seed, n_samples=60, n_labels=9, *, decimals=8):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < rng.uniform(0.1, 0.7, n_labels)).astype(int)
    Y = Y[(Y.sum(axis=1) > 0) & (Y.sum(axis=1) < n_labels)]
    return Y, np.round(rng.normal(size=Y.shape) + Y, decimals)


SAME_WITH_TIES = [
    (image_auc, lambda Y, F: oracle.roc_auc_score(Y, F, average="samples")),
    (category_auc, lambda Y, F: oracle.roc_auc_score(Y, F, average="macro")),
    (label_ranking_average_precision, oracle.label_ranking_average_precision_score),
    (ranking_loss, oracle.label_ranking_loss),
    (coverage, oracle.coverage_error),
    (lambda Y, F: ndcg_at_k(Y, F, k=1), lambda Y, F: oracle.ndcg_score(Y, F, k=1)),
    (lambda Y, F: ndcg_at_k(Y, F, k=4), lambda Y, F: oracle.ndcg_score(Y, F, k=4)),
    (lambda Y, F: ndcg_at_k(Y, F, k=99), oracle.ndcg_score),
]


@pytest.mark.parametrize("decimals", [8, 0], ids=["distinct", "tied"])
@pytest.mark.parametrize(("ours", "theirs"), SAME_WITH_TIES)
def test_ranking_metric_equals_scikit_learn(ours, theirs, decimals):
    for seed in range(5):
        Y, F = draw(seed, decimals=decimals)
        assert ours(Y, F) == pytest.approx(theirs(Y, F), rel=1e-12)


def test_coverage_from_zero_is_one_less():
    Y, F = draw(0)
    assert coverage(Y, F, first_place=0) == pytest.approx(oracle.coverage_error(Y, F) - 1, rel=1e-12)
    with pytest.raises(ValueError, match="first_place must be 1"):
        coverage(Y, F, first_place=2)


def test_ranking_loss_is_the_complement_of_auc_only_without_ties():
    Y, F = draw(1)
    assert ranking_loss(Y, F) == pytest.approx(1 - image_auc(Y, F), rel=1e-12)
    assert ranking_loss(Y, np.round(F)) > 1 - image_auc(Y, np.round(F)) + 1e-3


def eleven_points(present, scores):
    """The definition, in exact fractions: cut the list at every distinct score."""
    pairs = list(zip(present, scores, strict=True))
    n_positive = sum(present)
    points = []
    for threshold in set(scores):
        listed = [y for y, score in pairs if score >= threshold]
        points.append((Fraction(sum(listed), n_positive), Fraction(sum(listed), len(listed))))
    best = [max(p for recall, p in points if recall >= Fraction(q, 10)) for q in range(11)]
    return sum(best) / 11


@pytest.mark.parametrize("decimals", [8, 0], ids=["distinct", "tied"])
def test_eleven_point_precision_equals_the_definition(decimals):
    # 30 labels: recalls such as 3/10 = 6/20, where floats are known to err, do occur
    Y, F = draw(3, n_samples=80, n_labels=30, decimals=decimals)
    rows = [eleven_points(y, f) for y, f in zip(Y.tolist(), F.tolist(), strict=True)]
    columns = [eleven_points(y, f) for y, f in zip(Y.T.tolist(), F.T.tolist(), strict=True)]
    assert image_average_precision(Y, F) == pytest.approx(float(sum(rows) / len(rows)), rel=1e-13)
    assert category_average_precision(Y, F) == pytest.approx(float(sum(columns) / len(columns)), rel=1e-13)


def test_eleven_point_precision_reaches_every_exact_recall():
    # ten positives, one after each absent label: recall q/10 is reached exactly at rank 2q
    Y, F = np.tile([[0, 1]], (1, 10)), -np.arange(20.0)[None]
    assert image_average_precision(Y, F) == pytest.approx(0.5, rel=1e-14)
    worsening = np.array([[1, 0, 1, 0, 0, 1, 0, 0, 0, 1, *[1] * 6]])
    order = -np.arange(16.0)
    exact = eleven_points(worsening[0].tolist(), order.tolist())
    assert image_average_precision(worsening, order[None]) == pytest.approx(float(exact), rel=1e-14)


def every_order(scores):
    """All rankings that sort the scores, each order of a tie once."""
    groups = [[j for j, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [j for part in parts for j in part]


LISTS = [
    (precision_at_k, lambda y, order, k: sum(y[j] for j in order[:k]) / k),
    (recall_at_k, lambda y, order, k: sum(y[j] for j in order[:k]) / sum(y)),
    (lambda Y, F, k: one_error(Y, F), lambda y, order, k: 1 - y[order[0]]),
]


@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize(("ours", "definition"), LISTS, ids=["precision", "recall", "one-error"])
def test_lists_are_the_mean_over_all_orders_of_a_tie(ours, definition, k):
    rng = np.random.default_rng(k)
    Y = np.array([rng.permutation([1, 1, 0, 0, 0, 1]) for _ in range(12)])
    F = rng.integers(0, 3, size=Y.shape).astype(float)
    expected = [
        np.mean([definition(y, order, k) for order in every_order(f)])
        for y, f in zip(Y.tolist(), F.tolist(), strict=True)
    ]
    assert ours(Y, F, k=k) == pytest.approx(np.mean(expected), rel=1e-12)


def test_one_error_is_the_complement_of_precision_at_one():
    Y, F = draw(5, decimals=0)
    assert one_error(Y, F) == pytest.approx(1 - precision_at_k(Y, F, k=1), rel=1e-12)


def test_minus_infinity_ranks_last_but_before_the_unknown():
    Y = np.array([[1.0, 0, np.nan, 0]])
    F = np.array([[-np.inf, 2, 9, 1]])
    assert coverage(Y, F) == 3
    assert image_auc(Y, F) == 0
    assert recall_at_k(Y, F, k=3) == 1


@pytest.mark.parametrize("average", ["micro", "macro", "example"])
def test_f_measure_equals_scikit_learn(average):
    Y, F = draw(6)
    P = (F > 0.8).astype(int)
    Y[:, 0] = P[:, 0] = 0
    Y[0] = P[0] = 0
    theirs = {"example": "samples"}.get(average, average)
    expected = oracle.f1_score(Y, P, average=theirs, zero_division=np.nan)
    assert f_measure(Y, P, average=average) == pytest.approx(expected, rel=1e-12)


def test_hamming_loss_equals_scikit_learn():
    Y, F = draw(7)
    assert hamming_loss(Y, F > 0.8) == pytest.approx(oracle.hamming_loss(Y, F > 0.8), rel=1e-12)


def test_annotation_scores_equal_scikit_learn():
    Y, F = draw(8, n_labels=12)
    Y[:, 4] = 0
    top = np.argsort(-F, axis=1)[:, :3]
    P = np.zeros_like(Y)
    np.put_along_axis(P, top, 1, axis=1)
    precision = oracle.precision_score(Y, P, average="macro", zero_division=0)
    recall = oracle.recall_score(Y, P, average="macro", zero_division=0)
    for found in (
        annotation_scores(Y, F, n_tags=3, absent_tags="zero"),
        annotation_scores(Y, predictions=P, absent_tags="zero"),
    ):
        assert found.precision == pytest.approx(precision, rel=1e-12)
        assert found.recall == pytest.approx(recall, rel=1e-12)
        assert found.f1 == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-12)
        assert found.n_plus == np.count_nonzero((Y * P).sum(axis=0))
        assert (found.n_labels, found.n_dropped) == (12, 0)
    dropped = annotation_scores(Y, F, n_tags=3)
    assert dropped.precision == pytest.approx(precision * 12 / 11, rel=1e-12)
    assert (dropped.n_labels, dropped.n_dropped) == (11, 1)
