"""What a stack of kernels is given: matrices, names, weights, and what stands in square brackets."""

import numpy as np

from tagrank.kernels.gram import float_type
from tagrank.kernels.kernel import Kernel
from tagrank.kernels.precomputed import check_gram


def as_list(arrays, name):
    """One array a kernel, from a list of them or from an array whose first axis counts them."""
    if isinstance(arrays, np.ndarray) and arrays.ndim != 3:
        raise ValueError(
            f"{name} must be a list of two-dimensional arrays, one a kernel, or a three-dimensional one, "
            f"got shape {arrays.shape}; a single kernel is [K]"
        )
    arrays = list(arrays)
    if not arrays:
        raise ValueError(f"{name} must hold at least one kernel, got none")
    return arrays


def kernel_titles(names, n_kernels):
    """How messages call the kernels."""
    names = check_names(names, n_kernels) if names is not None else None
    return [f"kernel {j}" if names is None else f"kernel {j} ({names[j]})" for j in range(n_kernels)]


def check_names(names, n_kernels):
    """One different name a kernel, as a tuple."""
    if names is None:
        return tuple(f"kernel {j}" for j in range(n_kernels))
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a list of texts, one a kernel, got {names!r}")
    names = tuple(map(str, names))
    if len(names) != n_kernels:
        raise ValueError(f"names must be as many as kernels, {n_kernels}, got {len(names)}")
    if len(set(names)) < n_kernels:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names must differ, got {twice!r} more than once")
    return names


def check_named_gram(K, title):
    """`check_gram` whose message begins with `title`."""
    try:
        return check_gram(K)
    except ValueError as error:
        raise ValueError(title + str(error).removeprefix("K")) from None


def check_similarities(K, title):
    """`K` as a finite two-dimensional float array."""
    K = np.asarray(K, float_type(K))
    if K.ndim != 2:
        raise ValueError(f"{title} must have two dimensions, got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError(f"{title} must be finite, got nan or inf; check the features it was computed from")
    return K


def check_same_samples(arrays, titles, n_axes):
    """Raise unless the first axes of all arrays have the lengths of those of the first array."""
    for array, title in zip(arrays, titles, strict=True):
        if array.shape[:n_axes] != arrays[0].shape[:n_axes]:
            raise ValueError(
                f"all kernels must have the same samples, but {titles[0]} has shape {arrays[0].shape} and "
                f"{title} has shape {array.shape}"
            )


def check_kernels(kernels):
    """One or more Kernel objects, as a list."""
    kernels = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise TypeError(f"kernels must be a list of one or more Kernel objects, got {kernels!r}")
    return kernels


def check_weights(weights, n_kernels, *, allow_negative=True):
    """Finite float64 weights, one a kernel."""
    weights = np.array(weights, np.float64)
    if weights.shape != (n_kernels,):
        raise ValueError(f"weights must have shape ({n_kernels},), one a kernel, got shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite, got nan or inf")
    if not allow_negative and weights.min() < 0:
        raise ValueError(f"weights must not be negative, got {weights.min():.4g}")
    return weights


def check_factors(factors, n_kernels):
    """Positive finite factors, one a kernel."""
    factors = np.array(factors, np.float64)
    if factors.shape != (n_kernels,):
        raise ValueError(f"factors must have shape ({n_kernels},), one a kernel, got shape {factors.shape}")
    if not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"factors must be positive and finite, got {factors.min()!s} to {factors.max()!s}")
    return factors


def check_coefficients(T, n_samples):
    """`T` as an array of one row a sample."""
    T = np.asarray(T)
    if T.ndim != 2 or len(T) != n_samples:
        raise ValueError(f"T must have shape ({n_samples}, n_labels), one row a sample, got shape {T.shape}")
    return T


def split_key(key):
    """Rows and columns of `stack[key]`: those of np.ix_, rows alone, or one of both beside a slice."""
    parts = [part for part in (key if isinstance(key, tuple) else (key,)) if part is not Ellipsis]
    if len(parts) == 1:
        return parts[0], slice(None)
    crossed = [np.shape(part) for part in parts if not isinstance(part, slice)]
    is_open_mesh = len(crossed) == 2 and all(len(shape) == 2 for shape in crossed)
    if len(parts) != 2 or not (is_open_mesh or len(crossed) < 2):
        raise TypeError("cut a stack with stack[np.ix_(rows, columns)] or stack[rows]")
    return parts[0], parts[1]


def positions(key, n_samples):
    """The samples that a slice, a mask or an array of indices takes, as indices."""
    if not isinstance(key, slice):
        key = np.ravel(key) if np.ndim(key) else None
        if key is None:
            raise TypeError("a stack is cut by slices, masks or arrays of indices, not by a single index")
        key = key if key.size else key.astype(np.intp)
    return np.arange(n_samples)[key]
