"""exp and log beside those of numpy."""

import numpy as np
import pytest
from numba import njit

from tagrank.losses.exponentials import exp, log


@njit
def exponentials(values, out):
    for i in range(len(values)):
        out[i] = exp(values[i])


@njit(error_model="numpy")
def logarithms(values, out):
    for i in range(len(values)):
        out[i] = log(values[i])


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 87), (np.float64, 708)])
def test_exp(dtype, limit):
    values = np.concatenate([np.linspace(-limit, limit, 10_001), np.linspace(-1e-3, 1e-3, 100)]).astype(dtype)
    found = np.empty_like(values)
    exponentials(values, found)
    np.testing.assert_allclose(found, np.exp(values.astype(np.float64)), rtol=4 * np.finfo(dtype).eps)


def test_log():
    values = np.concatenate([np.exp(np.linspace(-700, 700, 10_001)), 1 + np.linspace(-0.5, 1, 10_001)])
    found = np.empty_like(values)
    logarithms(values, found)
    np.testing.assert_allclose(found, np.log(values), rtol=1e-15)
