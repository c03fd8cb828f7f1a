"""How many dimensions a space of few dimensions has."""

import numbers

import numpy as np

from tagrank.validation import check_count


def check_components(value):
    """Raise unless `value` is a positive whole number or a share below one."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        if not 0 < value < 1:
            raise ValueError(
                f"n_components must be a whole number, or a share between 0 and 1, got {value!r}"
            )
        return
    check_count("n_components", value)


def count_components(value, most):
    """`value` of `most` dimensions if it is a share, else `value` cut to `most`; at least one."""
    wanted = value if isinstance(value, numbers.Integral) else round(value * most)
    return max(1, min(int(wanted), most))


def leading_directions(matrix, n_components):
    """Eigenvectors (n, n_components) of the largest eigenvalues of a symmetric matrix."""
    return np.linalg.eigh((matrix + matrix.T) / 2)[1][:, ::-1][:, :n_components]
