"""What every metric of the catalogue must satisfy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tagrank.metrics import Metric, catalog_metrics

METRICS = list(catalog_metrics(ks=(1, 3), n_tags=2).values())
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
every_score_metric = pytest.mark.parametrize(
    "metric", [metric for metric in METRICS if metric.takes == "scores"], ids=lambda metric: metric.name
)


def draw(seed, n_samples=23, n_labels=7, *, unknown=0.2):
    """Labels of which every sample and every label has both kinds, and scores with some ties."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < unknown] = np.nan
    Y[np.arange(n_samples), np.arange(n_samples) % n_labels] = 1
    Y[np.arange(n_samples), (np.arange(n_samples) + 1) % n_labels] = 0
    return Y, np.round(rng.normal(size=Y.shape) + np.nan_to_num(Y), 1)


def values_for(metric, F):
    """The scores, or predictions made from them."""
    return F if metric.takes == "scores" else (F > 0.5).astype(float)


def better_or_equal(metric, left, right):
    return left >= right - 1e-12 if metric.higher_is_better else left <= right + 1e-12


@every_metric
def test_perfect_is_best_and_reversed_is_worst(metric):
    for seed in range(5):
        Y, F = draw(seed)
        perfect = (Y == 1) + 0.01 * np.argsort(F, axis=1)
        reversed_ = -perfect
        if metric.takes == "predictions":
            perfect, reversed_ = perfect >= 1, perfect < 1
        best, middle, worst = (metric(Y, values) for values in (perfect, values_for(metric, F), reversed_))
        assert better_or_equal(metric, best, middle)
        assert better_or_equal(metric, middle, worst)
        assert best != worst


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (["Image-AUC", "Image-MAP", "Category-AUC", "Category-MAP", "LRAP", "P@1", "NDCG@1", "NDCG@3"], 1),
        (["Micro-F1", "Macro-F1", "Example-F1"], 1),
        (["Ranking loss", "One-error", "Hamming loss"], 0),
    ],
)
def test_perfect_value(names, best):
    Y, _ = draw(11)
    for metric in (metric for metric in METRICS if metric.name in names):
        assert metric(Y, (Y == 1).astype(float)) == pytest.approx(best, abs=1e-14)


@every_metric
def test_values_under_an_unknown_label_do_not_matter(metric):
    Y, F = draw(1)
    values = values_for(metric, F)
    changed = np.where(np.isnan(Y), 1 - values, values)
    assert np.isnan(Y).any()
    assert metric(Y, changed) == metric(Y, values)


@every_metric
def test_unknown_label_counts_as_if_removed(metric):
    Y, F = draw(2, unknown=0)
    values = values_for(metric, F)
    masked = Y.copy()
    masked[:, 3] = np.nan
    masked[5] = np.nan
    kept = np.delete(np.delete(Y, 3, axis=1), 5, axis=0)
    expected = metric(kept, np.delete(np.delete(values, 3, axis=1), 5, axis=0))
    assert metric(masked, values) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "metric",
    [metric for metric in METRICS if metric.measure and metric.over != "entries"],
    ids=lambda metric: metric.name,
)
def test_scattered_unknown_labels_count_as_if_removed(metric):
    Y, F = draw(12, unknown=0.3)
    values = values_for(metric, F)
    expected = metric(Y, values)
    if metric.over == "labels":
        Y, values = Y.T, values.T
    alone = []
    for y, f in zip(Y, values, strict=True):
        known = ~np.isnan(y)
        row = y[known][None], f[known][None]
        alone.append(metric(row[0].T, row[1].T) if metric.over == "labels" else metric(*row))
    assert expected == pytest.approx(np.nanmean(alone), rel=1e-12)


@every_metric
def test_order_of_labels_and_samples_does_not_matter(metric):
    Y, F = draw(3)
    values = values_for(metric, F)
    rng = np.random.default_rng(0)
    expected = metric(Y, values)
    for _ in range(5):
        rows, columns = rng.permutation(len(Y)), rng.permutation(Y.shape[1])
        found = metric(Y[rows][:, columns], values[rows][:, columns])
        assert found == pytest.approx(expected, rel=1e-12)


