"""What a training leaves to the next, also if the desk was closed in between.

That is the model that was chosen; the folds, which say which models do not see which picture, and stay when
labels change and pictures come and go; and dual solutions, which are carried from one training to the next,
and from fold to fold. Most coefficients of a ranking are zero, so these are kept as sparse matrices (n,
n_tags). Of a sum of two models there are two.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tagrank.annotation.choosing import ChosenModel
from tagrank.annotation.model_files.contents import Fields
from tagrank.annotation.model_files.storage import ModelFileError, read_model, write_model
from tagrank.data import LabelStratifiedKFold
from tagrank.desk.learning.choosing import MANY_ROWS_METHOD, QUICK_METHODS
from tagrank.desk.learning.examples import Prepared
from tagrank.desk.learning.models import SOLUTIONS, Models
from tagrank.estimators import ScoreSum
from tagrank.estimators.methods import find_method
from tagrank.kernels import kernel_from_dict, make_kernel
from tagrank.labels import labels_from_states

N_FOLDS = 5
OUTSIDE = -1
METHODS = (*QUICK_METHODS, MANY_ROWS_METHOD)

Solution = tuple[sparse.csr_array, ...]


def deal(states: np.ndarray, before: np.ndarray | None = None, *, seed: int = 0) -> np.ndarray:
    """The fold of each picture, int8 (n,); `OUTSIDE` for those about which nothing is known.

    Parameters
    ----------
    states : what is known, int8 (n, n_tags)
    before : the fold that each picture had, `OUTSIDE` for new ones. Those stay; new ones are dealt out
        evenly. Without it each tag keeps its share in every fold
    """
    known = np.flatnonzero(np.any(states != 0, axis=1))
    n_folds = min(N_FOLDS, len(known))
    folds = np.full(len(states), OUTSIDE, dtype=np.int8)
    if before is None or not _is_spread(before[known], n_folds):
        splitter = LabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        parts = splitter.split(np.zeros((len(known), 1)), labels_from_states(states[known]))
        for number, (_, test) in enumerate(parts):
            folds[known[test]] = number
        return folds
    folds[known] = before[known]
    new = known[folds[known] == OUTSIDE]
    counts = np.bincount(folds[known][folds[known] >= 0], minlength=n_folds)
    for row in np.random.default_rng(seed).permutation(new):
        folds[row] = np.argmin(counts)
        counts[folds[row]] += 1
    return folds


def _is_spread(before: np.ndarray, n_folds: int) -> bool:
    """Whether enough pictures keep their folds, and each fold has some."""
    counts = np.bincount(before[before >= 0], minlength=n_folds)
    return len(counts) == n_folds and counts.min() > 0 and 2 * counts.sum() >= len(before)


@dataclass(frozen=True)
class Solutions:
    """What a training leaves to the next.

    Attributes
    ----------
    ids : of the pictures, ascending
    tags : names of the tags
    folds : the fold of each picture, see `deal`
    of_folds : the solution of each fold, zero where it did not see the picture; empty where none is known
    of_all : the solution of the last model; empty where none is known
    """

    ids: np.ndarray
    tags: list[str]
    folds: np.ndarray
    of_folds: Sequence[Solution] = ()
    of_all: Solution = ()

    def carried(self, ids: np.ndarray, tags: Sequence[str]) -> "Solutions":
        """The same for other pictures and tags: what is new starts at zero."""
        if np.array_equal(ids, self.ids) and list(tags) == self.tags:
            return self
        _, here, there = np.intersect1d(self.ids, ids, assume_unique=True, return_indices=True)
        row_of = np.full(len(self.ids), -1)
        row_of[here] = there
        places = {tag: place for place, tag in enumerate(tags)}
        column_of = np.array([places.get(tag, -1) for tag in self.tags], dtype=int)

        def carry(solution: Solution) -> Solution:
            return tuple(_moved(one, row_of, column_of, (len(ids), len(tags))) for one in solution)

        folds = np.full(len(ids), OUTSIDE, dtype=np.int8)
        folds[there] = self.folds[here]
        return Solutions(ids, list(tags), folds, [carry(one) for one in self.of_folds], carry(self.of_all))

    def only_folds(self) -> "Solutions":
        """Without anything to start from, for another model."""
        return Solutions(self.ids, self.tags, self.folds)


def _moved(
    matrix: sparse.csr_array, row_of: np.ndarray, column_of: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    entries = matrix.tocoo()
    rows, columns = row_of[entries.row], column_of[entries.col]
    kept = (rows >= 0) & (columns >= 0)
    return sparse.csr_array((entries.data[kept], (rows[kept], columns[kept])), shape=shape)


def solution_of(model: Any, rows: np.ndarray, n_rows: int) -> Solution:
    """That of a model which was trained on some of `n_rows` rows; empty for a method that has none."""
    solution = getattr(model, "dual_solution_", ())
    parts = solution if isinstance(solution, tuple) else (solution,)
    return tuple(_spread(np.asarray(part), rows, n_rows) for part in parts)


def _spread(values: np.ndarray, rows: np.ndarray, n_rows: int) -> sparse.csr_array:
    part = sparse.csr_array(values.astype(np.float32))
    lengths = np.zeros(n_rows, dtype=part.indptr.dtype)
    lengths[rows] = np.diff(part.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((part.data, part.indices, indptr), shape=(n_rows, values.shape[1]))


def start_from(solution: Solution, rows: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...] | None:
    """What `fit` takes as its start, for a training on some rows; None for an empty solution."""
    if not solution:
        return None
    dense = tuple(part[rows].toarray() for part in solution)
    return dense if len(dense) > 1 else dense[0]


def mean_of_folds(solutions: Sequence[Solution], folds: np.ndarray) -> Solution:
    """The mean over the folds that saw a row: what a model of other rows may start from."""
    if not solutions or not all(solutions):
        return ()
    n_seen = np.sum([folds != number for number in range(len(solutions))], axis=0)
    weights = sparse.diags_array((1 / np.maximum(n_seen, 1)).astype(np.float32))
    return tuple(sparse.csr_array(weights @ sum(parts)) for parts in zip(*solutions, strict=True))


@dataclass(frozen=True)
class Remembered:
    """What one training leaves to the next; rows only in the process that trained."""

    chosen: ChosenModel
    solutions: Solutions
    prepared: Prepared | None = None


def save_remembered(models: Models, number: int, chosen: ChosenModel, solutions: Solutions) -> None:
    """Write what the next training starts from into the folder of a model."""
    arrays: dict[str, np.ndarray] = {"ids": solutions.ids, "folds": solutions.folds}
    for name, solution in _named(solutions).items():
        for place, part in enumerate(solution):
            arrays[f"{name}.{place}.data"] = part.data.astype(np.float32)
            arrays[f"{name}.{place}.indices"] = part.indices.astype(np.int32)
            arrays[f"{name}.{place}.indptr"] = part.indptr.astype(np.int64)
    content = {
        "tags": solutions.tags,
        "n_folds": len(solutions.of_folds),
        "n_parts": len(solutions.of_all),
        "words": chosen.words,
        "note": chosen.note,
        "estimator": describe_estimator(chosen.estimator),
    }
    write_model(models.path(number, SOLUTIONS), content, arrays)


def load_remembered(models: Models, number: int) -> Remembered | None:
    """What was written, or None where it is gone or damaged: then the model is chosen again."""
    with suppress(ModelFileError, OSError, ValueError, LookupError, TypeError):
        content, arrays = read_model(models.path(number, SOLUTIONS))
        tags = content.strings("tags")
        ids, folds = arrays["ids"], arrays["folds"]
        shape = len(ids), len(tags)
        if ids.ndim != 1 or np.any(np.diff(ids) <= 0) or folds.shape != ids.shape:
            raise ValueError("pictures must be ascending numbers")
        if np.any((folds < OUTSIDE) | (folds >= N_FOLDS)):
            raise ValueError("unknown folds")
        n_folds, n_parts = content.take("n_folds", int), content.take("n_parts", int)
        of_folds = [_read(arrays, f"fold_{number}", n_parts, shape) for number in range(n_folds)]
        solutions = Solutions(ids, tags, folds, of_folds, _read(arrays, "all", n_parts, shape))
        estimator = rebuild_estimator(content.fields("estimator"))
        return Remembered(
            ChosenModel(estimator, words=content.take("words", str), note=content.take("note", str)),
            solutions,
        )
    return None


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """An estimator that is to be trained, as plain JSON values."""
    if isinstance(estimator, ScoreSum):
        return {
            "first": describe_estimator(estimator.first),
            "second": describe_estimator(estimator.second),
            "first_weight": float(estimator.first_weight),
            "second_weight": float(estimator.second_weight),
        }
    method = next(name for name in METHODS if type(estimator) is find_method(name).load())
    kernel = make_kernel(estimator.kernel, gamma=estimator.gamma).to_dict()
    described: dict[str, Any] = {"method": method, "kernel": kernel}
    if hasattr(estimator, "C"):
        described |= {"C": float(estimator.C), "fit_intercept": bool(estimator.fit_intercept)}
    return described


def rebuild_estimator(fields: Fields) -> Any:
    """The estimator that `describe_estimator` described; its parameters are checked as those of a user."""
    if "first" in fields:
        weights = {name: fields.take(name, float) for name in ("first_weight", "second_weight")}
        return ScoreSum(
            rebuild_estimator(fields.fields("first")), rebuild_estimator(fields.fields("second")), **weights
        )
    method = fields.take("method", str)
    if method not in METHODS:
        raise ValueError(f"unknown method {method[:40]!r}")
    estimator = find_method(method).load()(kernel=kernel_from_dict(fields.mapping("kernel")))
    if "C" in fields:
        tuned = {"C": fields.take("C", float), "fit_intercept": fields.take("fit_intercept", bool)}
        estimator.set_params(**tuned, random_state=0)
    estimator._check_parameters()
    return estimator


def _named(solutions: Solutions) -> dict[str, Solution]:
    return {f"fold_{number}": one for number, one in enumerate(solutions.of_folds)} | {
        "all": solutions.of_all
    }


def _read(arrays: Mapping[str, np.ndarray], name: str, n_parts: int, shape: tuple[int, int]) -> Solution:
    parts = []
    for place in range(n_parts):
        data, indices, indptr = (arrays[f"{name}.{place}.{what}"] for what in ("data", "indices", "indptr"))
        matrix = sparse.csr_array((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        if not np.all(np.isfinite(data)):
            raise ValueError("solutions must be finite")
        parts.append(matrix)
    return tuple(parts)
