"""Products of one sparse row with a matrix, against numpy, for every width, index type and precision."""

import numpy as np
import pytest
from numba import njit

from tagrank.simd import add_to_rows, aligned_zeros, multiply_row, padded, prefetch

N_ROWS = 7


@njit
def multiply(W, indices, data, start, stop, out):
    prefetch(data, start, stop)
    prefetch(W, 0, W.size)
    multiply_row(W, indices, data, start, stop, out)


@njit
def add(W, indices, data, start, stop, change):
    add_to_rows(W, indices, data, start, stop, change)


TYPES = [
    (np.int32, np.float32, np.float32),
    (np.int32, np.float64, np.float32),
    (np.int64, np.float32, np.float64),
    (np.int64, np.float64, np.float64),
]


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(t.__name__ for t in types))
@pytest.mark.parametrize("n_labels", [1, 15, 16, 17, 63, 64, 65, 80, 103, 130])
def test_products_equal_numpy(n_labels, types):
    index_type, data_type, dtype = types
    rng = np.random.default_rng(n_labels)
    width = padded(n_labels)
    W = aligned_zeros((N_ROWS, width), dtype)
    W[:] = rng.normal(size=W.shape)
    indices = np.array([3, 0, 6, 3, 1], dtype=index_type)  # 3 twice
    data = rng.normal(size=5).astype(data_type)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    for start, stop in ((1, 5), (0, 4), (2, 2)):
        used, values = indices[start:stop], data[start:stop]
        out = np.full(width, np.nan, dtype)
        multiply(W, indices, data, start, stop, out)
        np.testing.assert_allclose(out, values @ W[used].astype(np.float64), rtol=0, atol=tolerance)
        expected, change = W.astype(np.float64), rng.normal(size=width).astype(dtype)
        np.add.at(expected, used, np.outer(values, change))
        add(W, indices, data, start, stop, change)
        np.testing.assert_allclose(W, expected, rtol=0, atol=tolerance)


def test_width_is_whole_vectors():
    assert [padded(n) for n in (1, 15, 16, 17, 64, 65, 103, 130)] == [16, 16, 16, 32, 64, 80, 112, 144]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 16), (2, 5, 32)])
def test_zeros_start_on_cache_lines(shape, dtype):
    zeros = aligned_zeros(shape, dtype)
    assert (zeros.shape, zeros.dtype) == (shape, dtype)
    assert zeros.flags.c_contiguous
    assert zeros.ctypes.data % 64 == 0
    assert not zeros.any()
