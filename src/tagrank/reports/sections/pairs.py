"""Pairs of tags: which one is taken for which, and which ones come together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from tagrank.metrics.metric import check_predictions

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
