"""Score charts: shares add up, unknown labels are left out, reliability is what was drawn."""

import numpy as np
import pytest

from tagrank.labels import label_states
from tagrank.reports.charts import BOTTOM, histogram_chart
from tagrank.reports.scores import Answers, reliability, scores_section


def draw(n=300, n_tags=15, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.random((n, n_tags))
    Y = (rng.random((n, n_tags)) < probabilities).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    scores = np.log(probabilities / (1 - probabilities))
    tags = [f"tag {j}" for j in range(n_tags)]
    return Answers(tags, Y, scores, (scores > 0).astype(int), probabilities)


def test_histogram_counts_everything_once():
    edges = np.linspace(0, 10, 6)
    chart = histogram_chart(
        "t", {"a": np.array([-3.0, 1, 1, 3, 99])}, description="", x_label="score", edges=edges
    )
    (line,) = chart.lines
    heights = [BOTTOM - float(point.split(",")[1]) for point in line.points.split()][1:-1:2]
    shares = np.array([3, 1, 0, 0, 1]) / 5
    np.testing.assert_allclose(np.array(heights) / max(heights), shares / max(shares), atol=0.01)
    assert chart.filled
    assert not line.marks


def test_reliability_by_hand():
    """Pairs that are nearly impossible are left out: nearly all are, and every model is right about them."""
    states = np.array([[1, -1, 0], [1, -1, -1], [1, -1, -1]])
    probabilities = np.array([[0.95, 0.05, 0.5], [1.0, 0.0, 0.97], [0.15, 0.11, 0.1]])
    low, high = reliability(states, probabilities)
    assert (low.probability, low.observed, low.n_answers) == (0.13, 0.5, 2)
    assert (high.probability, high.observed, high.n_answers) == (
        pytest.approx(2.92 / 3),
        pytest.approx(2 / 3),
        3,
    )


def test_honest_probabilities_are_reliable():
    answers = draw(n=2000)
    states = label_states(answers.Y)
    bins = reliability(states, answers.probabilities)
    assert len(bins) == 10
    assert sum(found.n_answers for found in bins) == np.count_nonzero(states[answers.probabilities > 0.1])
    for found in bins:
        assert found.observed == pytest.approx(found.probability, abs=0.04)


def test_charts_of_all_and_of_frequent_tags():
    answers = draw()
    section = scores_section(answers)
    assert [chart.x_label for chart in section["large"]] == ["score", "probability", "probability"]
    frequency = dict(zip(answers.tags, np.nansum(answers.Y, axis=0), strict=True))
    shown = [frequency[chart.title] for chart in section["small"]]
    assert shown == sorted(frequency.values(), reverse=True)[:12]
    without = Answers(answers.tags, answers.Y, answers.scores, answers.predictions)
    assert len(scores_section(without)["large"]) == 1


def test_unknown_labels_move_nothing():
    answers = draw()
    wild = np.where(np.isnan(answers.Y), 1e6, answers.scores)
    changed = Answers(answers.tags, answers.Y, wild, answers.predictions, answers.probabilities)
    assert scores_section(changed) == scores_section(answers)


def test_nothing_to_compare():
    answers = draw(n=4, n_tags=2)
    for Y in (np.ones((4, 2)), np.zeros((4, 2)), np.full((4, 2), np.nan)):
        assert scores_section(Answers(answers.tags, Y, answers.scores, answers.predictions)) is None
    constant = Answers(["a"], np.array([[1.0], [0.0]]), np.zeros((2, 1)), np.zeros((2, 1)))
    assert scores_section(constant)["small"][0].title == "a"


def test_reliability_is_told_of_what_is_predicted_and_of_pairs_worth_a_look():
    """A thousand pairs near zero do not hide that predicted tags are wrong half of the time."""
    probabilities = np.concatenate([np.full((500, 2), 0.01), np.full((4, 2), 0.9)])
    Y = np.zeros((504, 2))
    Y[-4:-2] = 1
    answers = Answers(["a", "b"], Y, probabilities, probabilities > 0.5, probabilities)
    chart = scores_section(answers)["large"][-1]
    assert chart.description.startswith(
        "Predicted tags have a mean probability of 90%, and 50% of them are listed. 8 pairs"
    )
    assert "differs from the probability by 40.0 points" in chart.description
    assert list(chart.lines[0].notes) == ["8"]
    nothing = Answers(["a", "b"], Y, probabilities, probabilities > 2, np.full(Y.shape, 0.01))
    assert len(scores_section(nothing)["large"]) == 2
