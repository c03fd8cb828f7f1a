"""Four numbers at once against numpy, in both precisions of memory."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from tagrank.simd import LANES, largest_of, load, splat, square_root, store, sum_of, where_greater


@njit
def compute(left, right, start, out):
    a, b = load(left, start), load(right, start)
    store(out, start, (a + b) * a - b / a)
    return sum_of(a), largest_of(b)


@njit
def choose(left, right, out):
    a, b = load(left, 0), load(right, 0)
    store(out, 0, where_greater(a, b, square_root(a), splat(-2.5)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0, 1, 7])
def test_arithmetic_equals_numpy_and_touches_nothing_else(dtype, start):
    left, right = np.random.default_rng(start).uniform(0.5, 2, (2, 3 * LANES)).astype(dtype)
    out = np.zeros(3 * LANES, dtype)
    inside = slice(start, start + LANES)
    total, largest = compute(left, right, start, out)
    a, b = left[inside].astype(float), right[inside].astype(float)
    np.testing.assert_allclose(out[inside], ((a + b) * a - b / a).astype(dtype), rtol=4 * np.finfo(dtype).eps)
    assert np.count_nonzero(out) == LANES
    assert total == pytest.approx(a.sum(), rel=1e-15)
    assert largest == b.max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_choice_is_made_in_each_lane(dtype):
    left, right = np.array([4, 1, 9, 2], dtype), np.array([1, 1, 8, np.inf], dtype)
    out = np.empty(LANES, dtype)
    choose(left, right, out)
    np.testing.assert_array_equal(out, [2, -2.5, 3, -2.5])


def test_nan_is_not_greater():
    left, right, out = np.full(LANES, np.nan), np.zeros(LANES), np.empty(LANES)
    choose(left, right, out)
    np.testing.assert_array_equal(out, np.full(LANES, -2.5))


@njit
def _load_and_store(values, out):
    for row in range(len(values)):
        store(out[row], 0, load(values[row], 0))


def test_arrays_that_are_not_contiguous_are_refused():
    values = np.arange(16.0).reshape(4, 4)
    out = np.empty_like(values)
    _load_and_store(values, out)
    assert (out == values).all()
    for wrong in ((values.T, out), (values, np.empty((4, 4), order="F"))):
        with pytest.raises(TypingError, match="expected a contiguous array"):
            _load_and_store(*wrong)
