"""Hide labels on purpose, to measure how a method bears pictures that carry only some of their tags."""

from typing import Any

import numpy as np
from scipy import sparse

from tagrank.data.label_matrix import Matrix, as_label_matrix, positive_pairs
from tagrank.validation import check_between, check_choice

_MARKS = {"absent": 0.0, "unknown": np.nan}


def hide_labels(Y: Any, fraction: float, *, mark: str = "absent", random_state: Any = None) -> Matrix:
    """Hide a fraction of all present labels; each sample that has some keeps at least one.

    One label of every sample is set aside at random; the hidden ones are drawn without replacement from all
    others, so their number is exact: `round(fraction * number of present labels)`.

    Parameters
    ----------
    Y : labels, shape (n_samples, n_labels)
    fraction : share of the present labels to hide, 0 to 1 (the usual protocol: 0.2, 0.4, 0.6)
    mark : {"absent", "unknown"}, what a hidden label looks like: 0, as in pictures whose tags are incomplete
        without anybody knowing which (the usual protocol), or nan
    random_state : None, int or numpy Generator

    Returns
    -------
    hidden : a copy of `Y` of the same kind, dense or sparse
    """
    value = _MARKS[check_choice("mark", mark, tuple(_MARKS))]
    check_between("fraction", fraction, 0, 1)
    Y = as_label_matrix(Y)
    rows, columns = _draw(positive_pairs(Y), float(fraction), np.random.default_rng(random_state))
    if sparse.issparse(Y):
        return _replace_stored(Y, rows, columns, value)
    Y[rows, columns] = value
    return Y


def _draw(
    present: tuple[np.ndarray, np.ndarray], fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = present
    n_hidden = round(fraction * len(rows))
    order = rng.permutation(len(rows))
    # in random order, the first label of each row is the one it keeps
    _, kept = np.unique(rows[order], return_index=True)
    candidates = np.delete(order, kept)
    if n_hidden > len(candidates):
        raise ValueError(
            f"cannot hide {fraction:.0%} of {len(rows)} labels when each sample keeps one: "
            f"at most {len(candidates) / max(1, len(rows)):.1%} can be hidden"
        )
    hidden = candidates[:n_hidden]
    return rows[hidden], columns[hidden]


def _replace_stored(Y: Matrix, rows: np.ndarray, columns: np.ndarray, value: float) -> Matrix:
    n_columns = Y.shape[1]
    stored_rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    keys = stored_rows * n_columns + Y.indices
    Y.data[np.isin(keys, rows * n_columns + columns)] = value
    Y.eliminate_zeros()
    return Y