@every_score_metric
def test_constant_scores_lie_between_best_and_worst(metric):
    Y, _ = draw(4)
    perfect = np.nan_to_num(Y, nan=0.5)
    tied = metric(Y, np.zeros_like(Y))
    assert better_or_equal(metric, metric(Y, perfect), tied)
    # N+ counts no hit that hangs on a tie, so here it is 0
    assert better_or_equal(metric, tied, metric(Y, -perfect)) or metric.name == "N+"


@every_score_metric
def test_monotone_change_of_scores_changes_nothing(metric):
    Y, F = draw(5)
    assert metric(Y, np.exp(F)) == pytest.approx(metric(Y, F), rel=1e-12)
    assert metric(Y, F.astype(np.float32)) == pytest.approx(metric(Y, F), rel=1e-12)


@every_metric
def test_empty_labels_and_samples_do_not_make_the_mean_nan(metric):
    Y, F = draw(6)
    Y[0], Y[1], Y[2] = np.nan, 0, 1
    Y[:, 0], Y[:, 1] = np.nan, 0
    assert math.isfinite(metric(Y, values_for(metric, F)))


@every_metric
def test_nothing_known_is_nan(metric):
    Y, F = np.full((4, 3), np.nan), np.zeros((4, 3))
    expected_zero = metric.name == "N+"
    found = metric(Y, F)
    assert found == 0 if expected_zero else math.isnan(found)


@every_metric
@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (1, 1), (0, 3)])
def test_one_sample_one_label_none(metric, shape):
    Y = np.resize([1.0, 0.0], shape)
    found = metric(Y, Y)
    assert isinstance(found, float)
    informative = {"samples": shape == (1, 6), "labels": shape == (6, 1), "entries": Y.size > 0}[metric.over]
    if informative:
        assert math.isfinite(found)


@every_metric
def test_containers_agree(metric):
    Y, F = draw(7)
    values = values_for(metric, F)
    expected = metric(Y, values)
    rows, columns = np.nonzero(Y != 0)
    stored = sparse.csr_array((Y[rows, columns], (rows, columns)), shape=Y.shape)
    tags = [f"tag{j}" for j in range(Y.shape[1])]
    assert metric(stored, values) == expected
    assert metric(pd.DataFrame(Y, columns=tags), pd.DataFrame(values, columns=tags)) == expected
    assert metric(Y.tolist(), values.tolist()) == expected
    assert metric(Y, sparse.csr_array(values)) == expected
    assert metric(np.asfortranarray(Y), np.asfortranarray(values)) == expected


@every_metric
def test_inputs_stay_untouched(metric):
    Y, F = draw(8)
    values = values_for(metric, F)
    before = Y.copy(), values.copy()
    for array in (Y, values):
        array.flags.writeable = False
    metric(Y, values)
    np.testing.assert_array_equal(Y, before[0])
    np.testing.assert_array_equal(values, before[1])


@every_metric
def test_wrong_shape_is_an_error(metric):
    Y, F = draw(9)
    with pytest.raises(ValueError, match=r"shape of Y .*\(23, 7\), got \(23, 6\)"):
        metric(Y, values_for(metric, F)[:, 1:])
    with pytest.raises(ValueError, match="two dimensions"):
        metric(Y[0], F[0])


@every_metric
def test_nan_among_the_values_is_an_error(metric):
    Y, F = draw(10)
    values = values_for(metric, F)
    values[2, 3] = np.nan
    message = (
        r"nan in 1 entries \(the first in row 2, column 3\)"
        if metric.takes == "scores"
        else "0 or 1, got nan"
    )
    with pytest.raises(ValueError, match=message):
        metric(Y, values)


def test_catalogue_states_the_properties():
    assert {metric.takes for metric in METRICS} == {"scores", "predictions"}
    lower = {metric.name for metric in METRICS if not metric.higher_is_better}
    assert lower == {"Ranking loss", "Coverage", "One-error", "Hamming loss"}
    assert all(isinstance(metric, Metric) for metric in METRICS)
