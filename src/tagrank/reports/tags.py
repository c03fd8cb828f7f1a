"""The tags of a report: numbers of each, the best and the worst; pairs that are confused or come together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from tagrank.data.picture_files import thumbnail_url
from tagrank.metrics.metric import check_predictions
from tagrank.reports.pictures import ReportPicture

MOST_PLOTTED_TAGS = 42
PLOT_COLUMNS, SHORTEST_COLUMN = 3, 5
MOST_TABLED_TAGS = 2000
MOST_EXTREMES = 6
COLUMNS = ("tag", "support", "precision", "recall", "f1")
THUMBNAIL = {"longest": 144, "quality": 80}


class TagExamples(NamedTuple):
    """A picture in which a tag was found and one in which it was missed; their names and images are shown."""

    found: ReportPicture | None = None
    missed: ReportPicture | None = None


class TagLine(NamedTuple):
    """Precision, recall, F1 and average precision of one tag; None where undefined."""

    tag: str
    support: int
    precision: float | None
    recall: float | None
    f1: float | None
    ap: float | None

    @property
    def measures(self) -> list[tuple[str, float | None]]:
        return [("precision", self.precision), ("recall", self.recall), ("AP", self.ap)]


def tags_section(
    per_tag: Mapping[str, Sequence[Any] | np.ndarray] | None, tag_examples: Mapping[str, TagExamples] | None
) -> dict[str, Any] | None:
    """The best and the worst tags as cards, the frequent ones as bars, all in numbers."""
    if per_tag is None:
        return None
    lines = tag_lines(per_tag)
    if not lines:
        return None
    examples = tag_examples or {}
    frequent = set(sorted(lines, key=lambda line: -line.support)[:MOST_TABLED_TAGS])
    return {
        "lines": [line for line in lines if line in frequent],
        "n_tags": len(lines),
        "plotted": plotted_tags(lines),
        "has_ap": any(line.ap is not None for line in lines),
        "extremes": [
            (heading, [_card(line, examples.get(line.tag, TagExamples())) for line in chosen])
            for heading, chosen in extreme_tags(lines)
        ],
    }


def tag_lines(per_tag: Mapping[str, Sequence[Any] | np.ndarray]) -> list[TagLine]:
    """All tags, the best F1 first, undefined ones last."""
    missing = [name for name in COLUMNS if name not in per_tag]
    if missing:
        raise ValueError(f"per_tag must have the columns {', '.join(COLUMNS)}; missing: {', '.join(missing)}")
    columns = [per_tag[name] for name in COLUMNS]
    columns.append(per_tag.get("ap", np.full(len(columns[0]), np.nan)))
    lines = [
        TagLine(str(tag), int(support), *map(_defined, values))
        for tag, support, *values in zip(*columns, strict=True)
    ]
    return sorted(lines, key=lambda line: (line.f1 is None, -(line.f1 or 0.0), line.tag))


def plotted_tags(lines: list[TagLine]) -> list[list[TagLine]]:
    """The most frequent tags, still the best first, in up to three columns of about equal length."""
    frequent = set(sorted(lines, key=lambda line: -line.support)[:MOST_PLOTTED_TAGS])
    chosen = [line for line in lines if line in frequent and line.f1 is not None]
    length = max(math.ceil(len(chosen) / PLOT_COLUMNS), SHORTEST_COLUMN)
    return [chosen[start : start + length] for start in range(0, len(chosen), length)]


def extreme_tags(lines: list[TagLine]) -> list[tuple[str, list[TagLine]]]:
    """The best and the worst tags; of equally bad ones the most frequent, which matter most."""
    defined = [line for line in lines if line.f1 is not None]
    n_shown = min(MOST_EXTREMES, len(defined) // 2)
    if not n_shown:
        return []
    best = sorted(defined, key=lambda line: (-(line.f1 or 0.0), -line.support))[:n_shown]
    worst = sorted(defined, key=lambda line: (line.f1 or 0.0, -line.support))[:n_shown]
    return [("Best", best), ("Worst", worst)]


def _card(line: TagLine, examples: TagExamples) -> dict[str, Any]:
    shown = [
        {"kind": kind, "name": picture.name, "url": thumbnail_url(picture.image, **THUMBNAIL)}
        for kind, picture in zip(("found", "missed"), examples, strict=True)
        if picture is not None and picture.image is not None
    ]
    return {"line": line, "examples": shown}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


MOST_MAPPED_TAGS = 25
MOST_PAIRS = 12


class Confusion(NamedTuple):
    """One tag missed while another was given wrongly.

    Attributes
    ----------
    missed : the true tag that was not predicted
    given : the absent tag that was predicted
    n_both : pictures in which both happened
    n_missed : pictures in which `missed` was missed
    n_wrong : pictures in which `given` was wrong
    """

    missed: str
    given: str
    n_both: int
    n_missed: int
    n_wrong: int


class Imbalance(NamedTuple):
    """Two tags that are predicted together more or less often than they are true together."""

    first: str
    second: str
    n_true: int
    n_predicted: int


@dataclass(frozen=True)
class CoOccurrence:
    """How often tags come together; rows and columns are ordered so that companions are neighbours.

    Attributes
    ----------
    tags : names of rows and columns
    true, predicted : shape (n, n), the share of the pictures with the tag of the row that have the tag of the
        column too, where both are known; nan if there is no picture with the tag of the row
    imbalances : the pairs whose predicted and true counts differ most, the largest difference first
    """

    tags: list[str]
    true: np.ndarray
    predicted: np.ndarray
    imbalances: list[Imbalance]


def confusions(
    Y: Any, predictions: Any, tags: Sequence[str], *, n_pairs: int | None = None
) -> list[Confusion]:
    """Pairs (true tag missed, absent tag given) in the same picture, the most frequent first.

    Unknown labels are neither missed nor wrong. At most `n_pairs` are told; all by default.
    """
    states, predicted = check_predictions(Y, predictions)
    missed = sparse.csr_array(((states > 0) & ~predicted).astype(np.int64))
    wrong = sparse.csr_array(((states < 0) & predicted).astype(np.int64))
    pairs = (missed.T @ wrong).tocoo()
    n_missed, n_wrong = missed.sum(axis=0), wrong.sum(axis=0)
    order = np.lexsort((pairs.col, pairs.row, -pairs.data))[:n_pairs]
    return [
        Confusion(tags[i], tags[j], int(count), int(n_missed[i]), int(n_wrong[j]))
        for i, j, count in zip(pairs.row[order], pairs.col[order], pairs.data[order], strict=True)
    ]


def co_occurrence(
    Y: Any,
    predictions: Any,
    tags: Sequence[str],
    *,
    n_tags: int = MOST_MAPPED_TAGS,
    n_pairs: int = MOST_PAIRS,
) -> CoOccurrence:
    """How often the `n_tags` most frequent tags come together, in truth and as predicted; see `confusions`.

    At most `n_pairs` pairs with different counts are named.
    """
    states, predicted = check_predictions(Y, predictions)
    n_present = np.count_nonzero(states > 0, axis=0)
    chosen = np.argsort(-n_present, kind="stable")[:n_tags]
    chosen = chosen[n_present[chosen] > 0]
    known = (states[:, chosen] != 0).astype(np.float64)
    truth = (states[:, chosen] > 0).astype(np.float64)
    answer = predicted[:, chosen] * known
    order = _neighbours(truth.T @ truth)
    names = [tags[chosen[j]] for j in order]
    true_counts, predicted_counts = ((M.T @ M)[np.ix_(order, order)] for M in (truth, answer))
    return CoOccurrence(
        names,
        true=_shares(truth, known)[np.ix_(order, order)],
        predicted=_shares(answer, known)[np.ix_(order, order)],
        imbalances=_imbalances(names, true_counts, predicted_counts, n_pairs),
    )


def _shares(present: np.ndarray, known: np.ndarray) -> np.ndarray:
    together, at_all = present.T @ present, present.T @ known
    return np.divide(together, at_all, out=np.full(together.shape, np.nan), where=at_all > 0)


def _neighbours(counts: np.ndarray) -> np.ndarray:
    """An order that puts tags with similar company next to each other."""
    if len(counts) < 3:
        return np.arange(len(counts))
    frequency = np.sqrt(np.diag(counts))
    distance = 1 - counts / np.outer(frequency, frequency)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(np.maximum(distance, 0), checks=False), "average", optimal_ordering=True)
    return leaves_list(tree)


def _imbalances(
    names: list[str], true_counts: np.ndarray, predicted_counts: np.ndarray, n_pairs: int
) -> list[Imbalance]:
    first, second = np.triu_indices(len(names), k=1)
    difference = predicted_counts[first, second] - true_counts[first, second]
    order = [k for k in np.argsort(-np.abs(difference), kind="stable")[:n_pairs] if difference[k]]
    return [
        Imbalance(
            names[first[k]],
            names[second[k]],
            int(true_counts[first[k], second[k]]),
            int(predicted_counts[first[k], second[k]]),
        )
        for k in order
    ]
