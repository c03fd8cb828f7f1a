"""Kernel: two sets of rows in, their similarities out.

A kernel is a small value: it holds parameters, never data. What depends on the training rows (the width
of an exponential kernel, the trace) is fixed by `fit`, which returns a *new* kernel, so that every tile of
the Gram matrix and every later prediction use the same one.
"""

import inspect

import numpy as np

from tagrank.arrays import row_blocks
from tagrank.kernels.gram import DIAGONAL_BLOCK, gram, n_rows, sliceable, take_rows


class Kernel:
    """Base of all kernels; a subclass stores its constructor arguments untouched and writes `compute`.

    Kernels add (`k1 + k2`), multiply (`k1 * k2`, `k1**2`), scale (`0.5 * k1`) and look at one view of the
    data (`k1.on("gist")`).
    """

    # numpy scalars leave `np.float64(0.5) * kernel` to the kernel
    __array_ufunc__ = None
    # whether it can be a part of a sum, a product or another kernel
    combines = True

    def compute(self, X, Z):
        """Similarities of all rows of `X` with all rows of `Z`, a new (n_x, n_z) array.

        Called on tiles of the data. `Z is X` on a tile of the diagonal.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compute(X, Z)")

    def diagonal(self, X):
        """k(x, x) of each row of `X`, shape (n_samples,)."""
        parts = [take_rows(X, rows) for rows in row_blocks(n_rows(X), DIAGONAL_BLOCK)]
        return np.concatenate([self.compute(part, part).diagonal() for part in parts])

    def squared_distances(self, X, Z):
        """Of all rows of `X` and `Z` where the kernel is their inner product: k(x, x) + k(z, z) - 2 k(x, z).

        A new (n_x, n_z) array that is never negative.
        """
        D = self.compute(X, Z)
        D *= -2
        D += self.diagonal(X)[:, None]
        D += self.diagonal(Z)
        return np.maximum(D, 0, out=D)

    def fit(self, X):
        """The same kernel with everything that depends on the training rows `X` fixed."""
        return self

    def fit_gram(self, X, *, out=None, dtype=None, n_jobs=None):
        """The fitted kernel and its Gram matrix on `X`, without computing distances twice where possible."""
        kernel = self.fit(X)
        return kernel, gram(kernel, X, out=out, dtype=dtype, n_jobs=n_jobs)

    @property
    def fixed(self):
        """Whether nothing is left for `fit` to decide."""
        return all(kernel.fixed for kernel in self._parts())

    def __call__(self, X, Z=None):
        """The Gram matrix of `X`, or the similarities of `X` (n_x rows) with `Z` (n_z rows).

        A kernel that still needs its width takes it from `X` when `X` comes alone, as `fit_gram` does.
        """
        X = sliceable(X)
        return self.fit_gram(X)[1] if Z is None else gram(self, X, Z)

    @property
    def terms(self):
        """The (weight, kernel) pairs whose sum this kernel is."""
        return ((1.0, self),)

    def on(self, view):
        """This kernel on one view: a key of a mapping, or columns (index, list, slice) of an array."""
        from tagrank.kernels.composition import OnView

        return OnView(self, tuple(view) if isinstance(view, list) else view)

    def unit_diagonal(self):
        """k(x, z) / sqrt(k(x, x) k(z, z)): every row is as similar to itself as 1 (0 where k(x, x) = 0)."""
        from tagrank.kernels.composition import UnitDiagonal

        return UnitDiagonal(self)

    def unit_trace(self):
        """This kernel divided by the trace of its Gram matrix on the training rows."""
        from tagrank.kernels.composition import UnitTrace

        return UnitTrace(self)

    def __add__(self, other):
        from tagrank.kernels.composition import add

        return add(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other):
        from tagrank.kernels.composition import multiply, scale

        if isinstance(other, Kernel):
            return multiply(self, other)
        return scale(self, other) if np.isscalar(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent):
        from tagrank.kernels.composition import Power

        return Power(self, exponent)

    def __eq__(self, other):
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        defaults = inspect.signature(type(self)).parameters
        params = self.get_params(deep=False).items()
        shown = [f"{name}={value!r}" for name, value in params if value != defaults[name].default]
        return f"{type(self).__name__}({', '.join(shown)})"

    def get_params(self, deep=True):
        """Constructor arguments by name, as scikit-learn's `clone` and grid searches read them."""
        names = list(inspect.signature(type(self)).parameters)
        params = {name: getattr(self, name) for name in names}
        if deep:
            for name in names:
                if isinstance(params[name], Kernel):
                    inner = params[name].get_params()
                    params.update({f"{name}__{key}": value for key, value in inner.items()})
        return params

    def set_params(self, **params):
        """Change constructor arguments in place; `kernel__gamma` reaches into a nested kernel."""
        own = self.get_params(deep=False)
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own:
                raise ValueError(f"{type(self).__name__} has the parameters {sorted(own)}, got {name!r}")
            if rest:
                own[head].set_params(**{rest: value})
            else:
                own[head] = value
        self.__init__(**own)
        return self

    def _parts(self):
        """The kernels that this one is made of."""
        return ()

    def to_dict(self):
        """This kernel as plain JSON values; `kernel_from_dict` builds it again."""
        from tagrank.kernels.description import describe

        return describe(self)
