"""Which pictures a report shows, in which order and form."""

import numpy as np
import pytest

from tagrank.annotation.explanation import Contribution, Explanation
from tagrank.reports.pictures import (
    ReportPicture,
    pick_pictures,
    pick_tag_examples,
    pictures_section,
    stack_shares,
    why_section,
)
from tagrank.reports.tags import extreme_tags, tag_lines


def f1(labels, predicted):
    known = ~np.isnan(labels)
    hits = np.sum((labels == 1) & (predicted == 1))
    return 2 * hits / (np.sum(labels == 1) + np.sum((predicted == 1) & known))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 50])
def test_best_typical_and_hardest(n):
    rng = np.random.default_rng(n)
    Y, scores = (rng.random((n, 6)) < 0.5).astype(float), rng.normal(size=(n, 6))
    Y[:, 0] = 1
    Y[rng.random(Y.shape) < 0.1] = np.nan
    P = (scores + np.nan_to_num(Y) > 0.5).astype(int)
    P[:, 1] = 1
    picked = pick_pictures(Y, scores, P, n_each=4)
    rows = [i for group in picked.values() for i in group]
    assert len(set(rows)) == len(rows)
    qualities = [f1(Y[i], P[i]) for i in rows]
    assert qualities == sorted(qualities, reverse=True)
    if n == 50:
        assert [len(group) for group in picked.values()] == [4, 4, 4]
        everything = [f1(*pair) for pair in zip(Y, P, strict=True)]
        assert qualities[0] == max(everything)
        assert qualities[-1] == min(everything)


def test_pictures_without_tags_are_not_picked():
    Y = np.array([[0, 0], [np.nan, np.nan], [1, 0]])
    assert pick_pictures(Y, np.zeros((3, 2)), np.array([[0, 0], [1, 1], [1, 0]])) == {"Best": [2]}
    assert pick_pictures(Y[:2], np.zeros((2, 2)), np.zeros((2, 2))) == {}


def test_examples_of_tags():
    Y = np.array([[1, 0, np.nan], [1, 0, 1], [1, 1, 0], [1, 0, 0]])
    scores = np.array([[3.0, 0, 9], [2, 0, 1], [-1, 1, 0], [-2, 0, 0]])
    P = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert pick_tag_examples(Y, scores, P) == [(0, 3), (2, None), (None, 1)]


def test_groups_shape_and_bound():
    image = np.zeros((30, 40, 3), dtype=np.uint8)
    pictures = [ReportPicture(f"{i}", [], [], image=image, heading="ab"[i // 50]) for i in range(100)]
    section = pictures_section(pictures)
    assert [(group["heading"], len(group["cards"])) for group in section["groups"]] == [("a", 50), ("b", 46)]
    assert section["shape"] == pytest.approx(4 / 3, abs=1e-3)
    assert section["n_left_out"] == 4
    assert pictures_section([]) is None


def test_best_and_worst_tags_do_not_overlap():
    lines = tag_lines(
        {
            "tag": list("abcde"),
            "support": [5, 9, 2, 7, 0],
            **{name: [0.5, 0.0, 1.0, 0.0, np.nan] for name in ("precision", "recall", "f1")},
        }
    )
    (_, best), (_, worst) = extreme_tags(lines)
    assert [line.tag for line in best] == ["c", "a"]
    assert [line.tag for line in worst] == ["b", "d"]
    assert extreme_tags(lines[:1]) == []


def test_shares_fill_the_bar():
    shares = {
        f"feature {i}": value for i, value in enumerate([0.5, -0.25, 0.1, 0.1, 0.05, 0.2, 0.01, 0.02, -0.03])
    }
    pieces = stack_shares(shares)
    assert sum(piece.width for piece in pieces) == pytest.approx(100, abs=0.1)
    assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)
    assert [piece.is_for for piece in pieces] == sorted((piece.is_for for piece in pieces), reverse=True)
    widths = {piece.feature: piece.width for piece in pieces}
    total = sum(map(abs, shares.values()))
    assert widths["feature 0"] == pytest.approx(100 * 0.5 / total, abs=0.01)
    assert widths["2 others"] == pytest.approx(100 * 0.03 / total, abs=0.01)
    assert stack_shares({"all": 0.0})[0].width == 0


def test_training_pictures_are_looked_up_once():
    asked = []

    def find(name):
        asked.append(name)
        return None if name == "lost" else np.zeros((8, 8, 3), dtype=np.uint8)

    parts = (Contribution("here", 0.4, True), Contribution("lost", 0.1, False))
    why = Explanation("sea", 0.7, 0.0, for_=parts, others=0.2, shares={"gist": 0.7})
    given = [("sea", 0.7, None)]
    pictures = [
        ReportPicture("a", ["sea"], given, why=[why]),
        ReportPicture("b", [], given, why=[why, why]),
        ReportPicture("c", ["sea"], [], why=[why]),
        ReportPicture("d", [], [], why=[why]),
    ]
    first, *others = why_section(pictures, find)
    assert asked == ["here", "lost"]
    assert first["tags"][0]["kind"] == "found"
    assert [panel["tags"][0]["kind"] for panel in others] == ["wrong", "missed", "absent"]
    ((word, (here, lost)),) = first["tags"][0]["sides"]
    assert word == "for"
    assert here["url"].startswith("data:image/jpeg")
    assert (lost["url"], lost["contribution"], lost["present"]) == (None, "+0.10", False)
    assert why_section(pictures[:0], find) is None


def test_a_card_counts_what_it_does_not_show():
    predicted = [(f"wrong {i}", 1.0, None) for i in range(30)] + [("sea", 0.5, 0.001), ("sun", 0.4, 0.0)]
    section = pictures_section([ReportPicture("a", ["sea", "moon"], predicted, unknown_tags=["sun"])])
    (card,) = section["groups"][0]["cards"]
    assert [verdict.tag for verdict in card["verdicts"]] == [
        *(f"wrong {i}" for i in range(8)),
        "sea",
        "sun",
        "moon",
    ]
    assert [verdict.strength for verdict in card["verdicts"][-3:]] == ["<1%", "0%", ""]
    assert card["n_too_wrong"] == 22
