"""The Gram matrix may belong to another array library, on a device that numpy cannot read."""

import sys
import types

import numpy as np
import pytest

from tagrank.arrays import namespace_of, to_host


class Tensor:
    """As strict as torch: no silent way to numpy, no mixing of devices, libraries or precisions."""

    __module__ = "torch"
    __array_ufunc__ = None

    def __init__(self, values, device):
        self._values = values
        self.device = device

    shape = property(lambda self: self._values.shape)
    dtype = property(lambda self: self._values.dtype)

    def __array__(self, *_, **__):
        raise TypeError("can't convert a device tensor to numpy; use .cpu() first")

    def _same(self, other):
        assert isinstance(other, Tensor), f"expected a tensor, got {type(other)}"
        assert other.device == self.device
        assert other.dtype == self.dtype, f"expected the same dtype, got {self.dtype} and {other.dtype}"
        return other._values

    def _index(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        return tuple(part._values if isinstance(part, Tensor) else part for part in parts)

    def __getitem__(self, key):
        return Tensor(self._values[self._index(key)], self.device)

    def __setitem__(self, key, value):
        self._values[self._index(key)] = self._same(value)

    def __matmul__(self, other):
        return Tensor(self._values @ self._same(other), self.device)

    def __iadd__(self, other):
        self._values += self._same(other)
        return self

    def to(self, dtype):
        return Tensor(self._values.astype(dtype), self.device)

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self._values, "cpu")

    def numpy(self):
        assert self.device == "cpu", "can't convert a device tensor to numpy; use .cpu() first"
        return self._values


def _asarray(values, *, dtype=None, device=None):
    if isinstance(values, Tensor):
        return Tensor(values._values.astype(dtype or values.dtype), device or values.device)
    return Tensor(np.array(values, dtype=dtype), device or "cpu")


def _fake_torch():
    library = types.ModuleType("torch")
    library.float32, library.float64 = np.dtype(np.float32), np.dtype(np.float64)
    library.asarray = _asarray
    library.zeros = lambda shape, *, dtype, device: Tensor(np.zeros(shape, dtype), device)
    library.diagonal = lambda array: Tensor(array._values.diagonal(), array.device)
    return library


@pytest.fixture(params=["strict imitation", "torch"])
def to_device(request, monkeypatch):
    """A function that moves a numpy array to the other library."""
    if request.param == "torch":
        torch = pytest.importorskip("torch")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return lambda array: torch.asarray(array, device=device)
    monkeypatch.setitem(sys.modules, "torch", _fake_torch())
    return lambda array: _asarray(array, device="accelerator")


def test_library_of_an_array(to_device):
    values = np.arange(6.0).reshape(2, 3)
    array = to_device(values)
    assert namespace_of(array) is sys.modules["torch"]
    assert namespace_of(values) is np
    np.testing.assert_array_equal(to_host(array), values)
    assert to_host(values) is values


@pytest.mark.parametrize("intercept", [0, 0.5])
@pytest.mark.parametrize("tol", [1e-3, 1e-6], ids=["float32 scores", "float64 scores"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_same_answer_as_numpy(Loss, dtype, tol, intercept, to_device, make_problem, held, certificate):
    X, bounds = make_problem(n_samples=200)
    K = (X @ X.T).astype(dtype)
    options = {"tol": tol, "intercept": intercept}
    ours = held(to_device(K), "gram").solve(Loss, bounds, **options)
    theirs = held(K, "gram").solve(Loss, bounds, **options)
    assert ours.converged
    assert ours.primal == pytest.approx(theirs.primal, rel=2 * tol)
    certificate(Loss, K.astype(np.float64) + intercept, bounds, ours, rtol=1e-9 if tol < 1e-5 else 1e-7)
