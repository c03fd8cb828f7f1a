"""The whole table: one sort, the same numbers as the single functions."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from tagrank.annotation.choosing import find_criterion
from tagrank.metrics import (
    Metric,
    catalog_metrics,
    category_auc,
    category_average_precision,
    f_measure,
    image_auc,
    image_average_precision,
    metric_table,
    per_label_table,
    precision_at_k,
    ranking,
    ranks,
    split_by_objects,
)
from tagrank.metrics import table as table_module
from tagrank.metrics.chance import resampled
from tagrank.metrics.ranking import RANKING_METRICS


@pytest.fixture(scope="module")
def labels_and_scores():
    rng = np.random.default_rng(0)
    Y = (rng.random((90, 11)) < 0.15).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[:, 7], Y[3] = 0, np.nan
    return Y, np.round(rng.normal(size=Y.shape) + np.nan_to_num(Y), 1)


def test_every_row_equals_its_function(labels_and_scores):
    Y, F = labels_and_scores
    P = F > 0.5
    table = metric_table(Y, F, P, n_tags=3, ks=(1, 4))
    metrics = catalog_metrics(n_tags=3, ks=(1, 4))
    assert [name for name in table.names() if "(" not in name] == list(metrics)
    for name, metric in metrics.items():
        assert table[name] == metric(Y, F if metric.takes == "scores" else P)
    assert {row.name: row.higher_is_better for row in table if "(" not in row.name} == {
        name: metric.higher_is_better for name, metric in metrics.items()
    }


def test_small_blocks_give_the_same_table(labels_and_scores, monkeypatch):
    Y, F = labels_and_scores
    whole = metric_table(Y, F)
    monkeypatch.setattr(ranks, "rows_within", lambda *args, **kwargs: 4)
    assert metric_table(Y, F).to_dict() == whole.to_dict()


def test_dropped_samples_and_labels_are_counted(labels_and_scores):
    Y, F = labels_and_scores
    rows = {row.name: row for row in metric_table(Y, F, F > 0)}
    usable = np.count_nonzero((Y == 1).any(axis=1) & (Y == 0).any(axis=1))
    assert (rows["Image-AUC"].n_used, rows["Image-AUC"].n_dropped) == (usable, 90 - usable)
    assert 0 < usable < 90
    assert (rows["Category-AUC"].n_used, rows["Category-AUC"].n_dropped) == (10, 1)
    assert (rows["Annotation-P"].n_used, rows["Annotation-P"].n_dropped) == (10, 1)
    assert rows["Hamming loss"].n_dropped == np.isnan(Y).sum()
    assert rows["Image-AUC (single)"].n_used + rows["Image-AUC (multi)"].n_used == usable


def test_split_by_objects(labels_and_scores):
    Y, F = labels_and_scores
    n_positive = (Y == 1).sum(axis=1)
    table = metric_table(Y, F)
    for name, metric in (("Image-AUC", image_auc), ("Image-MAP", image_average_precision)):
        split = split_by_objects(metric, Y, F)
        assert split["overall"] == table[name] == metric(Y, F)
        assert split["single"] == metric(Y[n_positive == 1], F[n_positive == 1])
        assert split["multi"] == metric(Y[n_positive > 1], F[n_positive > 1])
        assert table[f"{name} (single)"] == split["single"]
        assert table[f"{name} (multi)"] == split["multi"]
    predicted = split_by_objects(f_measure, pd.DataFrame(Y), pd.DataFrame(F > 0))
    assert predicted["multi"] == f_measure(Y[n_positive > 1], F[n_positive > 1] > 0)
    with pytest.raises(ValueError, match="shape of Y"):
        split_by_objects(image_auc, Y, F[:5])


def test_table_is_json_and_text(labels_and_scores):
    Y, F = labels_and_scores
    table = metric_table(Y, F)
    stored = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert stored["rows"][0]["name"] == "Image-AUC"
    assert stored["rows"][0]["value"] == table["Image-AUC"]
    assert (stored["n_samples"], stored["n_labels"], stored["n_tags"]) == (90, 11, 5)
    assert stored["n_unknown"] == np.isnan(Y).sum()
    assert len(str(table).splitlines()) == len(table)
    assert "Micro-F1" not in table.names()
    with pytest.raises(KeyError, match="no metric 'P@2' in this table; it has Image-AUC"):
        table["P@2"]


def test_undefined_values_become_null():
    table = metric_table(np.full((3, 2), np.nan), np.zeros((3, 2)), np.zeros((3, 2)))
    assert math.isnan(table["Image-AUC"])
    assert table.to_dict()["rows"][0]["value"] is None
    assert "undefined" in str(table)


def test_per_label_table(labels_and_scores):
    Y, F = labels_and_scores
    P = F > 0.5
    tags = [f"tag{j}" for j in range(11)]
    table = per_label_table(Y, F, P, tags=tags)
    assert list(table["tag"]) == tags
    assert {len(column) for column in table.values()} == {11}
    known = ~np.isnan(Y)
    for j in (0, 5):
        y, p = Y[known[:, j], j] == 1, P[known[:, j], j]
        hits = np.count_nonzero(y & p)
        assert table["support"][j] == y.sum()
        assert table["known"][j] == len(y)
        assert table["precision"][j] == pytest.approx(hits / p.sum())
        assert table["recall"][j] == pytest.approx(hits / y.sum())
        assert table["f1"][j] == pytest.approx(f_measure(Y[:, [j]], P[:, [j]]))
    assert np.isnan([table[name][7] for name in ("recall", "f1", "auc", "ap")]).all()
    assert np.nanmean(table["auc"]) == pytest.approx(category_auc(Y, F))
    assert np.nanmean(table["ap"]) == pytest.approx(category_average_precision(Y, F))


def test_per_label_table_takes_names_from_a_frame(labels_and_scores):
    Y, F = labels_and_scores
    frame = pd.DataFrame(Y, columns=list("abcdefghijk"))
    assert list(per_label_table(frame, F)["tag"]) == list("abcdefghijk")
    assert list(per_label_table(Y, F)["tag"]) == list(range(11))
    with pytest.raises(ValueError, match="tags must name the 11 labels, got 1 names"):
        per_label_table(Y, F, tags=["sky"])


def test_clear_errors(labels_and_scores):
    Y, F = labels_and_scores
    with pytest.raises(ValueError, match="each of ks must be a positive integer, got 0"):
        metric_table(Y, F, ks=(0,))
    with pytest.raises(ValueError, match=r"k must be a positive integer, got 2\.5"):
        precision_at_k(Y, F, k=2.5)
    with pytest.raises(ValueError, match="average must be one of"):
        f_measure(Y, F > 0, average="samples")
    with pytest.raises(ValueError, match="real numbers, got dtype complex128"):
        metric_table(Y, F + 0j)
    with pytest.raises(ValueError, match="not real numbers"):
        metric_table(Y, np.full(F.shape, "high", dtype=object))
    with pytest.raises(ValueError, match=r"columns of Y and F differ .* use F\[Y\.columns\]"):
        metric_table(pd.DataFrame(Y), pd.DataFrame(F)[list(range(10, -1, -1))])
    with pytest.raises(ValueError, match="Y contains -1"):
        metric_table(np.where(Y == 1, 1, -1), F)


def test_every_metric_is_explained():
    rng = np.random.default_rng(0)
    Y, F = (rng.random((30, 6)) < 0.3).astype(float), rng.random((30, 6))
    table = metric_table(Y, F, F > 0.5, n_tags=4, ks=(1, 7))
    abouts = [row.about for row in table]
    assert all(about.endswith(".") and "{" not in about and len(about) < 90 for about in abouts)
    by_name = {row.name: row.about for row in table}
    assert "7 best tags" in by_name["P@7"]
    assert by_name["N+"].startswith("4 tags")


def test_a_metric_is_one_entry(monkeypatch):
    """A formula and its entry: the table, the criteria and the page of metrics find it there."""

    def first_place(ranks):
        return ranks.above[ranks.starts] + 1

    def mean_first_place(Y, F):
        return ranking.mean_over_samples(first_place, Y, F)

    toy = Metric(
        "First place", mean_first_place, "scores", "samples", higher_is_better=False, measure=first_place
    )
    monkeypatch.setattr(table_module, "RANKING_METRICS", (*RANKING_METRICS, toy))
    Y, F = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[3, 2, 1], [3, 2, 1]])
    assert metric_table(Y, F)["First place"] == toy(Y, F) == 1.5
    assert find_criterion("first place") is toy
    assert not np.isnan(resampled(Y, F, None, [toy])["First place"]).any()
