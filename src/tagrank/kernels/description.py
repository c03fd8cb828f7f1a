"""Kernels by name and as plain JSON: rebuilding one runs no code but the listed constructors."""

from tagrank.kernels.histograms import ChiSquared, Hellinger, Intersection
from tagrank.kernels.kernel import Kernel, OnView, Power, Product, Sum, UnitDiagonal, UnitTrace
from tagrank.kernels.precomputed import Precomputed
from tagrank.kernels.vectors import Gaussian, Linear, Polynomial
from tagrank.validation import check_choice, check_positive

KERNELS_BY_NAME = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": Gaussian,
    "chi2": ChiSquared,
    "intersection": Intersection,
    "hellinger": Hellinger,
    "precomputed": Precomputed,
}
_COMPOSITIONS = (Sum, Product, Power, OnView, UnitDiagonal, UnitTrace)
_ALLOWED = {kind.__name__: kind for kind in (*KERNELS_BY_NAME.values(), *_COMPOSITIONS)}
_MAX_DEPTH = 32
_MAX_KERNELS = 4096


def make_kernel(kernel, *, gamma=None) -> Kernel:
    """The Kernel that an estimator's parameters `kernel` and `gamma` mean.

    Parameters
    ----------
    kernel : str, Kernel, or list of them
        One of the names in `KERNELS_BY_NAME`, or a Kernel, which is returned as it is; a list means the sum.
    gamma : float, optional
        1 / width of "rbf" and "chi2", the factor of "poly"; the other kernels have none and ignore it.
    """
    if isinstance(kernel, list | tuple) and kernel:
        parts = tuple(make_kernel(part, gamma=gamma) for part in kernel)
        return Sum(parts, (1.0,) * len(parts))
    if isinstance(kernel, Kernel):
        if gamma is not None:
            raise ValueError(f"gamma={gamma!r} was given beside {kernel!r}: set gamma on the kernel itself")
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(
            f"kernel must be a Kernel, a list of them, or one of {', '.join(KERNELS_BY_NAME)}, got {kernel!r}"
        )
    kind = KERNELS_BY_NAME[check_choice("kernel", kernel, tuple(KERNELS_BY_NAME))]
    if gamma is not None:
        check_positive("gamma", gamma)
    made = kind()
    return made.set_params(gamma=gamma) if "gamma" in made.get_params() else made


def kernel_from_dict(description) -> Kernel:
    """The Kernel that `Kernel.to_dict` described.

    Parameters
    ----------
    description : what `Kernel.to_dict` gave
    """
    kernel = _build(description, 0, iter(range(_MAX_KERNELS)))
    if not isinstance(kernel, Kernel):
        raise ValueError(f"a kernel is described by a dictionary {{'kind', 'params'}}, got {description!r}")
    return kernel


def _build(value, depth, numbers):
    """The kernel, tuple, slice or plain value that `value` describes; each kernel takes one of `numbers`."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"the description of a kernel is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, list):
        return tuple(_build(item, depth + 1, numbers) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"slice"}:
        return _build_slice(value["slice"])
    if set(value) != {"kind", "params"} or not isinstance(value["params"], dict):
        raise ValueError(
            f"a kernel is described by a dictionary {{'kind', 'params'}}, got the keys {sorted(value)}"
        )
    if next(numbers, None) is None:
        raise ValueError(f"a kernel is made of more than {_MAX_KERNELS:,} kernels; divide it among models")
    kind = _ALLOWED[check_choice("kind", value["kind"], tuple(_ALLOWED))]
    params = {key: _build(item, depth + 1, numbers) for key, item in value["params"].items()}
    columns = params.get("view")
    if isinstance(columns, tuple) and len(set(columns)) < len(columns):
        raise ValueError("the description of a kernel lists the same column twice; weigh it instead")
    try:
        return kind(**params)
    except TypeError as error:
        raise ValueError(f"the description of {kind.__name__} does not fit: {error}") from error


def _build_slice(parts):
    whole = isinstance(parts, list) and all(part is None or type(part) is int for part in parts)
    if not whole or len(parts) != 3:
        raise ValueError(f"a slice is described by three whole numbers or nulls, got {parts!r}")
    return slice(*parts)
